"""Blobs and trees made in memory and stored by one git process, whatever their number."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from typing import Final

from skillevo.store.git import Repository

_TYPES: Final = {"tree": 2, "blob": 3}


class ObjectWriter:
    """Objects on their way into a repository: ids are known at once, ``flush`` stores them.

    An object that was stored before is not sent again.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._sent: set[str] = set()
        self._waiting: list[tuple[str, bytes]] = []

    def blob(self, content: bytes) -> str:
        """The id of a blob."""
        return self._add("blob", content)

    def tree(self, files: Mapping[str, str]) -> str:
        """The id of a tree with a regular file for each path, of the blob with that id."""
        here: dict[str, str] = {}
        below: dict[str, dict[str, str]] = {}
        for path, blob in files.items():
            name, slash, rest = path.partition("/")
            if slash:
                below.setdefault(name, {})[rest] = blob
            else:
                here[name] = blob
        entries = [(name.encode(), b"100644", blob) for name, blob in here.items()]
        entries += [(name.encode(), b"40000", self.tree(inner)) for name, inner in below.items()]
        # Git sorts a folder as if its name ended in a slash.
        entries.sort(key=lambda entry: entry[0] + (b"/" if entry[1] == b"40000" else b""))
        content = b"".join(
            mode + b" " + name + b"\0" + bytes.fromhex(oid) for name, mode, oid in entries
        )
        return self._add("tree", content)

    def flush(self) -> None:
        """Store what waits."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            pack = _pack(waiting, self._repository.object_format)
            self._repository.run(["unpack-objects", "-q"], stdin=pack)

    def _add(self, kind: str, content: bytes) -> str:
        header = f"{kind} {len(content)}\0".encode()
        oid = _hash(self._repository.object_format, header + content)
        if oid not in self._sent:
            self._sent.add(oid)
            self._waiting.append((kind, content))
        return oid


def _hash(name: str, content: bytes) -> str:
    return hashlib.new(name, content, usedforsecurity=False).hexdigest()


def _pack(objects: list[tuple[str, bytes]], object_format: str) -> bytes:
    """A pack file (gitformat-pack, version 2) without deltas."""
    parts = [b"PACK", (2).to_bytes(4), len(objects).to_bytes(4)]
    for kind, content in objects:
        size = len(content)
        byte, size = _TYPES[kind] << 4 | size & 15, size >> 4
        header = bytearray()
        while size:
            header.append(byte | 0x80)
            byte, size = size & 0x7F, size >> 7
        header.append(byte)
        parts += [bytes(header), zlib.compress(content, 1)]
    body = b"".join(parts)
    return body + bytes.fromhex(_hash(object_format, body))
