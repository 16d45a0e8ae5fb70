"""The documentation page of the rules, written from the rules themselves."""

from __future__ import annotations

from collections.abc import Iterator

from skillevo.library.catalog import ALL_RULES
from skillevo.library.characters import visible
from skillevo.library.rule import Example, Profile, Rule, skill, whole

_MAX_LINES = 14
_INTRODUCTION = """\
# Rules of the skill checker

Every finding names one of these rules. An **error** makes a skill invalid; a **warning** does not.
The kind says who asks for it: `spec` is the skill format itself, `portability` is what other
clients trip over, `recommendation` is good practice.

The profile says whose reading counts: `spec` takes the fields of the format alone, `claude-code`
also takes that client's own fields and a list in `allowed-tools`, `codex` ignores fields it does
not know. Rules marked *fixable* are repaired by `skillevo validate --fix`.

In the examples, a character that cannot be seen stands as an escape such as `\\t` or `\\ufeff`, and
long lines and files are cut with `…`.

Where no good example is given, it is this file, `sort-photos/SKILL.md`:

```text
{sample}
```

This page is generated. After a change of the rules, write it anew:

```console
$ python -c "from skillevo.library.rules_page import page; print(page(), end='')" > docs/rules.md
```
"""


def page() -> str:
    """The whole page as Markdown."""
    shown = "\n".join(_shown(skill("sort-photos").encode()))
    parts = [
        _INTRODUCTION.replace("{sample}", shown),
        "\n".join(_table()) + "\n",
        *map(_section, ALL_RULES),
    ]
    return "\n".join(parts)


def _table() -> Iterator[str]:
    yield "| rule | severity | kind | what is wrong |"
    yield "|---|---|---|---|"
    for rule in ALL_RULES:
        summary = _escaped(rule.summary)
        yield f"| [{rule.id}](#{rule.id}) | {rule.severity} | {rule.kind} | {summary} |"


def _section(rule: Rule) -> str:
    notes = [f"{rule.severity}", f"{rule.kind}"]
    if rule.profiles != frozenset(Profile):
        notes.append("profiles " + ", ".join(sorted(rule.profiles)))
    if rule.fixable:
        notes.append("fixable")
    return "\n".join(
        [
            f"## {rule.id}\n",
            f"*{' · '.join(notes)}*\n",
            f"{_escaped(rule.summary)} {_escaped(rule.fix)}\n",
            "Bad:\n",
            *_example(rule.bad),
            *_good(rule.good),
        ]
    )


def _good(example: Example) -> Iterator[str]:
    if example != whole(skill("sort-photos")):
        yield "Good:\n"
        yield from _example(example)


def _example(example: Example) -> Iterator[str]:
    if example.library_limit is not None:
        yield f"With a limit of {example.library_limit}:\n"
    for path, entry in example.files.items():
        yield f"`{path}`" + (" is a symbolic link.\n" if entry.symlink else "\n")
        if entry.data is not None:
            yield "```text\n" + "\n".join(_shown(entry.data)) + "\n```\n"


def _shown(data: bytes) -> Iterator[str]:
    lines = data.decode("utf-8", "backslashreplace").removesuffix("\n").split("\n")
    for line in lines[:_MAX_LINES]:
        yield visible(line, 90)
    if len(lines) > _MAX_LINES:
        yield f"… ({len(lines)} lines)"


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("|", "\\|")
