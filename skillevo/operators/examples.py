"""examples: an author of skills that needs no language model.

It takes worked examples (question, output) of the agent from the groups' best rollouts on training
questions; a final answer is trimmed to the words that earn its reward. The form is fixed, one pair
per list item under ``## Examples``::

    - Input: <question>
      Output: <what the agent wrote>
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from skillevo.library.document import render_skill
from skillevo.operators.base import OperatorContext, OperatorTools, Reward, counted, refusal
from skillevo.types import Edit, Group, Operator, Question, Refusal, Trajectory

SKILL_NAME = "worked-examples"
MOST_EXAMPLES = 3
MIN_REWARD = 0.5
MOST_CHARS = 160
TRIM_WORDS = 60
TRIM_LENGTH = 8
INSTRUCTION = "Write the output in the same form as in these examples, and nothing else."
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
        chosen = choose_examples(context.groups, context.agent.name, self.tools.reward)
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
                summary=f"show {len(chosen)} worked example{'s' * (len(chosen) > 1)}",
                why=f"{counted(questions, context.groups)}: their best rollouts, "
                f"mean reward {mean:.2f}, serve as examples.",
                support=len(chosen),
                author="program",
            )
        ]


def choose_examples(groups: Sequence[Group], agent: str, reward: Reward) -> tuple[Example, ...]:
    """The best pairs, at most one per question, by reward, then support, then question order."""
    found = [example for group in groups if (example := _best(group, agent, reward))]
    return tuple(sorted(found, key=lambda e: (-e.reward, -e.support))[:MOST_EXAMPLES])


def examples_body(examples: Sequence[Example]) -> str:
    """The skill's body; texts are put on one line each so that the form always parses."""
    pairs = [f"- Input: {e.input}\n  Output: {e.output}" for e in examples]
    return f"{INSTRUCTION}\n\n## Examples\n\n" + "\n".join(pairs)


def _best(group: Group, agent: str, reward: Reward) -> Example | None:
    """The pair of the group's best rollout; of equal rewards the most frequent, shortest output."""
    pairs = [pair for t in group.trajectories if (pair := _pair(group.question, t, agent, reward))]
    if not pairs:
        return None
    counts = Counter(output for output, _ in pairs)
    output, value = min(pairs, key=lambda p: (-p[1], -counts[p[0]], len(p[0]), p[0]))
    text = " ".join(group.question.text.split())
    return Example(group.question.id, text, output, value, counts[output])


def _pair(
    question: Question, trajectory: Trajectory, agent: str, reward: Reward
) -> tuple[str, float] | None:
    """The agent's output in a rollout with its reward, None when it is no example to follow.

    The final answer is trimmed first: what earns the reward is the example, not what stands around
    it. Other agents' outputs count with the reward of the rollout.
    """
    own = [step for step in trajectory.steps if step.agent == agent and not step.tool]
    if not own or trajectory.reward is None:
        return None
    output, value = " ".join(own[-1].output.split()), trajectory.reward
    if own[-1] is trajectory.steps[-1]:
        output, value = trim(
            output, lambda text: reward(question, replace(trajectory, answer=text))
        )
    usable = output and len(output) <= MOST_CHARS and value >= MIN_REWARD
    return (output, value) if usable else None


def trim(answer: str, reward: Callable[[str], float]) -> tuple[str, float]:
    """The stretch of at most 8 of the answer's first 60 words that has the highest reward, and that
    reward; of equals the shortest, first one. The whole answer when no stretch does better."""
    words = answer.split()[:TRIM_WORDS]
    best, value = answer, reward(answer)
    for length in range(1, TRIM_LENGTH + 1):
        for start in range(len(words) - length + 1):
            stretch = " ".join(words[start : start + length]).strip(".,;:!?\"'")
            score = reward(stretch)
            if score > value + 1e-9:
                best, value = stretch, score
    return best, value
