"""examples: an author of skills that needs no language model.

It takes worked examples (question, output) of the agent from the groups' best rollouts on training
questions. The form is fixed, one pair per list item under ``## Examples``::

    - Input: <question>
      Output: <what the agent wrote>
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from skillevo.library.document import render_skill
from skillevo.operators.base import OperatorContext, OperatorTools, counted, refusal
from skillevo.types import Edit, Group, Operator, Refusal, Step, Trajectory

SKILL_NAME = "worked-examples"
MOST_EXAMPLES = 3
MIN_REWARD = 0.5
MOST_CHARS = 160
DESCRIPTION = (
    "Shows finished examples of this job. Use it on every question as the model to follow."
)


@dataclass(frozen=True, slots=True)
class Example:
    """One pair with what speaks for it: ``reward`` in [0, 1], and ``support``, the number of the
    group's rollouts that wrote the same."""

    question: str
    input: str
    output: str
    reward: float
    support: int


def build(tools: OperatorTools) -> WorkedExamples:
    """The operator, ready to run."""
    return WorkedExamples(tools)


@dataclass(frozen=True, slots=True)
class WorkedExamples:
    """Writes the agent's skill ``worked-examples`` when it has none."""

    tools: OperatorTools

    async def propose(self, context: OperatorContext) -> Sequence[Edit | Refusal]:
        """One edit, nothing when the skill is there already, or why none was made."""
        if context.library.get(SKILL_NAME):
            return []
        chosen = choose_examples(context.groups, context.agent.name)
        if not chosen:
            reason = f"no rollout has a reward of {MIN_REWARD} or more"
            return [refusal(context, Operator.INDUCE, SKILL_NAME, reason)]
        if len(context.library.skills) >= self.tools.library_limit:
            reason = f"the library holds its limit of {self.tools.library_limit} skills"
            return [refusal(context, Operator.INDUCE, SKILL_NAME, reason)]
        mean = sum(example.reward for example in chosen) / len(chosen)
        questions = [example.question for example in chosen]
        return [
            Edit(
                operator=Operator.INDUCE,
                agent=context.agent.name,
                skill=SKILL_NAME,
                text=render_skill(SKILL_NAME, DESCRIPTION, examples_body(chosen)),
                removes=(),
                summary=f"show {len(chosen)} worked examples",
                why=f"{counted(questions, context.groups)}: their best rollouts, "
                f"mean reward {mean:.2f}, serve as examples.",
                support=len(chosen),
                author="program",
            )
        ]


def choose_examples(groups: Sequence[Group], agent: str) -> tuple[Example, ...]:
    """The best pairs, at most one per question, by reward, then support, then question order."""
    found = [example for group in groups if (example := _best(group, agent))]
    return tuple(sorted(found, key=lambda e: (-e.reward, -e.support))[:MOST_EXAMPLES])


def examples_body(examples: Sequence[Example]) -> str:
    """The skill's body; texts are put on one line each so that the form always parses."""
    pairs = [f"- Input: {e.input}\n  Output: {e.output}" for e in examples]
    return "## Examples\n\n" + "\n".join(pairs)


def _best(group: Group, agent: str) -> Example | None:
    """The pair of the group's best rollout; of equal rewards the most frequent, shortest output."""
    written = [(t, " ".join(_output(t, agent).split())) for t in group.trajectories]
    counts = Counter(output for _, output in written)
    usable = [(t, o) for t, o in written if o and len(o) <= MOST_CHARS and _good(t)]
    if not usable:
        return None
    best, output = min(usable, key=lambda p: (-(p[0].reward or 0), -counts[p[1]], len(p[1])))
    return Example(
        question=group.question.id,
        input=" ".join(group.question.text.split()),
        output=output,
        reward=best.reward or 0.0,
        support=counts[output],
    )


def _good(trajectory: Trajectory) -> bool:
    return trajectory.reward is not None and trajectory.reward >= MIN_REWARD


def _output(trajectory: Trajectory, agent: str) -> str:
    own: list[Step] = [s for s in trajectory.steps if s.agent == agent and not s.tool]
    return own[-1].output if own else ""
