"""Which characters a skill file may hold, and how long a text is for a model."""

from __future__ import annotations

import re

_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"

FORBIDDEN_IN_BODY = re.compile(f"[{_CONTROLS}]")
"""Control characters that no text file needs."""

FORBIDDEN_IN_HEADER = re.compile(
    f"[{_CONTROLS}\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|\r(?!\n)"
)
"""What YAML refuses, drops or silently takes for a line end."""

INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters that a reviewer cannot see, or that reorder what is seen (bidi controls)."""

_RUNNER_COMMAND = re.compile(r"^ *:(?=:)|#(?=#\[)")


def estimate_tokens(text: str) -> int:
    """About how many tokens a model reads: UTF-8 bytes divided by four, rounded up.

    A rule of thumb that needs no tokenizer: near for English, high for other scripts.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def visible(text: str, limit: int = 120) -> str:
    """``text`` on one line with everything unprintable escaped, cut to ``limit`` characters."""
    shown = text[: limit + 1]
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else _escaped(c) for c in shown)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def log_line(line: str) -> str:
    """A printed line without what CI runners take for commands: ``::`` first, ``##[`` anywhere."""
    return _RUNNER_COMMAND.sub(lambda match: match[0][:-1] + f"\\x{ord(match[0][-1]):02x}", line)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
