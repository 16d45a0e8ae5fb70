"""The grammar of skill names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

MAX_NAME = 64
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_OTHER = re.compile(r"[^a-z0-9]+")


def well_formed(name: str) -> bool:
    """True for lower-case ASCII letters and digits in groups joined by single hyphens."""
    return _NAME.fullmatch(name) is not None


def valid_name(name: str) -> bool:
    """True for a well-formed name of 1 to 64 characters."""
    return len(name) <= MAX_NAME and well_formed(name)


def normalise_name(text: str, taken: Collection[str]) -> str | None:
    """A valid name made from any text, unlike each taken one even when case is ignored.

    A name in use gets the suffix ``-2``, ``-3`` …; None when no letter or digit is left.
    """
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    name = _cut(_OTHER.sub("-", ascii_text.lower()).strip("-"), MAX_NAME)
    if not name:
        return None
    used = {other.casefold() for other in taken}
    number, candidate = 1, name
    while candidate in used:
        number += 1
        suffix = f"-{number}"
        candidate = _cut(name, MAX_NAME - len(suffix)) + suffix
    return candidate


def _cut(name: str, limit: int) -> str:
    """At most ``limit`` characters, at a hyphen where that keeps more than half of them."""
    if len(name) <= limit:
        return name
    cut = name[:limit]
    if name[limit] != "-" and cut.rfind("-") > limit // 2:
        cut = cut[: cut.rfind("-")]
    return cut.rstrip("-")
