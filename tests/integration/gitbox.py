"""A real git repository in a temporary directory, free of the developer's configuration."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from skillevo.store.candidates import GitStore
from skillevo.store.git import Repository
from skillevo.store.values import Identity
from skillevo.types import (
    Candidate,
    CommittedEdit,
    Decision,
    Edit,
    Library,
    Operator,
    Settlement,
    Verdict,
)

RUN = "20260102-030405-abcd"
STARTED = 1_767_323_045
AUTHOR = Identity("skillevo", "skillevo@localhost")
USER = Identity("A. User", "user@example.com")
AGENTS = ("answerer", "reader")


def isolate(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the developer's git configuration and any repository above ``folder``."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    home = folder / "home"
    home.mkdir()
    (home / "gitconfig").touch()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("EMAIL", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder))


class GitBox:
    """A user's repository, driven as the user would: through the git program."""

    def __init__(self, root: Path, *options: str) -> None:
        self.root = root
        root.mkdir(parents=True)
        self.git("init", "-q", "-b", "trunk", *options)
        self.git("config", "user.name", USER.name)
        self.git("config", "user.email", USER.email)

    def git(self, *arguments: str, stdin: bytes = b"", cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=cwd or self.root, input=stdin, capture_output=True, check=True
        )
        return done.stdout.decode(errors="surrogateescape").removesuffix("\n")

    def write(self, path: str, content: bytes | str, mode: int = 0o644) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        target.chmod(mode)

    def save(self, message: str = "Save") -> str:
        dated = ["-c", "core.autocrlf=false"]
        self.git(*dated, "add", "-A")
        self.git(*dated, "commit", "-q", "--date=@1767000000 +0000", "-m", message)
        return self.git("rev-parse", "HEAD")

    def repository(self) -> Repository:
        return Repository(self.root)

    def show(self, commit: str, path: str) -> bytes:
        done = subprocess.run(
            ["git", "cat-file", "blob", f"{commit}:{path}"],
            cwd=self.root, capture_output=True, check=True,
        )  # fmt: skip
        return done.stdout

    def paths(self, commit: str) -> list[str]:
        return self.git("ls-tree", "-r", "--name-only", commit).splitlines()

    def refs(self, prefix: str = "refs") -> dict[str, str]:
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)", prefix).splitlines()
        return {line.split(" ")[0]: line.split(" ")[1] for line in lines}

    def snapshot(self) -> dict[str, str]:
        """Everything that is the user's: files, index, HEAD, configuration, stash, other refs."""
        seen = {ref: oid for ref, oid in self.refs().items() if "skillevo/" not in ref}
        for path in sorted(self.root.rglob("*")):
            name = os.fsencode(path.relative_to(self.root)).decode(errors="backslashreplace")
            ours = name.startswith((".git/objects", ".git/refs", ".git/logs/refs/heads/skillevo"))
            if path.is_file() and not ours:
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                seen[name] = f"{path.stat().st_mode:o} {path.stat().st_mtime_ns} {digest}"
        return seen


def skill(name: str, body: str = "Do it.", description: str = "Says how.") -> str:
    """A valid SKILL.md."""
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"


def team_box(root: Path, *options: str) -> GitBox:
    """A repository with two agents: the answerer has two skills, the reader none."""
    box = GitBox(root, *options)
    box.write("README.md", "mine\n")
    box.write("skills/answerer/units/SKILL.md", skill("units"))
    box.write("skills/answerer/units/scripts/run.sh", b"#!/bin/sh\r\necho \xff\n", mode=0o755)
    box.write("skills/answerer/wording/SKILL.md", skill("wording"))
    box.save("Start")
    return box


class Desk(GitStore):
    """A store that needs no evidence, and that decides one candidate at a time."""

    def begin(self, run: str, base: str, evidence: Mapping[str, str] | None = None) -> None:
        super().begin(run, base, {"run.json": "{}\n"} if evidence is None else evidence)

    def commit(
        self,
        agent: str,
        iteration: int,
        edits: Sequence[Edit],
        base: str,
        evidence: Callable[[str, Edit], str] = lambda name, edit: f"{name}\n",
    ) -> Sequence[CommittedEdit]:
        return super().commit(agent, iteration, edits, base, evidence)

    def decide(self, *judged: tuple[Candidate, Verdict]) -> Settlement:
        """Publish candidates of one iteration."""
        return self.publish(judged[0][0].iteration, judged, lambda _: {})

    def accept(self, candidate: Candidate, verdict: Verdict) -> str:
        """The merge of one candidate, empty when it was not merged."""
        return self.decide((candidate, verdict)).outcomes[0].merge

    def reject(self, candidate: Candidate, verdict: Verdict) -> None:
        """Turn one candidate down."""
        self.decide((candidate, verdict))


def store(repository: Repository, run: str = RUN, **options: Any) -> Desk:
    """A store of the fixed run."""
    return Desk(
        repository,
        run=run,
        started=STARTED,
        author=AUTHOR,
        committer=USER,
        agents=AGENTS,
        **options,
    )


def edit(
    operator: Operator = Operator.REFINE,
    name: str = "units",
    text: str | None = "",
    *,
    agent: str = "answerer",
    removes: tuple[str, ...] = (),
    summary: str = "say the unit",
    why: str = "3 of 4 questions lacked the unit.",
    sources: tuple[str, ...] = (),
    utility: float | None = -0.25,
) -> Edit:
    """An edit; an empty ``text`` stands for a refined body."""
    return Edit(
        operator=operator,
        agent=agent,
        skill=name,
        text=skill(name, "Do it better.") if text == "" else text,
        removes=removes,
        summary=summary,
        why=why,
        support=3,
        utility=utility,
        diagnoses=("d-0001", "d-0002"),
        sources=sources,
        author="some-model",
        prompt="sha256:0123",
    )


def candidate(
    base: str,
    committed: tuple[CommittedEdit, ...],
    *,
    agent: str = "answerer",
    iteration: int = 1,
    run: str = RUN,
) -> Candidate:
    """The candidate that those commits make."""
    return Candidate(
        agent=agent,
        iteration=iteration,
        branch=f"refs/heads/skillevo/{run}/{agent}/i{iteration:03d}",
        base=base,
        head=committed[-1].commit,
        library=Library(agent),
        edits=committed,
    )


def verdict(
    decision: Decision = Decision.ACCEPT, agent: str = "answerer", error: float | None = 0.0214
) -> Verdict:
    """A verdict of the gate."""
    return Verdict(
        agent=agent,
        decision=decision,
        base=0.512,
        score=0.578,
        standard_error=error,
        n=64,
        repeats=1,
        better=9,
        worse=3,
        policy="tolerance 0.02",
    )
