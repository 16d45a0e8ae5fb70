"""Text written by a model, made harmless for a commit message."""

from __future__ import annotations

import re
import textwrap

SUBJECT_LIMIT = 72
TRAILER_LIMIT = 200
PARAGRAPH_LIMIT = 2000

_ELLIPSIS = "…"
_RISKY_START = re.compile(r"-{3}|diff -|Index: |From |>|#")
_CLOSING = (
    r"(?:close[sd]?|closing|fix(?:e[sd]|ing)?|resolve[sd]?|resolving"
    r"|implement(?:s|ed|ing)?)"
)
_REFERENCE = r"(?:[\w./-]*[#!]\d|GH-\d|https?://|[A-Za-z][A-Za-z0-9_]*-\d)"

# Each pair acts on one line of single spaces and leaves nothing that it would match again.
_COMMANDS = (
    # Continuous integration: [skip ci], [ci-skip], [no ci], ***NO_CI***.
    (re.compile(r"\[ ?((?:skip|no)[ _-]?[\w-]+|[\w-]+[ _-]?skip) ?\]", re.I), r"(\1)"),
    (re.compile(r"\*+ ?(NO_CI) ?\*+", re.I), r"\1"),
    # Workflow commands of a CI log: ::error::, ##[error].
    (re.compile(r"(?<!\w)::(?=\w)"), ": :"),
    (re.compile(r"##(?=\[)"), "## "),
    # Issue trackers: closing keywords, references, mentions.
    (re.compile(rf"\b({_CLOSING})(?=(?: ?:)? {_REFERENCE}|:{_REFERENCE})", re.I), r'"\1"'),
    (re.compile(r"#(?=\w)"), "# "),
    (re.compile(r"(?<![A-Za-z0-9_])@(?=\w)"), "(at)"),
)
# Signed-off-by, Co-authored-by, anything hyphenated, and the common single words.
_TRAILERS = (
    (re.compile(r"(?<![\w-])([A-Za-z0-9]*-[A-Za-z0-9-]*+) ?:"), r"\1 -"),
    (re.compile(r"(?<![\w-])(Cc|Bcc|Fixes|Closes|Refs|Link|See) ?:", re.I), r"\1 -"),
)


def safe_value(text: str, limit: int) -> str:
    """One printable line of at most ``limit`` characters that no tool takes for a command.

    Control, bidi and other invisible characters are dropped and blanks collapse; markers that skip
    CI, closing keywords, issue references, mentions and workflow commands are rewritten so that a
    person still reads them and a machine does not. An overlong text ends in an ellipsis.
    """
    return _safe(text, limit, _COMMANDS)


def safe_line(text: str, limit: int) -> str:
    """A ``safe_value`` that holds no trailer look-alike either: for text that stands by itself."""
    return _safe(text, limit, _COMMANDS + _TRAILERS)


def safe_paragraph(text: str, limit: int = PARAGRAPH_LIMIT) -> str:
    """One paragraph of at most ``limit`` characters, wrapped, with the safety of ``safe_line``.

    Words are never broken, since a break could start a line with half of something harmless. A
    line that git or a mail reader would take for a divider is indented by four spaces.
    """
    lines = textwrap.wrap(
        safe_line(text, limit),
        SUBJECT_LIMIT,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(f"    {line}" if _RISKY_START.match(line) else line for line in lines)


def _safe(text: str, limit: int, rules: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    # A megabyte is cut before the patterns see it.
    spaced = " ".join(text[: 16 * limit].split())
    line = " ".join("".join(c for c in spaced if c.isprintable()).split())[: 4 * limit]
    for pattern, replacement in rules:
        line = pattern.sub(replacement, line)
    if len(line) > limit:
        line = line[: limit - 1].rstrip() + _ELLIPSIS
    return line
