"""Layer 1 of the checker: bytes, encoding, line ends, size."""

from __future__ import annotations

from collections.abc import Iterator

from skillevo.library.characters import FORBIDDEN_IN_BODY
from skillevo.library.nodes import Document, Finding

MAX_FILE_BYTES = 1024 * 1024
MAX_HEADER_BYTES = 64 * 1024


def decode(data: bytes) -> tuple[str, list[Finding]]:
    """The file's text without a byte order mark, with what is wrong about its bytes.

    Bytes that are no UTF-8 become replacement characters, for the place of the finding only.
    """
    if len(data) > MAX_FILE_BYTES:
        return "", [Finding("file-too-large", 0, f"the file has {len(data):,} bytes")]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        message = f"byte 0x{data[error.start]:02x} is not UTF-8"
        return before, [Finding("not-utf8", len(before), message)]
    if text.startswith("\ufeff"):
        return text[1:], [Finding("byte-order-mark", 0, "the file begins with a byte order mark")]
    return text, []


def check_text(document: Document) -> Iterator[Finding]:
    """Faults of the whole text, its body's characters and the size of its front matter."""
    text = document.text
    yield from _line_ends(text)
    found = FORBIDDEN_IN_BODY.search(text, document.body_start)
    if found:
        message = f"the text holds the control character U+{ord(found.group()):04X}"
        yield Finding("control-character", found.start(), message)
    size = len(text[document.header_start : document.header_end].encode())
    if size > MAX_HEADER_BYTES:
        message = f"the front matter has {size:,} bytes"
        yield Finding("header-too-large", document.header_start, message)


def _line_ends(text: str) -> Iterator[Finding]:
    first = text.find("\r")
    if first < 0:
        return
    pairs, returns, feeds = text.count("\r\n"), text.count("\r"), text.count("\n")
    if pairs == returns == feeds:
        yield Finding("crlf-line-endings", first, "lines end in CR LF")
    else:
        message = f"{feeds - pairs} lines end in LF, {pairs} in CR LF, {returns - pairs} in CR"
        yield Finding("mixed-line-endings", first, message)
