"""A whole run over a real repository with scripted models, small enough for a unit test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fakes.critique import make_grse, titled
from fakes.evolution import SAMPLED
from fakes.harness import World
from integration.gitbox import RUN, GitBox, store

from skillevo.core.acceptance import Tolerance
from skillevo.core.evidence import dump
from skillevo.llm.simulated import SimulatedChat, SimulatedFaults
from skillevo.pipeline.evolve import evolve
from skillevo.pipeline.gate import Gate
from skillevo.pipeline.run import Run
from skillevo.rollout.episode import ActorSettings
from skillevo.rollout.group import Rollouts
from skillevo.rollout.team import Sequential
from skillevo.store.runs import FOLDER, RunDirectory
from skillevo.types import (
    Agent,
    ChatRequest,
    IterationResult,
    Question,
    RunResult,
    Sampling,
    Team,
)

AGENTS = ("answerer", "reader")
TRAIN = tuple(Question(f"t{n}", f"Train {n}?", ("yes",)) for n in range(4))
VALIDATION = tuple(Question(f"v{n}", f"Validate {n}?", ("yes",)) for n in range(6))
MEASURE = len(VALIDATION) * len(AGENTS)
"""Calls of one measurement of the validation set."""

Hook = Callable[[str, ChatRequest], None]


def record(base: str) -> str:
    """What the run's evidence says it is made of."""
    value: dict[str, Any] = {
        "run": RUN, "skillevo": "0", "base": base, "seed": 1, "simulated": True,
        "config_digest": "", "agents": list(AGENTS), "settings": {}, "models": {}, "data": {},
    }  # fmt: skip
    return dump("run", value)


@dataclass
class Play:
    """A run in the making. The answerer notes a right answer for half of the validation questions
    and the reader repeats it; a skill that says GOOD makes an agent say the right one to all, BAD
    to none. ``hook`` sees every call first and may raise.

    ``bodies`` gives the body of the skill that each agent is proposed, in turn over iterations.
    """

    box: GitBox
    bodies: dict[str, Sequence[str]] = field(default_factory=lambda: {"reader": ["GOOD"]})
    iterations: int = 1
    hook: Hook = lambda stage, request: None
    faults: SimulatedFaults | None = None
    reuse_base: bool = True
    differing_only: bool = False
    group_size: int = 2
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    drafts: dict[str, int] = field(default_factory=dict)
    finished: list[IterationResult] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """The run's directory."""
        return self.box.root / FOLDER / "runs" / RUN

    def record(self, name: str) -> Any:
        """One JSON record of the run."""
        return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The lines of one JSON lines file of the run."""
        lines = (self.folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def run(self) -> RunResult:
        """The run's result."""
        with self.box.repository() as repository:
            base, _ = repository.head()
            git = store(repository)
            libraries = git.team_libraries(base)
            team = Team(
                tuple(Agent(name, f"You are {name}.") for name in AGENTS),
                tuple(libraries[name] for name in AGENTS),
            )
            with RunDirectory.create(self.box.root, RUN, lambda: 0.0, [self._observe]) as log:
                model = SimulatedChat(self._act, faults=self.faults)
                rollouts = Rollouts(World(), Sequential(), model, 4)
                run = Run(
                    id=RUN, base=base, record=record(base),
                    seed=1, iterations=self.iterations, batch=3,
                    group_size=self.group_size, differing_only=self.differing_only,
                    reuse_base=self.reuse_base, train=TRAIN, team=team, rollouts=rollouts,
                    training=ActorSettings(SAMPLED, 64), method=self._method(),
                    gate=Gate(rollouts, VALIDATION, ActorSettings(Sampling(), 64), 1,
                              Tolerance(0.02), 1),
                    store=git, log=log, finished=self.finished.append,
                )  # fmt: skip
                return asyncio.run(evolve(run))

    def _observe(self, kind: str, data: dict[str, Any]) -> None:
        self.events.append((kind, data))

    def _call(self, stage: str, request: ChatRequest) -> None:
        self.calls.append(stage)
        self.hook(stage, request)

    def _act(self, request: ChatRequest) -> str:
        greedy = request.sample is None
        self._call("validation" if greedy else "training", request)
        system, user = (message.content for message in request.messages[:2])
        if not greedy:
            return "yes" if request.sample == 0 else "no"
        if "GOOD" in system or "BAD" in system:
            return "yes" if "GOOD" in system else "no"
        if "Note from" in user:
            return user.rpartition("\n")[2]
        return "yes" if int(user.partition("?")[0][-1]) % 2 else "no"

    def _method(self) -> Any:
        behaviour = titled(critic=self._criticise, draft=self._draft)
        return make_grse(behaviour, {"refine": 1, "induce": 1})

    def _criticise(self, payload: dict[str, Any], request: ChatRequest) -> dict[str, Any]:
        self._call("critic", request)
        diagnoses = [
            {"agent": agent, "skill": None, "failure_type": "format", "edit_action": "induce",
             "cited_steps": [{"rollout": g, "step": AGENTS.index(agent)}], "contrast_steps": []}
            for agent in AGENTS
            for g in payload["citation_constraints"]["other_rollouts"][:1]
        ]  # fmt: skip
        return {"credits": [], "feedback": [], "diagnoses": diagnoses}

    def _draft(self, payload: dict[str, Any], request: ChatRequest) -> dict[str, Any]:
        self._call("optimizer", request)
        agent = payload["agent"]
        number = self.drafts.get(agent, 0)
        self.drafts[agent] = number + 1
        bodies = self.bodies.get(agent, ())
        if number >= len(bodies):
            return {"decision": "none"}
        return {"decision": "skill", "name": "made", "description": "d", "steps": [bodies[number]]}
