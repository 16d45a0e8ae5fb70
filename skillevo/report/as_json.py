"""The JSON that commands print; other tools rely on these shapes (``schema_version``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillevo.library.diff import SkillChange
from skillevo.types import AgentResult, IterationResult, RunResult, Usage

SCHEMA_VERSION = 1


def run_json(result: RunResult, usage: Usage, *, simulated: bool) -> dict[str, Any]:
    """A run: iterations with edits, scores and decisions; calls and tokens per role.

    Token counts that no server reported are null, never 0; so is a score that was not measured.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "run": result.run,
        "base": result.base,
        "branch": result.branch,
        "head": result.head,
        "simulated": simulated,
        "iterations": [_iteration(iteration) for iteration in result.iterations],
        "final_score": result.final_score,
        "calls": {"issued": usage.issued, "reused": usage.reused, "failed": usage.failed},
        "tokens": {
            role.role.value: {
                "prompt": role.prompt_tokens,
                "completion": role.completion_tokens,
                "cached": role.cached_tokens,
            }
            for role in usage.roles
        },
        "not_done": list(result.not_done),
    }


def _iteration(iteration: IterationResult) -> dict[str, Any]:
    critic = iteration.critic
    return {
        "index": iteration.index,
        "base_score": iteration.base_score,
        "groups": iteration.groups,
        "groups_differing": iteration.contrast,
        "mean_reward": iteration.mean_reward,
        "excluded": [{"question": q, "reason": why} for q, why in iteration.excluded],
        "critic": {
            "accepted": critic.accepted,
            "repaired": critic.repaired,
            "unusable": critic.unusable,
            "unavailable": critic.unavailable,
            "rejected_items": critic.rejected_items,
        },
        "agents": [_agent(agent) for agent in iteration.agents],
        "refusals": [
            {
                "operator": refusal.operator.value,
                "agent": refusal.agent,
                "skill": refusal.skill,
                "reason": refusal.reason,
            }
            for refusal in iteration.refusals
        ],
    }


def _agent(agent: AgentResult) -> dict[str, Any]:
    verdict = agent.verdict
    return {
        "agent": agent.agent,
        "edits": [
            {
                "id": entry.id,
                "operator": entry.edit.operator.value,
                "skill": entry.edit.skill,
                "commit": entry.commit,
            }
            for entry in agent.edits
        ],
        "score": verdict.score if verdict else None,
        "standard_error": verdict.standard_error if verdict else None,
        "decision": agent.decision.value,
        "merge": agent.merge or None,
        "n": verdict.n if verdict else None,
        "better": verdict.better if verdict else None,
        "worse": verdict.worse if verdict else None,
    }


def diff_json(changes: Sequence[SkillChange]) -> dict[str, Any]:
    """A structural diff of libraries."""
    return {
        "schema_version": SCHEMA_VERSION,
        "skills": [
            {
                "agent": change.agent,
                "skill": change.skill,
                "change": change.change.value,
                "from": list(change.sources),
                "fields": [
                    {"field": field.field, "before": field.before, "after": field.after}
                    for field in change.fields
                ],
                "sections": [
                    {"heading": section.heading, "change": section.change.value}
                    for section in change.sections
                ],
                "tokens_before": change.tokens_before,
                "tokens_after": change.tokens_after,
                "red_flags": list(change.red_flags),
            }
            for change in changes
        ],
    }
