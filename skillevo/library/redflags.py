"""Red flags of an edit, found without a model: what a reviewer must look at before accepting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from skillevo.library.characters import INVISIBLE, estimate_tokens, visible
from skillevo.library.similar import nearly_equal, words_of
from skillevo.types import Skill

EDIT_LIMIT_TOKENS = 1200
"""The size of a body above which skillevo's own edits count as too long."""

_URL = re.compile(
    r"\b(?:https?|ftp|wss?|file|data)://?[^\s<>()\"'`\]]{1,300}|\bwww\.[^\s<>()\"'`\]]{1,300}", re.I
)
_SHELL_FENCE = re.compile(
    r"^[ ]{0,3}(```|~~~)[ ]?(?:bash|sh|shell|zsh|fish|console|powershell|pwsh|bat|cmd)\b", re.I
)
_CODE_FENCE = re.compile(r"^[ ]{0,3}(```|~~~)")
_PROMPT_LINE = re.compile(r"^\s*\$ +\S")
_CODE_SPAN = re.compile(r"`([^`\n]{1,300})`")
_COMMAND = re.compile(
    r"\s*(?:sudo|curl|wget|ssh|scp|nc|ncat|eval|exec|chmod|chown|rm|dd|mkfs|kill|pkill|crontab|npx|"
    r"pip3?|npm|yarn|uvx?|apt(?:-get)?|brew|docker|git|bash|sh|zsh|python3?|node|perl|powershell)"
    r"\s+\S",
)
_LOUD_COMMAND = re.compile(
    r"\b(?:(?:curl|wget)\s+(?:-\S+\s+)*\S*[./]\S*|sudo\s+\S+|rm\s+-[a-z]*[rf][a-z]*\s+\S+"
    r"|(?:pip3?|npm)\s+install\s+\S+|\|\s*(?:ba|z)?sh\b)"
)
_SECRET = re.compile(
    r"\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,255}\b|\bgithub_pat_[A-Za-z0-9_]{30,255}"
    r"|\bsk-[A-Za-z0-9_-]{20,200}|\bxox[abprs]-[A-Za-z0-9-]{10,200}|\bAIza[0-9A-Za-z_-]{30,60}"
    r"|\beyJ[A-Za-z0-9_-]{10,500}\.eyJ[A-Za-z0-9_-]{10,500}|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
    r"|\b(?:api[_-]?key|access[_-]?token|auth[_-]?token|secret|passwd|password)[\"']?\s{0,3}[:=]"
    r"\s{0,3}[\"']?[A-Za-z0-9+/_.-]{12,200}",
    re.I,
)
_ADDRESSED = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+)*"
    r"(?:previous|prior|earlier|above|other|safety|system)\s+(?:\w+\s+)?"
    r"(?:instructions?|rules?|prompts?|guidelines?|messages?)"
    r"|\b(?:do\s+not|don't|never)\s+(?:tell|inform|mention|reveal|show|report|alert|notify)\b"
    r"[^.\n]{0,30}\b(?:users?|reviewers?|humans?|operators?|maintainers?)\b"
    r"|\b(?:bypass|disable|circumvent|turn\s+off|evade|skip)\b[^.\n]{0,30}"
    r"\b(?:safety|guardrails?|permissions?|security|sandbox|approvals?|review)\b"
    r"|\bwithout\s+(?:asking|permission|approval|confirmation|review)\b"
    r"|\b(?:dear\s+|note\s+to\s+(?:the\s+)?)(?:reviewers?|maintainers?|approvers?|graders?|judges?)\b"
    r"|\b(?:reviewers?|maintainers?|approvers?|graders?|judges?)\s*[,:]"
    r"|\b(?:approve|merge|accept)\s+this\s+(?:change|edit|skill|pull\s+request|commit)\b"
    r"|\bsafe\s+to\s+merge\b|\bsystem\s+prompt\b|\byou\s+are\s+now\b|\bjailbreak\w*",
    re.I,
)
_TOOL = re.compile(r"[^\s,()]+(?:\([^()]*\))?")


