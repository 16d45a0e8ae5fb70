"""A scripted critic and aggregator for tests of the method and the pipeline."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fakes.evolution import SAMPLED, behaving, payload_of
from fakes.operating import make_tools

from skillevo.ask.seat import Seat
from skillevo.credit.aggregator import Aggregator
from skillevo.credit.critic import Critic
from skillevo.methods.grse import Grse
from skillevo.operators import consolidate, examples, induce, prune, refine
from skillevo.ports import ChatModel
from skillevo.types import ChatRequest, ModelRole, Sampling, Thinking

Reply = Callable[[dict[str, Any], ChatRequest], dict[str, Any] | str]


def make_seat(model: ChatModel, max_tokens: int, sampling: Sampling = SAMPLED) -> Seat:
    """The critic's seat at a model."""
    return Seat(model, ModelRole.CRITIC, sampling, max_tokens, Thinking.OFF, 1)


def titled(**replies: Reply) -> Callable[[ChatRequest], str]:
    """A behaviour that answers by the title of the schema asked for: ``critic``, ``aggregate``,
    ``refine`` or ``draft``."""

    def behave(request: ChatRequest) -> str:
        title = str(json.loads(request.schema).get("title", "skill draft"))
        key = next((key for key in replies if title.startswith(key)), "draft")
        answer = replies[key](payload_of(request), request)
        return answer if isinstance(answer, str) else json.dumps(answer)

    return behave


def make_grse(
    behaviour: Callable[[ChatRequest], str],
    schedule: dict[str, int],
    structured: bool = True,
    **tools: Any,
) -> Grse:
    """The method with all built-in operators around one scripted model."""
    model = behaving(behaviour)
    made = make_tools(**{"model": model, **tools})
    rooms = {"refine": refine, "consolidate": consolidate, "prune": prune, "induce": induce,
             "examples": examples}  # fmt: skip
    return Grse(
        critic=Critic(make_seat(model, 4000), structured=structured),
        aggregator=Aggregator(make_seat(model, 1200), -0.3),
        operators={name: room.build(made) for name, room in rooms.items()},
        schedule=schedule,
        momentum=0.4,
        library_limit=made.library_limit,
        notify=lambda assessment: None,
    )
