"""The grammar of a run in git: run ids, ref names, edit ids, commit messages and their trailers.

Branches of a run (``<run>`` is the run id, ``NNN`` the iteration)::

    refs/heads/skillevo/<run>/main             accepted merges only
    refs/heads/skillevo/<run>/<agent>/i<NNN>   one agent's candidate in one iteration
    refs/skillevo/runs/<run>                   evidence; it keeps every candidate from being pruned
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from skillevo.core.safety import SUBJECT_LIMIT, TRAILER_LIMIT, safe_line, safe_paragraph, safe_value
from skillevo.types import Candidate, Edit, Verdict

BRANCHES = "refs/heads/skillevo"
EVIDENCE = "refs/skillevo/runs"
RUN_BRANCH = "main"
FORMAT = "1"

_RUN = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(?:-[a-z0-9]+)*")
_SUFFIX = re.compile(r"[a-z0-9]{4}")
_ITERATION = re.compile(r"i([0-9]{3,6})")
_EDIT = re.compile(r"(?P<run>.+)-(?P<n>[0-9]{4,})")


# --- names --------------------------------------------------------------------------------------


def valid_run(text: str) -> bool:
    """True for 1 to 64 lower case letters, digits and hyphens, with no hyphen at either end."""
    return _RUN.fullmatch(text) is not None


def valid_name(text: str) -> bool:
    """True for a name that may be a folder of a library: ``[a-z0-9]+(-[a-z0-9]+)*``, 1 to 64."""
    return _NAME.fullmatch(text) is not None


def valid_agent(text: str) -> bool:
    """True for a valid name other than that of the run branch."""
    return valid_name(text) and text != RUN_BRANCH


def run_id(now: datetime, suffix: str) -> str:
    """``YYYYMMDD-HHMMSS-xxxx`` in UTC; ``suffix`` is four lower case letters or digits."""
    if not _SUFFIX.fullmatch(suffix):
        raise ValueError(f"suffix {suffix!r} is not four lower case letters or digits")
    return f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{suffix}"


def run_branch(run: str) -> str:
    """The full ref of the run branch; ValueError for an invalid run id."""
    return f"{BRANCHES}/{_checked(run, valid_run(run))}/{RUN_BRANCH}"


def candidate_branch(run: str, agent: str, iteration: int) -> str:
    """The full ref of an agent's candidate; ValueError for an invalid run id or agent."""
    return f"{BRANCHES}/{_candidate_path(run, agent, iteration)}"


def evidence_ref(run: str) -> str:
    """The full ref of a run's evidence; ValueError for an invalid run id."""
    return f"{EVIDENCE}/{_checked(run, valid_run(run))}"


def short_ref(ref: str) -> str:
    """A branch as people and ``git log`` write it, without ``refs/heads/``."""
    return ref.removeprefix("refs/heads/")


def edit_id(run: str, n: int) -> str:
    """The id of the n-th edit of a run, counted from 1: ``<run>-0007``."""
    return f"{run}-{n:04d}"


def parse_edit_id(text: str) -> tuple[str, int] | None:
    """The run and number of an edit id, or None when it is none."""
    match = _EDIT.fullmatch(text)
    if match is None or not valid_run(match["run"]):
        return None
    return match["run"], int(match["n"])


class RefKind(StrEnum):
    """What a ref of a run is."""

    RUN = "run"
    CANDIDATE = "candidate"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True)
class ParsedRef:
    """A ref of a run taken apart; only a candidate has an agent and an iteration."""

    kind: RefKind
    run: str
    agent: str = ""
    iteration: int = 0


def parse_ref(ref: str) -> ParsedRef | None:
    """What a full ref name says, or None when it is none of a run's refs."""
    if ref.startswith(EVIDENCE + "/"):
        run = ref.removeprefix(EVIDENCE + "/")
        return ParsedRef(RefKind.EVIDENCE, run) if valid_run(run) else None
    if not ref.startswith(BRANCHES + "/"):
        return None
    run, *rest = ref.removeprefix(BRANCHES + "/").split("/")
    if not valid_run(run):
        return None
    if rest == [RUN_BRANCH]:
        return ParsedRef(RefKind.RUN, run)
    if len(rest) == 2 and valid_agent(rest[0]) and (found := _ITERATION.fullmatch(rest[1])):
        return ParsedRef(RefKind.CANDIDATE, run, rest[0], int(found[1]))
    return None


def _candidate_path(run: str, agent: str, iteration: int) -> str:
    _checked(run, valid_run(run))
    _checked(agent, valid_agent(agent))
    _checked(str(iteration), 0 < iteration < 10**6)
    return f"{run}/{agent}/i{iteration:03d}"


def _checked(text: str, valid: bool) -> str:
    if not valid:
        raise ValueError(f"{text!r} cannot be part of a ref name")
    return text


# --- trailers -----------------------------------------------------------------------------------


