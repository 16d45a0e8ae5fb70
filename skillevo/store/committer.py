"""The commits of one run: dated in order, signed where asked, found again after a crash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillevo.store.git import Repository
from skillevo.store.values import Identity, Stamp


class Committer:
    """Makes commits; commit n of the run is dated ``started`` + n seconds, zone +0000.

    So equal inputs give equal ids. A signature may differ from one time to the next: ``recorded``
    has the signed commits that a run already made, by their content without the signature, and
    such a commit is taken instead of a new one.
    """

    def __init__(
        self,
        repository: Repository,
        *,
        started: int,
        author: Identity,
        committer: Identity,
        sign: bool,
        recorded: Mapping[bytes, str],
    ) -> None:
        self._repository = repository
        self._started = started
        self._author = author
        self._committer = committer
        self._sign = sign
        self._recorded = recorded
        self._count = 0

    @property
    def stamp(self) -> Stamp:
        """Who and when, as of the last commit."""
        return Stamp(self._author, self._committer, self._started + self._count)

    def commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        """The next commit; no ref moves."""
        self._count += 1
        if self._sign:
            known = self._recorded.get(_content(tree, parents, message, self.stamp))
            if known is not None:
                return known
        return self._repository.commit_tree(tree, parents, message, self.stamp, sign=self._sign)

    def probe_signing(self, commit: str, run: str) -> None:
        """EnvironmentFault when commits are to be signed and cannot be."""
        if self._sign:
            probe = f"Probe the signing key for run {run}\n"
            tree = f"{commit}^{{tree}}"
            self._repository.commit_tree(tree, [commit], probe, self.stamp, sign=True)


def signed_commits(repository: Repository, tips: Sequence[str], base: str) -> dict[bytes, str]:
    """The commits between ``base`` and the tips by their content without the signature."""
    spans = [*tips, f"^{base}"]
    listed = repository.run(["rev-list", "--stdin"], stdin="\n".join(spans).encode() + b"\n")
    ids = listed.line.split()
    found = zip(ids, repository.read_objects(ids), strict=True)
    return {_unsigned(content): oid for oid, (_, content) in found}


def _content(tree: str, parents: Sequence[str], message: str, stamp: Stamp) -> bytes:
    when = f"{stamp.time_s} +0000"
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines.append(f"author {stamp.author.name} <{stamp.author.email}> {when}")
    lines.append(f"committer {stamp.committer.name} <{stamp.committer.email}> {when}")
    return ("\n".join(lines) + "\n\n" + message).encode()


def _unsigned(content: bytes) -> bytes:
    """A commit without its signature header and the lines that continue it."""
    head, gap, message = content.partition(b"\n\n")
    kept: list[bytes] = []
    signature = False
    for line in head.split(b"\n"):
        signature = line.startswith(b"gpgsig") or (signature and line.startswith(b" "))
        if not signature:
            kept.append(line)
    return b"\n".join(kept) + gap + message
