"""The simulated critic: associates each agent's behaviour in the steps with the rewards it sees.

It reads what a real critic reads, through the same payload, and knows nothing else of the world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

BRIEF_WORDS = 6
NOTABLE = 0.1
POOR = 0.5


def criticise(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Credits, feedback and diagnoses of one group, from rewards and step outputs alone."""
    rollouts = payload["rollouts"]
    agents = list(dict.fromkeys(step["agent"] for step in rollouts[0]["steps"]))
    credits_, diagnoses = [], []
    for agent in agents:
        effect = behaviour_effect(payload, agent)
        for skill in payload["libraries"].get(agent, ()):
            credits_.append(_credit(payload, agent, skill, effect))
        failure = _failure(payload, agent, effect, last=agent == agents[-1])
        if failure and "citation_constraints" in payload:
            diagnoses.append(_diagnosis(payload, agent, failure))
    return {"credits": credits_, "feedback": [], "diagnoses": [d for d in diagnoses if d]}


def behaviour_effect(payload: Mapping[str, Any], agent: str) -> float:
    """Mean reward of rollouts where the agent behaved as in the best one, minus that of the rest;
    in [-1, 1], 0 when it behaved alike in all."""
    rollouts = payload["rollouts"]
    traits = [_trait(payload, rollout, agent) for rollout in rollouts]
    best = max(range(len(rollouts)), key=lambda g: rollouts[g]["reward"])
    like = [r["reward"] for r, t in zip(rollouts, traits, strict=True) if t == traits[best]]
    unlike = [r["reward"] for r, t in zip(rollouts, traits, strict=True) if t != traits[best]]
    return mean(like) - mean(unlike) if unlike else 0.0


def aggregate(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The mean of the credits with the verdict that goes with it."""
    credits_ = payload["credits"]
    score = round(mean(entry["credit"] for entry in credits_), 1)
    edit = next((c["suggested_edit"] for c in credits_ if c["suggested_edit"]), "")
    verdict = "low_utility" if score <= -0.3 else "refine" if edit else "keep"
    return {
        "verdict": verdict,
        "utility_score": score,
        "summary": credits_[0]["reason"],
        "suggested_edit": edit if verdict == "refine" else "",
        "redundant_with": [],
    }


def _credit(
    payload: Mapping[str, Any], agent: str, skill: Mapping[str, Any], effect: float
) -> dict[str, Any]:
    rewards = [rollout["reward"] for rollout in payload["rollouts"]]
    briefs = [_trait(payload, rollout, agent) == "brief" for rollout in payload["rollouts"]]
    body = _text(payload, skill["body"]).lower()
    asks_brief = "short" in body or "only" in body
    asks_long = "sentences" in body
    score = 0.0
    if asks_brief and any(briefs):
        score = effect if any(not brief for brief in briefs) else mean(rewards) - 0.2
    elif asks_long:
        score = mean(rewards) - 0.8
    score = max(-1.0, min(1.0, round(score, 1)))
    verdict = "helpful" if score > 0 else "harmful" if score < 0 else "neutral"
    how = {"helpful": "raised", "harmful": "lowered", "neutral": "did not change"}[verdict]
    return {
        "agent": agent,
        "skill": skill["name"],
        "verdict": verdict,
        "credit": score,
        "reason": f"Rollouts that follow this skill {how} the reward.",
        "evidence": [],
        "suggested_edit": "",
        "redundant_with": [],
    }


def _failure(payload: Mapping[str, Any], agent: str, effect: float, *, last: bool) -> str | None:
    """What the agent does wrong in this group: nothing, ``format`` (too long) or ``retrieval``."""
    rollouts = payload["rollouts"]
    poor = [rollout for rollout in rollouts if not rollout["full_reward"]]
    if not poor:
        return None
    wordy = any(_trait(payload, rollout, agent) == "wordy" for rollout in poor)
    if last and wordy and (effect > NOTABLE or mean(r["reward"] for r in rollouts) < POOR):
        return "format"
    return "retrieval" if not last and effect > NOTABLE else None


def _diagnosis(payload: Mapping[str, Any], agent: str, failure: str) -> dict[str, Any] | None:
    rollouts = payload["rollouts"]
    poor = [rollout for rollout in rollouts if not rollout["full_reward"]]
    worst = min(poor, key=lambda rollout: rollout["reward"])
    full = [rollout for rollout in rollouts if rollout["full_reward"]]
    explanation = {
        "format": "The answer repeats a whole sentence where better runs give a phrase.",
        "retrieval": "The note passes on another sentence than the better runs do.",
    }[failure]
    return {
        "agent": agent,
        "skill": None,
        "failure_type": failure,
        "edit_action": "induce",
        "cited_steps": _steps([worst], agent),
        "contrast_steps": _steps(full[:1], agent),
        "explanation": explanation,
    }


def _steps(rollouts: Sequence[Mapping[str, Any]], agent: str) -> list[dict[str, int]]:
    return [
        {"rollout": rollout["rollout"], "step": step["step"]}
        for rollout in rollouts
        for step in rollout["steps"]
        if step["agent"] == agent
    ]


def _trait(payload: Mapping[str, Any], rollout: Mapping[str, Any], agent: str) -> str:
    """What can be seen of an agent's behaviour: how long the last agent's answer is, which text an
    earlier agent passed on."""
    own = [step for step in rollout["steps"] if step["agent"] == agent]
    output = _text(payload, own[-1]["output"]) if own else ""
    if own and own[-1] == rollout["steps"][-1]:
        return "brief" if len(output.split()) <= BRIEF_WORDS else "wordy"
    return output


def _text(payload: Mapping[str, Any], value: Any) -> str:
    """A text with its shared parts put back."""
    if isinstance(value, str):
        return value
    if "ref" in value:
        return _text(payload, payload["shared_texts"][value["ref"]])
    return "\n\n".join(_text(payload, part) for part in value["parts"])
