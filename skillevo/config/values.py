"""What a checked project is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillevo.types import Agent, ModelRole, Sampling, Thinking

CONFIG_NAME = "skillevo.toml"


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
    full_reward: float
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
    """A whole project, checked. ``root`` is the folder of skillevo.toml; ``settings`` is everything
    that decides what a run does, as plain values, and ``digest`` its digest; ``files`` are what it
    and its roles and data were read from."""

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
    files: tuple[Path, ...]
    settings: Mapping[str, Any]
    digest: str

    @property
    def simulated(self) -> bool:
        """True when any model is the simulated one: such a run is labelled everywhere."""
        return any(model.base_url == "simulated" for model in self.models.values())
