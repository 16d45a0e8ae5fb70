"""What a run says of itself when it begins: in its directory and in the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillevo import __version__
from skillevo.app.compose import Project
from skillevo.app.origin import Origin
from skillevo.core.evidence import dump, questions_digest
from skillevo.ports import ChatModel
from skillevo.store.codec import plain
from skillevo.types import ModelRole, Split


def evidence_record(project: Project, run: str, models: Mapping[ModelRole, ChatModel]) -> str:
    """The evidence's ``run.json``: what the run is made of, with no place of this machine in it."""
    config = project.config
    settings = {
        "topology": config.topology,
        "environment": config.task.environment,
        "metric": config.task.metric,
        "evolve": config.evolve,
        "gate": config.gate,
        "budget": config.budget,
    }
    splits = {s.value: tuple(project.environment.questions(s)) for s in Split}
    value = {
        "run": run,
        "skillevo": __version__,
        "base": project.base,
        "seed": config.seed,
        "simulated": config.simulated,
        "config_digest": config.digest,
        "agents": [agent.name for agent in config.agents],
        "settings": settings,
        "models": {
            role.value: {
                "model": models[role].identity.model,
                "revision": models[role].identity.revision,
                "sampling": table.sampling,
                "max_tokens": table.max_tokens,
                "thinking": table.thinking,
            }
            for role, table in config.models.items()
        },
        "data": {name: questions_digest(asked) for name, asked in splits.items() if asked},
    }
    return dump("run", plain(value))


def description(
    project: Project, start: Origin, models: Mapping[ModelRole, ChatModel]
) -> dict[str, Any]:
    """What a run was made of, for the record: versions, models, sampling, data, digests."""
    config = project.config
    return {
        "run": start.run,
        "skillevo": __version__,
        "base": project.base,
        "seed": config.seed,
        "simulated": config.simulated,
        "config_digest": config.digest,
        "method": config.evolve,
        "gate": config.gate,
        "budget": config.budget,
        "models": {
            role.value: {
                "identity": models[role].identity,
                "sampling": table.sampling,
                "max_tokens": table.max_tokens,
                "thinking": table.thinking,
            }
            for role, table in config.models.items()
        },
    }
