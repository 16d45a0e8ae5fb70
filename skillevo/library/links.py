"""The links of a Markdown body that point to files."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_LINKS = 1000

_TARGET = re.compile(r"\]\(\s*<?([^()\s<>]+)")
_CODE_SPAN = re.compile(r"`[^`]*`")
_CODE_FENCE = re.compile(r"[ ]{0,3}(```|~~~)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def file_links(text: str, start: int) -> tuple[tuple[int, str], ...]:
    """(offset, relative path) of each distinct file linked to from ``start`` on, in text order.

    Code, URLs, anchors, absolute paths and templates do not count; at most 1,000 are given.
    """
    found: dict[str, int] = {}
    for offset, line in _prose_lines_with_links(text, start):
        masked = _CODE_SPAN.sub(lambda span: " " * len(span.group()), line)
        for match in _TARGET.finditer(masked):
            path = _relative_path(match.group(1))
            if path:
                found.setdefault(path, offset + match.start(1))
        if len(found) >= MAX_LINKS:
            break
    return tuple((offset, path) for path, offset in found.items())[:MAX_LINKS]


def _prose_lines_with_links(text: str, start: int) -> Iterator[tuple[int, str]]:
    if text.find("](", start) < 0:
        return
    fence = ""
    offset = start
    for line in text[start:].split("\n"):
        mark = _CODE_FENCE.match(line)
        if mark and fence in ("", mark.group(1)):
            fence = "" if fence else mark.group(1)
        elif not fence and "](" in line:
            yield offset, line
        offset += len(line) + 1


def _relative_path(target: str) -> str:
    if target.startswith(("/", "#", "?")) or _SCHEME.match(target) or "{" in target:
        return ""
    path = re.split("[#?]", target, maxsplit=1)[0]
    if "%" in path:
        # Few links need it, and its import takes as long as checking twenty files.
        from urllib.parse import unquote

        path = unquote(path)
    return "" if "\\" in path or "\x00" in path else path
