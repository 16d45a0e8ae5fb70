"""The tables of agents and models: names, role files, defaults and inheritance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillevo.config.places import line_of, place_of
from skillevo.config.values import GateConfig, ModelConfig
from skillevo.errors import ConfigError
from skillevo.types import Agent, ModelRole, Sampling, Thinking

# The published settings: method.md 2.8; critic and optimizer decode greedily (chosen).
_MODEL_DEFAULTS: Mapping[ModelRole, Mapping[str, Any]] = {
    ModelRole.ACTOR: {"max_tokens": 4096, "temperature": 1.0, "top_p": 0.95, "top_k": 20},
    ModelRole.CRITIC: {"max_tokens": 4000},
    ModelRole.OPTIMIZER: {"max_tokens": 1200},
}
_INHERITED = (
    "base_url",
    "model",
    "gguf",
    "api_key_env",
    "context_tokens",
    "in_flight",
    "timeout_s",
    "thinking",
)
_INHERITS_FROM = {ModelRole.CRITIC: ModelRole.ACTOR, ModelRole.OPTIMIZER: ModelRole.CRITIC}


def read_agents(path: Path, text: str, entries: list[dict[str, Any]]) -> tuple[Agent, ...]:
    agents: list[Agent] = []
    for index, entry in enumerate(entries):
        name = entry["name"]
        if name in {agent.name for agent in agents}:
            at = line_of(text, ("team", "agents", index, "name"))
            raise ConfigError(
                f"{place_of(path, at)}: two agents are called {name!r}",
                why="an agent's name is also its folder skills/<name>/",
                fix="give each [[team.agents]] its own name",
            )
        role = path.parent / entry["role"]
        at = line_of(text, ("team", "agents", index, "role"))
        try:
            content = role.read_text(encoding="utf-8-sig").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"{place_of(path, at)}: role file {entry['role']} of agent {name!r} cannot be read",
                why=str(error),
                fix=f"write the role prompt to {role}",
            ) from error
        if not content:
            raise ConfigError(
                f"{role}: the role of agent {name!r} is empty",
                why="an agent without a role has nothing to do",
                fix="say in two or three sentences what the agent's job is",
            )
        agents.append(Agent(name, content))
    return tuple(agents)


def read_models(
    path: Path, text: str, tables: Mapping[str, dict[str, Any]]
) -> dict[ModelRole, ModelConfig]:
    raw: dict[ModelRole, dict[str, Any]] = {}
    for role in ModelRole:
        own = dict(tables.get(role, {}))
        parent = _INHERITS_FROM.get(role)
        if parent is not None and "base_url" not in own:
            own = {key: raw[parent][key] for key in _INHERITED if key in raw[parent]} | own
        raw[role] = own
    models = {}
    for role, table in raw.items():
        if "base_url" not in table:
            at = line_of(text, ("models", role.value))
            raise ConfigError(
                f"{place_of(path, at)}: [models.{role}] has no base_url",
                why="skillevo must know where the model is served",
                fix='base_url = "http://localhost:8000/v1", "embedded" or "simulated"',
            )
        models[role] = _model(path, text, role, {**_MODEL_DEFAULTS[role], **table})
    return models


def _model(path: Path, text: str, role: ModelRole, table: Mapping[str, Any]) -> ModelConfig:
    base_url = table["base_url"].rstrip("/")
    remote = base_url.startswith("http")
    if remote and "model" not in table:
        at = line_of(text, ("models", role.value, "base_url"))
        raise ConfigError(
            f"{place_of(path, at)}: [models.{role}] has no model",
            why="a server can serve several",
            fix=f'add model = "…"; {base_url}/models lists them',
        )
    sampling = Sampling(**{name: table[name] for name in Sampling.__slots__ if name in table})
    return ModelConfig(
        base_url=base_url,
        model=table.get("model", base_url),
        sampling=sampling,
        max_tokens=table["max_tokens"],
        thinking=Thinking(table.get("thinking", "off" if remote else "default")),
        context_tokens=table.get("context_tokens", 65536 if remote else 4096),
        in_flight=table.get("in_flight", 64 if remote else 1),
        timeout_s=table.get("timeout_s", 600.0),
        gguf=path.parent / Path(table["gguf"]).expanduser() if "gguf" in table else None,
        api_key_env=table.get("api_key_env", ""),
    )


def check_sampling(
    path: Path, text: str, actor: ModelConfig, evolve: Mapping[str, Any], gate: GateConfig
) -> None:
    if evolve["group_size"] > 1 and actor.sampling.greedy:
        at = line_of(text, ("models", "actor", "temperature"))
        raise ConfigError(
            f"{place_of(path, at)}: models.actor.temperature is 0 with "
            f"evolve.group_size = {evolve['group_size']}",
            why="all rollouts of a group would be the same sample",
            fix="set a temperature above 0, or group_size = 1",
        )
    if gate.repeats > 1 and (gate.sampling == "greedy" or actor.sampling.greedy):
        at = line_of(text, ("gate", "repeats"))
        raise ConfigError(
            f"{place_of(path, at)}: gate.repeats = {gate.repeats} with greedy validation",
            why="every repeat would be the same rollout",
            fix='set gate.sampling = "training", or repeats = 1',
        )
