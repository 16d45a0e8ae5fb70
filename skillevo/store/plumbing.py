"""Objects and refs of a repository through git's plumbing, whoever runs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from skillevo.errors import EnvironmentFault, SkillevoError
from skillevo.store.faults import failed_command, failed_refs
from skillevo.store.values import Entry, RefChange, Result, Stamp

_SUBMODULE = "160000"


class Plumbing(ABC):
    """Reads and writes objects and refs; no call looks at a work tree or its index.

    Object ids are full; where a commit or a tree is asked for, both will do.
    """

    object_format: str
    """The hash function: ``sha1`` or ``sha256``."""

    @property
    def oid_length(self) -> int:
        """The length of an object id in hexadecimal digits."""
        return 64 if self.object_format == "sha256" else 40

    @abstractmethod
    def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        hooks: bool = False,
        accept: Collection[int] | None = (0,),
    ) -> Result:
        """Run one git command in the repository and wait for it."""

    def resolve(self, revision: str) -> str:
        """The commit id of any revision git understands; SkillevoError when there is none."""
        commit = self.find_object(f"{revision}^{{commit}}")
        if commit is None:
            raise SkillevoError(
                f"unknown revision {revision!r}",
                why="it names no commit of this repository",
                fix="git log --oneline --all shows the commits",
            )
        return commit

    def object_at(self, commit: str, path: str) -> str | None:
        """The id of the tree or blob at ``path`` in a commit or tree, or None."""
        return self.find_object(f"{commit}:{path}")

    def find_object(self, name: str) -> str | None:
        """The id of the object that ``name`` means, or None."""
        if "\0" in name:
            return None
        found = self.run(
            ["rev-parse", "--verify", "--quiet", "--end-of-options", name], accept=None
        )
        return found.line if found.status == 0 else None

    def list_tree(self, tree: str, prefix: str = "") -> dict[bytes, Entry]:
        """Every path under ``prefix`` in a commit or tree, of whatever type, as git stores it."""
        listed = self.run(
            ["ls-tree", "-r", "-z", "--full-tree", tree, "--", *([prefix] if prefix else [])]
        )
        entries: dict[bytes, Entry] = {}
        for line in listed.stdout.split(b"\0")[:-1]:
            facts, _, path = line.partition(b"\t")
            mode, _, oid = facts.decode().split(" ")
            entries[path] = (mode, oid)
        return entries

    def read_tree(self, tree: str, prefix: str = "") -> dict[str, Entry]:
        """The files under ``prefix``: mode and blob by path.

        Submodules and paths that are no UTF-8 are left out.
        """
        files = {}
        for raw, entry in self.list_tree(tree, prefix).items():
            with suppress(UnicodeDecodeError):
                if entry[0] != _SUBMODULE:
                    files[raw.decode()] = entry
        return files

    def read_objects(self, names: Sequence[str]) -> list[tuple[str, bytes]]:
        """Kind and content of the objects that ``names`` mean, in order, by one process.

        The kind is ``missing`` for a name without an object.
        """
        if not names:
            return []
        batch = self.run(["cat-file", "--batch"], stdin="".join(f"{n}\n" for n in names).encode())
        objects: list[tuple[str, bytes]] = []
        at = 0
        for _ in names:
            end = batch.stdout.index(b"\n", at)
            facts = batch.stdout[at:end].decode(errors="replace").split(" ")
            if len(facts) != 3 or not facts[2].isdigit():
                objects.append((facts[-1], b""))
                at = end + 1
                continue
            start, at = end + 1, end + 1 + int(facts[2]) + 1
            objects.append((facts[1], batch.stdout[start : at - 1]))
        return objects

    def read_blobs(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """The contents of blobs by id, by one process; EnvironmentFault when one is missing."""
        wanted = sorted(set(blobs))
        contents = {}
        for blob, (kind, content) in zip(wanted, self.read_objects(wanted), strict=True):
            if kind != "blob":
                raise EnvironmentFault(
                    f"object {blob} cannot be read", why=f"git says: {kind}", fix="git fsck"
                )
            contents[blob] = content
        return contents

    def refs(self, *prefixes: str) -> dict[str, str]:
        """The full names and object ids of the refs under any of ``prefixes``, sorted by name."""
        listed = self.run(["for-each-ref", "--format=%(refname) %(objectname)", *prefixes])
        pairs = (line.split(" ") for line in listed.line.splitlines())
        return {name: oid for name, oid in pairs if oid}

    def changed_paths(self, old: str, new: str) -> tuple[bytes, ...]:
        """The paths that differ between two commits or trees, as git stores them."""
        diff = self.run(
            ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff",
             "--no-textconv", old, new]
        )  # fmt: skip
        return tuple(diff.stdout.split(b"\0")[:-1])

    def write_blob(self, content: bytes) -> str:
        """Store bytes as they are, whatever filters and line endings are configured."""
        return self.run(["hash-object", "-w", "--stdin"], stdin=content).line

    def commit_tree(
        self, tree: str, parents: Sequence[str], message: str, stamp: Stamp, *, sign: bool = False
    ) -> str:
        """Store a commit; no ref moves."""
        options = [part for parent in parents for part in ("-p", parent)]
        if sign:
            options.append("-S")
        return self.run(
            ["-c", "i18n.commitEncoding=UTF-8", "commit-tree", *options, tree],
            stdin=message.encode(),
            environment=stamp.environment,
        ).line

    def merge_trees(self, ours: str, theirs: str) -> str | None:
        """The tree of a merge of two commits, made without a checkout; None when they conflict."""
        merged = self.run(
            ["-c", "merge.renames=false", "-c", "merge.directoryRenames=false",
             "merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", ours, theirs],
            accept=(0, 1),
        )  # fmt: skip
        tree = merged.stdout.split(b"\0")[0].decode()
        if not tree:
            # Status 1 means a conflict or a bad argument; only the former names a tree.
            raise failed_command("merge-tree", merged.status, merged.stderr)
        return tree if merged.status == 0 else None

    def move_refs(
        self, changes: Sequence[RefChange], stamp: Stamp, *, reason: str, hooks: bool = True
    ) -> None:
        """All of ``changes`` in one transaction, or none: ConflictError when one is refused."""
        moved = self.run(
            ["update-ref", "-m", reason, "--stdin"],
            stdin="".join(change.instruction for change in changes).encode(),
            environment=stamp.environment,
            hooks=hooks,
            accept=None,
        )
        if moved.status != 0:
            raise failed_refs([change.ref for change in changes], moved.stderr)


def index_info(changes: Mapping[bytes, Entry | None], width: int) -> bytes:
    """The input of ``update-index -z --index-info``; None removes the path.

    ``width`` is the length of an object id, which git wants in full even where it ignores it.
    """
    removal = b"0 " + b"0" * width + b"\t"
    lines = (
        (f"{entry[0]} {entry[1]}\t".encode() if entry else removal) + path + b"\0"
        for path, entry in changes.items()
    )
    return b"".join(lines)