def red_flags(
    new: Skill, old: Sequence[Skill], neighbors: Sequence[Skill], tools: tuple[str, str]
) -> tuple[str, ...]:
    """One line a flag, ``kind: what``, in a fixed order; text from the skill is made printable.

    ``old`` are the skills that ``new`` replaces, ``neighbors`` the rest of its library, ``tools``
    the allowed tools before and after. What the old ones had already is no flag.
    """
    before = "\n".join(skill.text for skill in old)
    flags = [
        f"{kind}: {shown}"
        for kind, find in _DETECTORS.items()
        for shown in _new(find, before, new.text)
    ]
    widened = sorted(set(_TOOL.findall(tools[1])) - set(_TOOL.findall(tools[0])))
    flags += [f"wider-tools: {visible(tool)}" for tool in widened]
    flags += [f"changed-file: {visible(path)}" for path in _changed_files(new, old)]
    flags += _collisions(new, old, neighbors)
    size, was = estimate_tokens(new.body), sum(estimate_tokens(skill.body) for skill in old)
    if size > EDIT_LIMIT_TOKENS and size > was:
        flags.append(f"size: about {size:,} tokens, over {EDIT_LIMIT_TOKENS:,}")
    return tuple(flags)


def _new(find: Callable[[str], Iterator[str]], before: str, after: str) -> list[str]:
    known = set(find(before))
    return [item for item in dict.fromkeys(find(after)) if item not in known]


def _urls(text: str) -> Iterator[str]:
    for match in _URL.finditer(text):
        yield visible(match.group().rstrip(".,;:!?*_"))


def _commands(text: str) -> Iterator[str]:
    fence, shell = "", False
    for line in text.split("\n"):
        mark = _CODE_FENCE.match(line)
        if mark and fence in ("", mark.group(1)):
            shell = not fence and _SHELL_FENCE.match(line) is not None
            fence = "" if fence else mark.group(1)
            continue
        stripped = line.strip()
        in_script = shell and stripped and not stripped.startswith("#")
        if in_script or _PROMPT_LINE.match(line) or _LOUD_COMMAND.search(line[:2000]):
            yield visible(stripped)
        else:
            spans = (span.group(1) for span in _CODE_SPAN.finditer(line))
            yield from (visible(span) for span in spans if _COMMAND.match(span))


def _secrets(text: str) -> Iterator[str]:
    for match in _SECRET.finditer(text):
        secret = match.group()
        yield f"{visible(secret[:8])}… ({len(secret)} characters)"


def _invisible(text: str) -> Iterator[str]:
    for match in INVISIBLE.finditer(text):
        before = text[match.start() - 1 : match.start()]
        joined_emoji = match.group() == "\u200d" and before >= "\u2190"
        if not joined_emoji:
            yield f"U+{ord(match.group()):04X}"


def _addressed(text: str) -> Iterator[str]:
    for match in _ADDRESSED.finditer(text):
        yield visible(match.group())


_DETECTORS: dict[str, Callable[[str], Iterator[str]]] = {
    "new-url": _urls,
    "shell-command": _commands,
    "secret-like": _secrets,
    "invisible-character": _invisible,
    "addresses-reader": _addressed,
}


def _changed_files(new: Skill, old: Sequence[Skill]) -> list[str]:
    known = {resource for skill in old for resource in skill.resources}
    return [resource.path for resource in new.resources if resource not in known]


def _collisions(new: Skill, old: Sequence[Skill], neighbors: Sequence[Skill]) -> list[str]:
    words = words_of(new.description)
    if any(words == words_of(skill.description) for skill in old):
        return []
    return [
        f"description-collision: nearly that of {skill.name}"
        for skill in neighbors
        if nearly_equal(words, words_of(skill.description))
    ]
