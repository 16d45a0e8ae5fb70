"""A checked project and its open models made into a Run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from skillevo import plugins
from skillevo.ask.seat import Seat
from skillevo.config import Config
from skillevo.core.acceptance import policy
from skillevo.core.plan import PruneRule
from skillevo.core.seeds import draw
from skillevo.credit.aggregator import Aggregator
from skillevo.credit.critic import Critic
from skillevo.library.standard import Standard
from skillevo.methods.grse import Grse
from skillevo.operators.base import OperatorTools
from skillevo.pipeline.gate import Gate
from skillevo.pipeline.run import Run
from skillevo.ports import ChatModel, Environment, LibraryStore, RunLog
from skillevo.rollout.episode import ActorSettings
from skillevo.rollout.group import Rollouts
from skillevo.rollout.team import TOPOLOGIES
from skillevo.types import Assessment, IterationResult, ModelRole, Question, Sampling, Split, Team

EPISODES_PER_CALL = 2
"""Episodes under way per call in flight: enough to fill every slot, few enough for memory."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project whose inputs were all checked.

    ``base`` is the commit a run starts from; ``uncommitted`` counts skills that differ from it,
    ``drafts`` names the settings, roles and data that do; ``standard`` is what every skill and
    edit must hold.
    """

    config: Config
    environment: Environment
    team: Team
    base: str
    uncommitted: int
    drafts: tuple[str, ...]
    standard: Standard


def compose_run(
    project: Project,
    models: Mapping[ModelRole, ChatModel],
    run: str,
    record: str,
    store: LibraryStore,
    log: RunLog,
    finished: Callable[[IterationResult], None],
) -> Run:
    """The Run of a project with the configured method, gate and topology."""
    config = project.config
    actor = config.models[ModelRole.ACTOR]
    rollouts = Rollouts(
        environment=project.environment,
        topology=TOPOLOGIES[config.topology],
        model=models[ModelRole.ACTOR],
        width=actor.in_flight * EPISODES_PER_CALL,
    )
    training = ActorSettings(actor.sampling, actor.max_tokens, actor.thinking)
    return Run(
        id=run,
        base=project.base,
        record=record,
        seed=config.seed,
        iterations=config.evolve.iterations,
        batch=config.evolve.batch,
        group_size=config.evolve.group_size,
        differing_only=config.evolve.group_filter == "differing",
        reuse_base=config.gate.reuse_base,
        train=tuple(project.environment.questions(Split.TRAIN)),
        team=project.team,
        rollouts=rollouts,
        training=training,
        method=_grse(project, models, log),
        gate=_gate(config, rollouts, training, validation_set(project)),
        store=store,
        log=log,
        finished=finished,
    )


def validation_set(project: Project) -> tuple[Question, ...]:
    """V: the whole validation split, or its fixed seeded subset, in file order."""
    everything = tuple(project.environment.questions(Split.VALIDATION))
    size = project.config.gate.questions or len(everything)
    chosen = set(draw(project.config.seed, "validation", (q.id for q in everything), size))
    return tuple(question for question in everything if question.id in chosen)


def _gate(
    config: Config, rollouts: Rollouts, training: ActorSettings, questions: tuple[Question, ...]
) -> Gate:
    greedy = ActorSettings(Sampling(), training.max_tokens, training.thinking)
    return Gate(
        rollouts=rollouts,
        questions=questions,
        settings=greedy if config.gate.sampling == "greedy" else training,
        repeats=config.gate.repeats,
        policy=policy(config.gate.policy, config.gate.tolerance),
        run_seed=config.seed,
    )


def _grse(project: Project, models: Mapping[ModelRole, ChatModel], log: RunLog) -> Grse:
    config, environment = project.config, project.environment
    settings = config.evolve
    critic_seat = _seat(config, models, ModelRole.CRITIC)
    critic = Critic(
        seat=critic_seat,
        structured=settings.structured_diagnosis,
        category_label=settings.category_label,
        failure_types=settings.failure_types,
        full_reward=settings.full_reward,
        note=environment.note("critic"),
    )
    tools = _tools(config, models, environment)
    return Grse(
        critic=critic,
        aggregator=Aggregator(critic_seat, settings.prune_threshold),
        operators=plugins.operators(settings.schedule, tools),
        schedule=settings.schedule,
        momentum=settings.momentum,
        library_limit=settings.library_limit,
        notify=lambda assessment: _assessed(log, assessment),
        standard=project.standard,
    )


def _tools(
    config: Config, models: Mapping[ModelRole, ChatModel], environment: Environment
) -> OperatorTools:
    settings = config.evolve
    return OperatorTools(
        seat=_seat(config, models, ModelRole.OPTIMIZER),
        library_limit=settings.library_limit,
        prune=PruneRule(
            threshold=settings.prune_threshold,
            on=settings.prune_on,
            min_questions=settings.prune_min_questions,
            keep_last=settings.keep_last,
        ),
        note=environment.note,
        reward=environment.reward,
    )


def _seat(config: Config, models: Mapping[ModelRole, ChatModel], role: ModelRole) -> Seat:
    table = config.models[role]
    return Seat(
        model=models[role],
        role=role,
        sampling=table.sampling,
        max_tokens=table.max_tokens,
        thinking=table.thinking,
        run_seed=config.seed,
    )


def _assessed(log: RunLog, assessment: Assessment) -> None:
    log.event(
        "assessed",
        question=assessment.question,
        outcome=assessment.outcome,
        credits=len(assessment.credits),
        diagnoses=len(assessment.diagnoses),
        rejected=len(assessment.rejected),
        notes=dict(assessment.notes),
    )
