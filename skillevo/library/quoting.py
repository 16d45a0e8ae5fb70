"""YAML scalars as this project writes them: always one line, quoted when there is any doubt."""

from __future__ import annotations

import re

from skillevo.library.characters import FORBIDDEN_IN_HEADER

_WORD = re.compile(r"[a-z][a-z0-9-]*")
_GUESSED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def scalar(value: str) -> str:
    """``value`` plain where every YAML reader takes it as this very string, else double-quoted."""
    plain = (
        value[:1].isalpha()
        and value.isprintable()
        and value.casefold() not in _GUESSED
        and ": " not in value
        and " #" not in value
        and not value.endswith((":", " "))
    )
    return value if plain else quoted(value)


def spliced(value: str) -> str:
    """``value`` for a place between foreign text, flow style included: quoted but for one word."""
    if _WORD.fullmatch(value) and value not in _GUESSED:
        return value
    return quoted(value)


def quoted(value: str) -> str:
    """``value`` in double quotes on one line; what YAML forbids is escaped."""
    text = "".join(_SHORT.get(character, character) for character in value)
    return f'"{FORBIDDEN_IN_HEADER.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}"
