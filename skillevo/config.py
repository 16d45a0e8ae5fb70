"""``skillevo.toml`` → a frozen, checked Config. Defaults live in ``schemas/config.schema.json``."""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillevo.errors import ConfigError
from skillevo.schemas import Violation, load_schema, violations
from skillevo.types import Agent, ModelRole, Sampling, Thinking

CONFIG_NAME = "skillevo.toml"

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


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One model table. ``base_url`` is an http URL, ``embedded`` or ``simulated``."""

    base_url: str
    model: str
    sampling: Sampling
    max_tokens: int
    thinking: Thinking
    context_tokens: int
    in_flight: int
    timeout_s: float
    gguf: Path | None
    api_key_env: str

    @property
    def endpoint(self) -> tuple[str, str, str, str]:
        """What makes two tables share one client: URL, model, file and key variable."""
        return self.base_url, self.model, str(self.gguf or ""), self.api_key_env


@dataclass(frozen=True, slots=True)
class TaskConfig:
    """Where questions come from; paths are absolute."""

    environment: str
    train: Path
    validation: Path
    test: Path | None
    metric: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EvolveConfig:
    """Settings of the method; see the schema for each key's meaning."""

    method: str
    iterations: int
    batch: int
    group_size: int
    library_limit: int
    group_filter: str
    structured_diagnosis: bool
    category_label: bool
    momentum: float
    prune_threshold: float
    prune_on: str
    prune_min_questions: int
    keep_last: bool
    failure_types: tuple[str, ...]
    schedule: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class GateConfig:
    """Settings of the gate."""

    policy: str
    tolerance: float
    repeats: int
    questions: int
    sampling: str
    reuse_base: bool


@dataclass(frozen=True, slots=True)
class BudgetConfig:
    """Caps of a run; 0 is no cap."""

    minutes: float
    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Config:
    """A whole project, checked. ``root`` is the folder of skillevo.toml."""

    root: Path
    name: str
    seed: int
    topology: str
    agents: tuple[Agent, ...]
    task: TaskConfig
    models: Mapping[ModelRole, ModelConfig]
    evolve: EvolveConfig
    gate: GateConfig
    budget: BudgetConfig
    digest: str

    @property
    def simulated(self) -> bool:
        """True when any model is the simulated one: such a run is labelled everywhere."""
        return any(model.base_url == "simulated" for model in self.models.values())


def find_root(start: Path) -> Path:
    """The nearest folder at or above ``start`` that holds a skillevo.toml.

    Raises ConfigError when there is none.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / CONFIG_NAME).is_file():
            return folder
    raise ConfigError(
        f"no {CONFIG_NAME} in {start} or above",
        why="this is not a skillevo project yet",
        fix="skillevo init . --template qa",
    )


def load_config(root: Path, overrides: Mapping[str, Mapping[str, Any]] | None = None) -> Config:
    """The project at ``root``, with command-line overrides by section laid over the file.

    Raises ConfigError naming key, file and, where known, line.
    """
    path = root.resolve() / CONFIG_NAME
    text = _read(path)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # ValueError: an integer of thousands of digits is told so, not as a TOMLDecodeError.
        raise ConfigError(
            f"{path}: broken TOML", why=str(error), fix="correct that line and run again"
        ) from error
    found = violations(document, "config")
    if found:
        raise _schema_error(path, text, found)
    _check_values(path, text, document, ())
    for section, values in (overrides or {}).items():
        document.setdefault(section, {}).update(values)
    found = violations(document, "config")
    if found:
        raise ConfigError(
            f"option for {found[0].where}: {found[0].message}",
            why=_description(found[0].path),
            fix="correct the option; --help lists them",
        )
    return _build(path, text, document)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(
            f"{path} does not exist", why="not a skillevo project", fix="skillevo init DIR"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read", why=str(error), fix="save it as UTF-8"
        ) from error


def _build(path: Path, text: str, document: Mapping[str, Any]) -> Config:
    root = path.parent
    full = _with_defaults(document, load_schema("config"))
    project, task, evolve = full["project"], full["task"], full["evolve"]
    agents = _agents(path, text, full["team"]["agents"])
    models = _models(path, text, full["models"])
    gate = GateConfig(**full["gate"])
    _check_sampling(path, text, models[ModelRole.ACTOR], evolve, gate)
    return Config(
        root=root,
        name=project["name"],
        seed=project["seed"],
        topology=full["team"]["topology"],
        agents=agents,
        task=TaskConfig(
            environment=task["environment"],
            train=root / task["train"],
            validation=root / task["validation"],
            test=root / task["test"] if task["test"] else None,
            metric=task["metric"],
            options=task["options"],
        ),
        models=models,
        evolve=EvolveConfig(**{**evolve, "failure_types": tuple(evolve["failure_types"])}),
        gate=gate,
        budget=BudgetConfig(**full["budget"]),
        digest=_digest(full, agents),
    )


def _check_values(path: Path, text: str, value: Any, at: tuple[str | int, ...]) -> None:
    """Raise ConfigError for a value of a right type that no schema can refuse: nan, inf, a NUL in a
    string, 2.0 where a whole number is counted."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            _check_values(path, text, item, (*at, key))
        return
    whole = isinstance(value, float) and _type_at(at) == "integer"
    infinite = isinstance(value, float) and not math.isfinite(value)
    if whole or infinite or (isinstance(value, str) and "\0" in value):
        need = "a whole number" if whole else "a number" if infinite else "free of NUL characters"
        key = Violation(at, "").where
        raise ConfigError(
            f"{_place(path, line_of(text, at))}: {key}: {value!r} is not {need}",
            why=_description(at) or "the value cannot be used",
            fix="correct the value; docs/config.md lists every key",
        )


