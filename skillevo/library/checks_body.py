"""The rest of layer 4: what the body of a skill should be."""

from __future__ import annotations

from collections.abc import Iterator

from skillevo.library.characters import estimate_tokens
from skillevo.library.nodes import Document, Finding

MAX_BODY_LINES = 500
MAX_BODY_TOKENS = 5000


def check_body(document: Document, links: tuple[tuple[int, str], ...]) -> Iterator[Finding]:
    """What to improve about the body; ``links`` are its links to files with their offsets."""
    start, stop = document.body_span
    if start == stop:
        end_of_front_matter = max(document.body_start - 1, 0)
        yield Finding("empty-body", end_of_front_matter, "the skill has no body")
        return
    body = document.text[start:stop]
    lines, tokens = body.count("\n") + 1, estimate_tokens(body)
    if lines > MAX_BODY_LINES or tokens > MAX_BODY_TOKENS:
        message = f"the body has {lines:,} lines and about {tokens:,} tokens"
        yield Finding("body-too-long", start, message)
    for offset, path in links:
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if len(parts) > 2 and ".." not in parts:
            message = f"the link goes {len(parts) - 1} folders down"
            yield Finding("deep-reference", offset, message)
