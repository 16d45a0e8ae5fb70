"""Credits and diagnoses of many questions merged: directions per skill, patterns per agent."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from skillevo.core.acceptance import SLACK
from skillevo.types import (
    Assessment,
    Contribution,
    Credit,
    Diagnosis,
    Direction,
    EditDirection,
    Feedback,
    InductionEvidence,
    Operator,
    Pair,
    Pattern,
)

TOP_PATTERNS = 3
EXAMPLES_PER_PATTERN = 6


def clamp(value: float, low: float, high: float) -> float:
    """``value`` brought into [low, high]."""
    return max(low, min(high, value))


def credits_by_skill(assessments: Iterable[Assessment]) -> dict[Pair, tuple[Credit, ...]]:
    """The credits of each (agent, skill), one per question, in question order; pairs sorted."""
    gathered: defaultdict[Pair, list[Credit]] = defaultdict(list)
    for assessment in assessments:
        for credit in assessment.credits:
            gathered[credit.agent, credit.skill].append(credit)
    return {pair: tuple(gathered[pair]) for pair in sorted(gathered)}


def mean_credit(credits_: Sequence[Credit]) -> float:
    """The batch utility of a skill: the mean of its credits over questions, in [-1, 1]."""
    return math.fsum(credit.credit for credit in credits_) / len(credits_)


def fold_single(credit: Credit) -> EditDirection:
    """One credit alone needs no aggregator (method.md 2.4)."""
    match credit.verdict:
        case Contribution.REDUNDANT:
            verdict = Direction.REDUNDANT
        case Contribution.HARMFUL:
            verdict = Direction.LOW_UTILITY
        case _:
            verdict = Direction.REFINE if credit.suggested_edit else Direction.KEEP
    return EditDirection(
        agent=credit.agent,
        skill=credit.skill,
        verdict=verdict,
        mean_credit=credit.credit,
        utility_score=credit.credit,
        questions=(credit.question,),
        summary=credit.reason,
        suggested_edit=credit.suggested_edit,
        redundant_with=credit.redundant_with,
    )


def fold_without_model(credits_: Sequence[Credit], threshold: float) -> EditDirection:
    """What is used when the aggregator's answer could not be had: mean credit, first edit.

    ``threshold`` in [-1, 0]: at or below it the verdict is low utility.
    """
    mean = mean_credit(credits_)
    edit = next((credit.suggested_edit for credit in credits_ if credit.suggested_edit), "")
    if mean <= threshold + SLACK:
        verdict = Direction.LOW_UTILITY
    else:
        verdict = Direction.REFINE if edit else Direction.KEEP
    return EditDirection(
        agent=credits_[0].agent,
        skill=credits_[0].skill,
        verdict=verdict,
        mean_credit=mean,
        utility_score=mean,
        questions=tuple(sorted({credit.question for credit in credits_})),
        summary=next((credit.reason for credit in credits_ if credit.reason), ""),
        suggested_edit=edit,
        redundant_with=tuple(sorted({name for c in credits_ for name in c.redundant_with})),
    )


def update_utilities(
    utilities: Mapping[Pair, float], directions: Iterable[EditDirection], momentum: float
) -> dict[Pair, float]:
    """``u ← (1 − β)·u + β·mean credit`` from 0 on; skills without credit keep theirs.

    ``momentum`` is β in (0, 1]; 1 forgets the past (method.md 2.4).
    """
    updated = dict(utilities)
    for direction in directions:
        pair = (direction.agent, direction.skill)
        old = updated.get(pair, 0.0)
        updated[pair] = (1 - momentum) * old + momentum * direction.mean_credit
    return updated


def patterns(
    diagnoses: Iterable[Diagnosis], mean_rewards: Mapping[str, float]
) -> tuple[Pattern, ...]:
    """Diagnoses grouped by (agent, failure type, skill, action), strongest first.

    Order: support (distinct questions) falling, then the summed loss ``Σ(1 − mean reward)`` of the
    supporting questions falling, then the key. ``mean_rewards`` is per question id, in [0, 1].
    """
    grouped: defaultdict[tuple[str, str, str, str], list[Diagnosis]] = defaultdict(list)
    for diagnosis in diagnoses:
        key = (
            diagnosis.agent,
            diagnosis.failure_type,
            diagnosis.skill or "",
            diagnosis.edit_action,
        )
        grouped[key].append(diagnosis)
    found = [_pattern(items, mean_rewards) for _, items in sorted(grouped.items())]
    return tuple(sorted(found, key=lambda p: (-p.support, -p.loss)))


def _pattern(items: Sequence[Diagnosis], mean_rewards: Mapping[str, float]) -> Pattern:
    first = items[0]
    questions = tuple(sorted({item.question for item in items}))
    return Pattern(
        agent=first.agent,
        failure_type=first.failure_type,
        skill=first.skill,
        action=first.edit_action,
        questions=questions,
        loss=math.fsum(1 - mean_rewards[question] for question in questions),
        examples=tuple(items),
    )


def induction_evidence(
    agent: str, found: Sequence[Pattern], feedback: Sequence[Feedback], *, structured: bool
) -> InductionEvidence:
    """E_i: the agent's top three patterns that call for a new skill, with up to six examples each.

    The feedback of the supporting questions goes along. Without structured diagnosis the evidence
    is the feedback that names a missing capability, one per question, most frequent first.
    """
    own = [item for item in feedback if item.agent == agent]
    if not structured:
        return InductionEvidence(agent, feedback=_missing(own))
    chosen = [p for p in found if p.agent == agent and p.action is Operator.INDUCE][:TOP_PATTERNS]
    kept = tuple(replace(p, examples=p.examples[:EXAMPLES_PER_PATTERN]) for p in chosen)
    questions = {question for pattern in kept for question in pattern.questions}
    along = tuple(item for item in own if item.question in questions)
    return InductionEvidence(agent, patterns=kept, feedback=along)


def _missing(feedback: Sequence[Feedback]) -> tuple[Feedback, ...]:
    first: dict[str, Feedback] = {}
    for item in feedback:
        if item.missing_capability:
            first.setdefault(item.question, item)
    counts: defaultdict[str, int] = defaultdict(int)
    for item in first.values():
        counts[item.missing_capability] += 1
    ranked = sorted(
        first.values(),
        key=lambda f: (-counts[f.missing_capability], f.missing_capability, f.question),
    )
    return tuple(ranked)