class Key(StrEnum):
    """The trailers of skillevo's commits."""

    EDIT = "Skillevo-Edit"
    OPERATOR = "Skillevo-Operator"
    AGENT = "Skillevo-Agent"
    SKILL = "Skillevo-Skill"
    RUN = "Skillevo-Run"
    ITERATION = "Skillevo-Iteration"
    BASE = "Skillevo-Base"
    BASE_MOVED = "Skillevo-Base-Moved"
    DIAGNOSIS = "Skillevo-Diagnosis"
    SUPPORT = "Skillevo-Support"
    UTILITY = "Skillevo-Utility"
    MODEL = "Skillevo-Model"
    PROMPT = "Skillevo-Prompt"
    EVIDENCE = "Skillevo-Evidence"
    FROM = "Skillevo-From"
    DECISION = "Skillevo-Decision"
    SCORE = "Skillevo-Score"
    GATE = "Skillevo-Gate"
    CANDIDATE = "Skillevo-Candidate"
    FORMAT = "Skillevo-Format"


_KEYS = {key.value: key for key in Key}


@dataclass(frozen=True, slots=True)
class Trailers:
    """The trailers of one commit in order; keys of others are left out."""

    pairs: tuple[tuple[Key, str], ...] = ()

    def get(self, key: Key) -> str:
        """The first value of ``key``, empty when there is none."""
        return next((value for found, value in self.pairs if found is key), "")

    def all(self, key: Key) -> tuple[str, ...]:
        """Every value of a repeatable key, in order."""
        return tuple(value for found, value in self.pairs if found is key)

    @property
    def block(self) -> str:
        """The trailers as the last paragraph of a message; values are made safe, empty ones go."""
        lines = []
        for key, text in self.pairs:
            value = safe_value(text, TRAILER_LIMIT - len(key) - len(": "))
            if value:
                lines.append(f"{key}: {value}")
        return "\n".join(lines)


def parse_trailers(block: str) -> Trailers:
    """The trailers in what ``git log --format=%(trailers:only,unfold)`` prints for one commit."""
    pairs = []
    for line in block.split("\n"):
        name, colon, value = line.partition(":")
        if colon and name in _KEYS:
            pairs.append((_KEYS[name], value.strip()))
    return Trailers(tuple(pairs))


def message_trailers(message: str) -> Trailers:
    """The trailers in the last paragraph of a whole commit message."""
    return parse_trailers(message.rstrip("\n").rpartition("\n\n")[2])


# --- messages -----------------------------------------------------------------------------------


def edit_message(
    edit: Edit, *, name: str, run: str, iteration: int, base: str, evidence: str = ""
) -> str:
    """The commit message of one edit with the id ``name``; ``base`` is the commit it started from.

    The subject says what, the body why, the trailers from where; all of it is safe for git.
    """
    trailers = Trailers(
        (
            (Key.EDIT, name),
            (Key.OPERATOR, edit.operator),
            (Key.AGENT, edit.agent),
            (Key.SKILL, edit.skill),
            (Key.RUN, run),
            (Key.ITERATION, str(iteration)),
            (Key.BASE, base),
            *((Key.DIAGNOSIS, diagnosis) for diagnosis in edit.diagnoses),
            (Key.SUPPORT, str(edit.support)),
            (Key.UTILITY, "" if edit.utility is None else _number(edit.utility, 2)),
            (Key.MODEL, edit.author),
            (Key.PROMPT, edit.prompt),
            (Key.EVIDENCE, evidence),
            *((Key.FROM, source) for source in edit.sources),
            (Key.FORMAT, FORMAT),
        )
    )
    subject = f"{edit.operator}({edit.agent}/{edit.skill}): "
    return _message(subject, edit.summary or "no summary given", edit.why, trailers)


def merge_message(candidate: Candidate, verdict: Verdict, *, run: str, base_moved: str = "") -> str:
    """The message of an accepted candidate's merge commit.

    ``base_moved`` is the object id of the tip merged onto when others had moved the run branch.
    """
    trailers = Trailers(
        (
            (Key.DECISION, verdict.decision),
            (Key.SCORE, _score(verdict)),
            (Key.GATE, _gate(verdict)),
            (Key.CANDIDATE, candidate.head),
            (Key.BASE, candidate.base),
            (Key.BASE_MOVED, base_moved),
            (Key.RUN, run),
            (Key.ITERATION, str(candidate.iteration)),
            (Key.AGENT, candidate.agent),
            (Key.FORMAT, FORMAT),
        )
    )
    count = len(candidate.edits)
    edits = "1 edit" if count == 1 else f"{count} edits"
    summary = f"{verdict.decision} {edits} from iteration {candidate.iteration}"
    return _message(f"merge({candidate.agent}): ", summary, verdict.reason, trailers)


def _message(prefix: str, summary: str, why: str, trailers: Trailers) -> str:
    body = safe_paragraph(f"Why: {why}") if why.strip() else ""
    subject = safe_value(prefix + safe_line(summary, SUBJECT_LIMIT), SUBJECT_LIMIT)
    return "\n\n".join(part for part in (subject, body, trailers.block) if part) + "\n"


def _score(verdict: Verdict) -> str:
    counts = f"n={verdict.n}, H={verdict.repeats}"
    return f"{_number(verdict.base, 3)} -> {_number(verdict.score, 3)} ({counts})"


def _gate(verdict: Verdict) -> str:
    error = "n/a" if verdict.standard_error is None else _number(verdict.standard_error, 3)
    sign = "+" if round(verdict.delta, 3) >= 0 else ""
    return f"{verdict.policy}; delta={sign}{_number(verdict.delta, 3)}; se={error}"


def _number(value: float, digits: int) -> str:
    # Adding 0.0 turns a rounded negative zero into zero.
    return f"{round(value, digits) + 0.0:.{digits}f}"
