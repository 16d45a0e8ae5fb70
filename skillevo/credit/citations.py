"""The rules that tie a critic's answer to the group: who may be credited, what may be cited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillevo.types import Citation, Group, Operator, Team

SLACK = 1e-9
FAILURE_TYPES = (
    "retrieval",
    "evidence_use",
    "reasoning",
    "format",
    "abstention",
    "tool_use",
    "handoff",
    "instruction_conflict",
    "other",
)


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a diagnosis of one group may say. ``step_agents[g][k]`` made step k of rollout g."""

    skills: dict[str, tuple[str, ...]]
    step_agents: tuple[tuple[str, ...], ...]
    advantages: tuple[float, ...]
    full: frozenset[int]
    failure_types: tuple[str, ...]

    @property
    def others(self) -> tuple[int, ...]:
        """The rollouts without full reward."""
        return tuple(g for g in range(len(self.step_agents)) if g not in self.full)

    def steps_of(self, agent: str, rollouts: Sequence[int]) -> tuple[int, ...]:
        """The step numbers that ``agent`` made in any of the rollouts."""
        numbers = {
            k for g in rollouts for k, name in enumerate(self.step_agents[g]) if name == agent
        }
        return tuple(sorted(numbers))


def constraints_of(
    team: Team, group: Group, failure_types: Sequence[str], full_reward: float = 1.0
) -> Constraints:
    """The constraints of a group; full reward is ``r ≥ full_reward − 1e-9`` (method.md 2.3)."""
    return Constraints(
        skills={library.agent: library.names for library in team.libraries},
        step_agents=tuple(tuple(s.agent for s in t.steps) for t in group.trajectories),
        advantages=group.advantages,
        full=frozenset(g for g, r in enumerate(group.rewards) if r >= full_reward - SLACK),
        failure_types=(*FAILURE_TYPES, *failure_types),
    )


def target_fault(rules: Constraints, agent: str, skill: str | None) -> str | None:
    """Why (agent, skill) is no target, or None when it is."""
    if agent not in rules.skills:
        return f"there is no agent {agent!r}; agents are {', '.join(rules.skills)}"
    if skill is not None and skill not in rules.skills[agent]:
        present = ", ".join(rules.skills[agent]) or "none"
        return f"agent {agent!r} has no skill {skill!r}; its skills are: {present}"
    return None


def diagnosis_fault(
    rules: Constraints,
    agent: str,
    skill: str | None,
    failure_type: str,
    action: Operator,
    cited: Sequence[Citation],
    contrast: Sequence[Citation],
) -> str | None:
    """The first constraint that a diagnosis breaks, as a sentence for the critic, or None."""
    if not rules.others:
        return "every rollout has full reward, so there is nothing to diagnose"
    if fault := target_fault(rules, agent, skill):
        return fault
    if failure_type not in rules.failure_types:
        return f"failure_type {failure_type!r} is none of {', '.join(rules.failure_types)}"
    if skill is None and action is not Operator.INDUCE:
        return f"edit_action {action.value} needs the skill it is about"
    return _cited_fault(rules, agent, cited) or _contrast_fault(rules, cited, contrast)


def exists(rules: Constraints, citation: Citation) -> bool:
    """True when the group has that rollout and the rollout has that step."""
    return citation.rollout < len(rules.step_agents) and citation.step < len(
        rules.step_agents[citation.rollout]
    )


def _cited_fault(rules: Constraints, agent: str, cited: Sequence[Citation]) -> str | None:
    if not cited:
        return "cited_steps is empty"
    for c in cited:
        if not exists(rules, c):
            return f"cited step {c.step} of rollout {c.rollout} does not exist"
        if c.rollout in rules.full:
            return f"cited rollout {c.rollout} has full reward"
        if rules.step_agents[c.rollout][c.step] != agent:
            return f"cited step {c.step} of rollout {c.rollout} was not made by {agent}"
    return None


def _contrast_fault(
    rules: Constraints, cited: Sequence[Citation], contrast: Sequence[Citation]
) -> str | None:
    best_cited = max(rules.advantages[c.rollout] for c in cited)
    for c in contrast:
        if not exists(rules, c):
            return f"contrast step {c.step} of rollout {c.rollout} does not exist"
        if rules.full and c.rollout not in rules.full:
            return f"contrast rollout {c.rollout} does not have full reward"
        if not rules.full and rules.advantages[c.rollout] <= best_cited:
            return f"contrast rollout {c.rollout} is no better than the cited ones"
    return None
