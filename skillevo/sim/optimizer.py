"""The simulated optimizer: writes one of a few fixed skills, and errs when the evidence is thin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

THIN = 8

_CONCISE = {
    "decision": "skill",
    "name": "shortest-answer",
    "description": "Keeps answers to the fewest words. Use it for every final answer.",
    "steps": [
        "Find the words in the note that answer the question.",
        "Reply with only those words, in their shortest form.",
    ],
    "cautions": ["No introduction and no explanation."],
}
_QUOTE = {
    "decision": "skill",
    "name": "quote-evidence",
    "description": "Passes on the right sentence. Use it whenever a text is read for a question.",
    "steps": ["Quote the sentence that holds the answer, word for word."],
    "cautions": [],
}
_BACKGROUND = {
    "decision": "skill",
    "name": "background-first",
    "description": "Gives the context of a text. Use it before the evidence is passed on.",
    "steps": ["Describe the background of the text before anything else."],
    "cautions": [],
}


def draft(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A skill for the strongest pattern. Retrieval patterns seen on fewer than eight questions get
    an ill-advised one: the simulated optimizer errs on thin evidence, so that a gate has work."""
    present = {skill["name"] for skill in payload["skills"]}
    for pattern in payload.get("patterns", ()):
        skill = _CONCISE
        if pattern["failure_type"] == "retrieval":
            skill = _QUOTE if pattern["questions"] >= THIN else _BACKGROUND
        if skill["name"] not in present:
            return dict(skill)
    return {"decision": "none"}


def refine(payload: Mapping[str, Any]) -> dict[str, Any]:
    """No change: the simulated optimizer does not reword skills."""
    return {"edits": [], "summary": "leave it as it is"}
