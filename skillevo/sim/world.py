"""The behaviour behind ``base_url = "simulated"``: which of the three parts answers a request."""

from __future__ import annotations

import json

from skillevo.sim.actor import act
from skillevo.sim.critic import aggregate, criticise
from skillevo.sim.optimizer import draft, refine
from skillevo.types import ChatRequest, ModelRole


def behave(request: ChatRequest) -> str:
    """The answer of the simulated world; a function of the request alone, no language model.

    Actors get plain text back; the others JSON for the schema whose title the request carries.
    """
    if request.role is ModelRole.ACTOR or not request.schema:
        return act(request)
    payload = json.loads(request.messages[1].content.partition("INPUT:\n")[2])
    match json.loads(request.schema).get("title"):
        case "critic reply":
            answer = criticise(payload)
        case "aggregate reply":
            answer = aggregate(payload)
        case "refine reply":
            answer = refine(payload)
        case _:
            answer = draft(payload)
    return json.dumps(answer, ensure_ascii=False)