def _digest(full: Mapping[str, Any], agents: tuple[Agent, ...]) -> str:
    content = {"config": full, "roles": [[agent.name, agent.role] for agent in agents]}
    # str: a date or time among the environment's free options.
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _with_defaults(value: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """``value`` with every absent key that has a default, recursively through objects."""
    out = dict(value)
    for key, sub in schema.get("properties", {}).items():
        if "default" in sub:
            out.setdefault(key, sub["default"])
        elif "properties" in sub and key not in schema.get("required", ()):
            out.setdefault(key, {})
        if isinstance(out.get(key), dict) and "properties" in sub:
            out[key] = _with_defaults(out[key], sub)
    return out


def _agents(path: Path, text: str, entries: list[dict[str, Any]]) -> tuple[Agent, ...]:
    agents: list[Agent] = []
    for index, entry in enumerate(entries):
        name = entry["name"]
        if name in {agent.name for agent in agents}:
            at = line_of(text, ("team", "agents", index, "name"))
            raise ConfigError(
                f"{_place(path, at)}: two agents are called {name!r}",
                why="an agent's name is also its folder skills/<name>/",
                fix="give each [[team.agents]] its own name",
            )
        role = path.parent / entry["role"]
        at = line_of(text, ("team", "agents", index, "role"))
        try:
            content = role.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"{_place(path, at)}: role file {entry['role']} of agent {name!r} cannot be read",
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


def _models(
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
                f"{_place(path, at)}: [models.{role}] has no base_url",
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
            f"{_place(path, at)}: [models.{role}] has no model",
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
        in_flight=table.get("in_flight", 64 if remote else 2),
        timeout_s=table.get("timeout_s", 600.0),
        gguf=path.parent / Path(table["gguf"]).expanduser() if "gguf" in table else None,
        api_key_env=table.get("api_key_env", ""),
    )


def _check_sampling(
    path: Path, text: str, actor: ModelConfig, evolve: Mapping[str, Any], gate: GateConfig
) -> None:
    if evolve["group_size"] > 1 and actor.sampling.greedy:
        at = line_of(text, ("models", "actor", "temperature"))
        raise ConfigError(
            f"{_place(path, at)}: models.actor.temperature is 0 with "
            f"evolve.group_size = {evolve['group_size']}",
            why="all rollouts of a group would be the same sample",
            fix="set a temperature above 0, or group_size = 1",
        )
    if gate.repeats > 1 and (gate.sampling == "greedy" or actor.sampling.greedy):
        at = line_of(text, ("gate", "repeats"))
        raise ConfigError(
            f"{_place(path, at)}: gate.repeats = {gate.repeats} with greedy validation",
            why="every repeat would be the same rollout",
            fix='set gate.sampling = "training", or repeats = 1',
        )


# --- places ---------------------------------------------------------------------------------------

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*["']?([A-Za-z0-9_-]+)["']?\s*(?:\.|=)""")


def line_of(text: str, path: tuple[str | int, ...]) -> int | None:
    """The 1-based line where the key at ``path`` stands, its table's line, or None.

    A best effort over TOML's usual layout (tables and bare keys); it only serves error messages.
    """
    counts: dict[str, int] = {}
    where: tuple[str | int, ...] = ()
    best: tuple[int, int] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        here: tuple[str | int, ...]
        if header := _HEADER.match(line):
            name = header[2].replace('"', "").replace(" ", "")
            where = tuple(name.split("."))
            if header[1] == "[[":
                where += (counts.get(name, 0),)
                counts[name] = counts.get(name, 0) + 1
            here = where
        elif key := _KEY.match(line):
            here = (*where, key[1])
        else:
            continue
        if path[: len(here)] == here and (best is None or len(here) > best[0]):
            best = (len(here), number)
    return best[1] if best else None


def _place(path: Path, line: int | None) -> str:
    return f"{path}:{line}" if line else str(path)


def _schema_error(path: Path, text: str, found: list[Violation]) -> ConfigError:
    first = found[0]
    if first.validator == "additionalProperties":
        return _unknown_key(path, text, first)
    more = f" ({len(found) - 1} more problems in this file)" if len(found) > 1 else ""
    place = _place(path, line_of(text, first.path))
    return ConfigError(
        f"{place}: {first.where}: {first.message}{more}",
        why=_description(first.path) or "the value does not fit the schema of skillevo.toml",
        fix="correct the value; docs/config.md lists every key",
    )


def _unknown_key(path: Path, text: str, violation: Violation) -> ConfigError:
    schema = _subschema(violation.path)
    known = sorted(schema.get("properties", {}))
    value: Any = tomllib.loads(text)
    for part in violation.path:
        value = value[part]
    unknown = next(key for key in value if key not in known)
    close = difflib.get_close_matches(unknown, known, n=1)
    place = _place(path, line_of(text, (*violation.path, unknown)))
    table = violation.where if violation.path else "the file"
    return ConfigError(
        f"{place}: unknown key {unknown!r} in {table}",
        why="an unknown key would be ignored silently",
        fix=f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(known)}",
    )


def _subschema(path: tuple[str | int, ...]) -> dict[str, Any]:
    root = load_schema("config")
    schema: dict[str, Any] = root
    for part in path:
        schema = schema.get("items", {}) if isinstance(part, int) else schema["properties"][part]
        if "$ref" in schema:
            schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


def _description(path: tuple[str | int, ...]) -> str:
    return str(_known_subschema(path).get("description", ""))


def _type_at(path: tuple[str | int, ...]) -> str:
    return str(_known_subschema(path).get("type", ""))


def _known_subschema(path: tuple[str | int, ...]) -> dict[str, Any]:
    try:
        return _subschema(path)
    except KeyError:
        return {}
