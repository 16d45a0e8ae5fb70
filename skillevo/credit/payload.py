"""The critic's input: one JSON payload per group in which repeated text stands once, losslessly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from skillevo.types import Group, Step, StepKind, Team, Trajectory

BREAK = "\n\n"
MIN_SHARED = 40
NOT_GROUPED = "not_grouped"


def group_payload(
    team: Team, group: Group, full: frozenset[int], *, category: bool, constraints: bool
) -> dict[str, Any]:
    """Everything the critic reads of a group (method.md 2.3), not yet shared.

    ``full`` holds the indices of full-reward rollouts; the reference answers are no part of it.
    """
    question = group.question
    payload: dict[str, Any] = {
        "task": {"question": question.text, "given": question.context},
        "task_category": (question.category or NOT_GROUPED) if category else NOT_GROUPED,
        "libraries": {
            library.agent: [
                {"name": skill.name, "description": skill.description, "body": skill.body}
                for skill in library.skills
            ]
            for library in team.libraries
        },
        "rollouts": [
            _rollout(index, trajectory, advantage, index in full)
            for index, (trajectory, advantage) in enumerate(
                zip(group.trajectories, group.advantages, strict=True)
            )
        ],
    }
    if constraints:
        payload["citation_constraints"] = _constraints(group, full)
    return payload


def _rollout(
    index: int, trajectory: Trajectory, advantage: float, full_reward: bool
) -> dict[str, Any]:
    reward = trajectory.reward if trajectory.reward is not None else 0.0
    return {
        "rollout": index,
        "reward": round(reward, 4),
        "advantage": round(advantage, 4),
        "full_reward": full_reward,
        "final_answer": trajectory.answer,
        "steps": [_step(step) for step in trajectory.steps],
        "skill_use": [
            {"agent": row.agent, "skill": row.skill, "kind": row.kind.value, "step": row.step}
            for row in trajectory.trace
        ],
    }


def _step(step: Step) -> dict[str, Any]:
    if step.kind is StepKind.TOOL:
        return {
            "step": step.index,
            "agent": step.agent,
            "tool": step.tool,
            "argument": step.argument,
            "result": step.output,
        }
    return {
        "step": step.index,
        "agent": step.agent,
        "input": [message.content for message in step.messages],
        "output": step.output,
        "cut_off": step.truncated,
    }


def _constraints(group: Group, full: frozenset[int]) -> dict[str, Any]:
    count = len(group.trajectories)
    return {
        "full_reward_rollouts": sorted(full),
        "other_rollouts": [index for index in range(count) if index not in full],
        "agent_of_step": [[step.agent for step in t.steps] for t in group.trajectories],
    }


# --- sharing --------------------------------------------------------------------------------------


def share_texts(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with every repeated text of 40 or more characters once under ``shared_texts``.

    A repeated string becomes ``{"ref": id}``; a string of which only blocks between blank lines
    repeat becomes ``{"parts": [text or {"ref": id}, …]}``, and so does a shared text.
    ``expand_texts`` gives it back exactly.
    """
    strings = Counter(_strings(payload))
    blocks = Counter(block for text in strings if BREAK in text for block in text.split(BREAK))
    counts = strings + blocks
    repeated = [text for text, n in counts.items() if n > 1 and len(text) >= MIN_SHARED]
    ids = {text: f"t{number}" for number, text in enumerate(repeated, start=1)}
    texts = {id_: _replace_blocks(text, ids) for text, id_ in ids.items()}
    return {"shared_texts": texts, **_replace(payload, ids)}


def expand_texts(shared: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of ``share_texts``."""
    texts = shared["shared_texts"]
    rest = {key: value for key, value in shared.items() if key != "shared_texts"}
    expanded: dict[str, Any] = _expand(rest, texts)
    return expanded


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif _is_list(value):
        for item in value:
            yield from _strings(item)


def _replace(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return {"ref": ids[value]} if value in ids else _replace_blocks(value, ids)
    if isinstance(value, Mapping):
        return {key: _replace(item, ids) for key, item in value.items()}
    return [_replace(item, ids) for item in value] if _is_list(value) else value


def _replace_blocks(text: str, ids: Mapping[str, str]) -> Any:
    blocks = text.split(BREAK)
    if len(blocks) == 1 or not any(block in ids for block in blocks):
        return text
    parts: list[Any] = []
    plain: list[str] = []
    for block in blocks:
        if block in ids:
            parts += [BREAK.join(plain)] if plain else []
            parts.append({"ref": ids[block]})
            plain = []
        else:
            plain.append(block)
    return {"parts": parts + ([BREAK.join(plain)] if plain else [])}


def _expand(value: Any, texts: Mapping[str, Any]) -> Any:
    if _is_reference(value):
        return _expand(texts[value["ref"]], texts)
    if _is_parts(value):
        return BREAK.join(_expand(part, texts) for part in value["parts"])
    if isinstance(value, Mapping):
        return {key: _expand(item, texts) for key, item in value.items()}
    return [_expand(item, texts) for item in value] if _is_list(value) else value


# An agent may be called "ref" or "parts": what stands under such a key tells them apart.


def _is_reference(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {"ref"} and isinstance(value["ref"], str)


def _is_parts(value: Any) -> bool:
    if not isinstance(value, Mapping) or set(value) != {"parts"}:
        return False
    parts = value["parts"]
    # A text has two parts or more, an agent's empty library none.
    return _is_list(parts) and len(parts) > 1 and all(_is_part(part) for part in parts)


def _is_part(value: Any) -> bool:
    return isinstance(value, str) or _is_reference(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)
