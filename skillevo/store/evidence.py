"""A run's evidence read back from git as typed values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from skillevo.core.evidence import EVENTS, digest, folder
from skillevo.core.refs import evidence_ref
from skillevo.errors import DataError
from skillevo.store.evidence_values import (
    AgentDecision,
    Assessed,
    CitedStep,
    EditEvidence,
    Evidence,
    FoundPattern,
    GroupInput,
    IterationEvidence,
    QuestionScore,
    RunRecord,
    Use,
)
from skillevo.store.git import Repository
from skillevo.types import (
    Citation,
    Contribution,
    Credit,
    Decision,
    Diagnosis,
    Direction,
    EditDirection,
    Feedback,
    Operator,
    Refusal,
    Rejected,
)

T = TypeVar("T")


__all__ = [
    "AgentDecision",
    "Assessed",
    "CitedStep",
    "EditEvidence",
    "Evidence",
    "FoundPattern",
    "GroupInput",
    "IterationEvidence",
    "QuestionScore",
    "RunRecord",
    "Use",
    "evidence_files",
    "parse_evidence",
    "read_evidence",
]


def evidence_files(repository: Repository, run: str, tip: str | None = None) -> dict[str, bytes]:
    """The files of a run's evidence by path, at ``tip`` or as it stands; empty when there is none.

    Two git processes, however many files.
    """
    tip = tip or repository.find_object(f"{evidence_ref(run)}^{{commit}}")
    if tip is None:
        return {}
    tree = repository.read_tree(tip)
    blobs = repository.read_blobs(blob for _, blob in tree.values())
    return {path: blobs[blob] for path, (_, blob) in tree.items()}


def read_evidence(repository: Repository, run: str) -> Evidence | None:
    """The evidence of a run, None when it has none.

    Reads shapes only: what is true of it is for ``verify`` to say. DataError when a file is
    damaged.
    """
    tip = repository.find_object(f"{evidence_ref(run)}^{{commit}}")
    if tip is None:
        return None
    return parse_evidence(run, tip, evidence_files(repository, run, tip))


def parse_evidence(run: str, tip: str, files: Mapping[str, bytes]) -> Evidence:
    """The evidence in these files; DataError when one of them is damaged or missing."""
    names = sorted(path for path in files if path.startswith("edits/"))
    indices = sorted({int(part[1]) for path in files if (part := _iteration(path))})
    edits = [_read(run, files, name, _edit) for name in names]
    result = _read(run, files, "result.json", _ending) if "result.json" in files else (None, ())
    return Evidence(
        run=run,
        tip=tip,
        record=_read(run, files, "run.json", _record),
        iterations=tuple(
            _iteration_of(run, files, index)
            for index in indices
            if f"{folder(index)}/decision.json" in files
        ),
        edits={edit.id: edit for edit in edits},
        ended="result.json" in files,
        final_score=result[0],
        not_done=result[1],
        events=_events(run, files),
    )


def _iteration(path: str) -> list[str] | None:
    parts = path.split("/")
    return parts if len(parts) > 2 and parts[0] == "iterations" and parts[1].isdigit() else None


def _events(run: str, files: Mapping[str, bytes]) -> tuple[Mapping[str, Any], ...]:
    def parse(data: bytes) -> tuple[Mapping[str, Any], ...]:
        return tuple(json.loads(line) for line in data.splitlines())

    return _parsed(run, files, EVENTS, parse) if EVENTS in files else ()


def _read(
    run: str, files: Mapping[str, bytes], name: str, build: Callable[[dict[str, Any], bytes], T]
) -> T:
    return _parsed(run, files, name, lambda data: build(json.loads(data), data))


def _parsed(run: str, files: Mapping[str, bytes], name: str, parse: Callable[[bytes], T]) -> T:
    try:
        return parse(files[name])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        cause = "the file is missing" if name not in files else f"{type(error).__name__}: {error}"
        raise DataError(
            f"the evidence of run {run} is damaged at {name}",
            why=cause,
            fix=f"skillevo verify {run} lists everything that is wrong",
        ) from error


# --- values of each file ------------------------------------------------------------------------


def _record(value: dict[str, Any], _: bytes) -> RunRecord:
    return RunRecord(
        run=value["run"],
        skillevo=value["skillevo"],
        base=value["base"],
        seed=value["seed"],
        simulated=value["simulated"],
        config_digest=value["config_digest"],
        agents=tuple(value["agents"]),
        settings=value["settings"],
        models=value["models"],
        data=value["data"],
    )


def _ending(value: dict[str, Any], _: bytes) -> tuple[float | None, tuple[str, ...]]:
    return value["final_score"], tuple(value["not_done"])


def _iteration_of(run: str, files: Mapping[str, bytes], index: int) -> IterationEvidence:
    place = folder(index)
    said, asked, feedback = _read(run, files, f"{place}/credits.json", _credits)
    diagnoses, rejected = _read(run, files, f"{place}/diagnoses.json", _diagnoses)
    directions, patterns, refusals = _read(run, files, f"{place}/aggregate.json", _aggregate)

    def decided(value: dict[str, Any], _: bytes) -> tuple[float, tuple[AgentDecision, ...]]:
        rows = value["agents"]
        return value["base_score"], tuple(_decision(run, files, index, row) for row in rows)

    base, decisions = _read(run, files, f"{place}/decision.json", decided)
    return IterationEvidence(
        index=index,
        base_score=base,
        assessments=asked,
        credits=said,
        feedback=feedback,
        diagnoses=diagnoses,
        rejected=rejected,
        directions=directions,
        patterns=patterns,
        refusals=refusals,
        decisions=decisions,
    )


def _decision(
    run: str, files: Mapping[str, bytes], index: int, row: dict[str, Any]
) -> AgentDecision:
    def scores(value: dict[str, Any], _: bytes) -> tuple[QuestionScore, ...]:
        return tuple(
            QuestionScore(item["question"], item["before"], item["after"])
            for item in value["questions"]
        )

    return AgentDecision(
        iteration=index,
        agent=row["agent"],
        decision=Decision(row["decision"]),
        verdict=Decision(row["verdict"]),
        base_score=row["base_score"],
        score=row["score"],
        standard_error=row["standard_error"],
        n=row["n"],
        repeats=row["repeats"],
        better=row["better"],
        worse=row["worse"],
        policy=row["policy"],
        reason=row["reason"],
        candidate=row["candidate"],
        base=row["base"],
        merge=row["merge"] or "",
        base_moved=row["base_moved"] or "",
        edits=tuple(row["edits"]),
        scores=_read(run, files, f"{folder(index)}/scores/{row['agent']}.json", scores),
    )


def _steps(items: Iterable[dict[str, int]]) -> tuple[Citation, ...]:
    return tuple(Citation(item["rollout"], item["step"]) for item in items)


def _credits(
    value: dict[str, Any], _: bytes
) -> tuple[tuple[Credit, ...], tuple[Assessed, ...], tuple[Feedback, ...]]:
    credits_ = tuple(
        Credit(
            **{
                **item,
                "verdict": Contribution(item["verdict"]),
                "evidence": _steps(item["evidence"]),
                "redundant_with": tuple(item["redundant_with"]),
            }
        )
        for item in value["credits"]
    )
    assessed = tuple(
        Assessed(a["question"], a["outcome"], a["notes"], tuple(a["calls"]))
        for a in value["assessments"]
    )
    return credits_, assessed, tuple(Feedback(**item) for item in value["feedback"])


def _diagnoses(
    value: dict[str, Any], _: bytes
) -> tuple[tuple[Diagnosis, ...], tuple[Rejected, ...]]:
    accepted = tuple(
        Diagnosis(
            **{
                **item,
                "cited_steps": _steps(item["cited_steps"]),
                "contrast_steps": _steps(item["contrast_steps"]),
                "edit_action": Operator(item["edit_action"]),
            }
        )
        for item in value["accepted"]
    )
    return accepted, tuple(Rejected(**item) for item in value["rejected"])


def _aggregate(
    value: dict[str, Any], _: bytes
) -> tuple[tuple[EditDirection, ...], tuple[FoundPattern, ...], tuple[Refusal, ...]]:
    directions = tuple(
        EditDirection(
            **{
                **item,
                "verdict": Direction(item["verdict"]),
                "questions": tuple(item["questions"]),
                "redundant_with": tuple(item["redundant_with"]),
            }
        )
        for item in value["directions"]
    )
    patterns = tuple(
        FoundPattern(
            **{
                **item,
                "action": Operator(item["action"]),
                "questions": tuple(item["questions"]),
                "diagnoses": tuple(item["diagnoses"]),
            }
        )
        for item in value["patterns"]
    )
    refusals = tuple(
        Refusal(**{**item, "operator": Operator(item["operator"])}) for item in value["refusals"]
    )
    return directions, patterns, refusals


def _edit(value: dict[str, Any], data: bytes) -> EditEvidence:
    inputs = value["inputs"]
    return EditEvidence(
        id=value["id"],
        iteration=value["iteration"],
        operator=Operator(value["operator"]),
        agent=value["agent"],
        skill=value["skill"],
        removes=tuple(value["removes"]),
        sources=tuple(value["sources"]),
        summary=value["summary"],
        why=value["why"],
        support=value["support"],
        utility=value["utility"],
        digest=value["digest"],
        model=value["model"],
        prompt=value["prompt"],
        notes=tuple(value["notes"]),
        diagnoses=tuple(value["diagnoses"]),
        before=inputs["before"] or "",
        after=inputs["after"] or "",
        groups=tuple(
            GroupInput(group["question"], tuple(group["trajectories"]))
            for group in inputs["groups"]
        ),
        citations=tuple(
            CitedStep(**{**item, "uses": tuple(Use(**use) for use in item["uses"])})
            for item in value["citations"]
        ),
        file_digest=digest(data),
    )
