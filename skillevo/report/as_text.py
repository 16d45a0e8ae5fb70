"""Reports as plain lines of at most 80 columns, without color or box drawing."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from skillevo.library.characters import visible
from skillevo.library.diff import SkillChange
from skillevo.types import (
    AgentResult,
    CommittedEdit,
    CriticCounts,
    Decision,
    IterationResult,
    Refusal,
    RunResult,
    Usage,
    Verdict,
)

WIDTH = 80
SHOWN = 3
UNREAD = (
    "warning: no answer of the critic could be used, so nothing was learned: the model is too "
    "small for the task, cut off by max_tokens, or its server ignores JSON schemas"
)


def iteration_lines(iteration: IterationResult, group_size: int) -> list[str]:
    """One iteration: what was sampled, what the critic gave, and a verdict per agent."""
    lines = [
        f"iteration {iteration.index}: {iteration.groups} questions x {group_size} rollouts, "
        f"mean reward {iteration.mean_reward:.3f}, {iteration.contrast} with contrast",
    ]
    lines.append(_critic_line(iteration.critic))
    if unread(iteration.critic):
        lines += textwrap.wrap(UNREAD, WIDTH, initial_indent="  ", subsequent_indent="  ")
    if iteration.excluded:
        question, reason = iteration.excluded[0]
        lines.append(cut(f"  left out: {len(iteration.excluded)} ({question}: {reason})"))
    for agent in iteration.agents:
        refused = [r for r in iteration.refusals if r.agent == agent.agent]
        lines += agent_lines(agent, refused)
    return lines


def unread(critic: CriticCounts) -> bool:
    """True when not one answer of the critic could be used: such an iteration learns nothing."""
    return not critic.accepted and not critic.repaired and bool(critic.unusable)


def _critic_line(critic: CriticCounts) -> str:
    usable = critic.accepted + critic.repaired
    asked = usable + critic.unusable + critic.unavailable
    repaired = f" ({critic.repaired} after repair)" if critic.repaired else ""
    lost = f", {critic.unavailable} not to be had" if critic.unavailable else ""
    return (
        f"  critic: {usable} of {asked} answers usable{repaired}{lost}, "
        f"{critic.rejected_items} of their items dropped"
    )


def agent_lines(result: AgentResult, refused: Sequence[Refusal]) -> list[str]:
    """One agent: the verdict on its candidate, its edits, and up to three that were not made."""
    lines = [f"  {result.agent:<9} unchanged: no edit was made"]
    if result.verdict is not None:
        lines = [verdict_line(result.verdict), *(edit_line(entry) for entry in result.edits)]
    return [*lines, *(_refusal_line(refusal) for refusal in refused[:SHOWN])]


def _refusal_line(refusal: Refusal) -> str:
    what = f"{refusal.operator.value} {refusal.skill}".rstrip()
    return cut(f"    not made: {what}: {refusal.reason}")


def verdict_line(verdict: Verdict) -> str:
    """Agent, decision, base -> candidate, difference ± standard error, questions better/worse."""
    error = "n/a" if verdict.standard_error is None else f"{verdict.standard_error:.3f}"
    line = (
        f"  {verdict.agent:<9} {verdict.decision.value.upper():<7}"
        f" {verdict.base:.3f} -> {verdict.score:.3f} "
        f" {_signed(verdict.delta)} ± {error}  {verdict.better} better, {verdict.worse} worse"
        f" of {verdict.n}"
    )
    open_ended = verdict.decision in (Decision.INDECISIVE, Decision.STALE)
    return f"{line}: {verdict.reason}" if open_ended else line


def _signed(value: float) -> str:
    # Adding 0.0 turns a rounded negative zero into zero.
    return f"{round(value, 3) + 0.0:+.3f}"


def edit_line(entry: CommittedEdit) -> str:
    """An edit with its short commit id."""
    edit = entry.edit
    return cut(f"    {entry.commit[:9]} {edit.operator.value} {edit.skill}: {edit.summary}")


def closing_lines(result: RunResult, usage: Usage, *, simulated: bool = False) -> list[str]:
    """What the whole run came to: scores, branch, calls, tokens, what was not done."""
    lines = [_score_line(result), f"branch: {result.branch} at {result.head[:9]}"]
    lines.append(f"calls: {usage.issued} sent, {usage.reused} reused, {usage.failed} failed")
    lines += textwrap.wrap(_token_line(usage, simulated), WIDTH, subsequent_indent="  ")
    for missing in result.not_done:
        lines += textwrap.wrap(f"not done: {missing}", WIDTH, subsequent_indent="  ")
    return lines


def _token_line(usage: Usage, simulated: bool) -> str:
    asked = [role for role in usage.roles if role.issued]
    if not any(role.prompt_tokens is not None for role in asked):
        return "tokens: not reported by the server" if asked else "tokens: none"
    counts = ", ".join(
        f"{role.role.value} {_count(role.prompt_tokens)} + {_count(role.completion_tokens)}"
        for role in asked
    )
    return f"tokens (prompt + completion{', simulated' if simulated else ''}): {counts}"


def _score_line(result: RunResult) -> str:
    start = result.iterations[0].base_score if result.iterations else None
    if result.final_score is None:
        known = "not measured" if start is None else f"{start:.3f} -> not measured"
        return f"validation score: {known}"
    if start is None:
        return f"validation score: {result.final_score:.3f}"
    change = result.final_score - start
    return f"validation score: {start:.3f} -> {result.final_score:.3f} ({_signed(change)})"


def diff_lines(changes: Sequence[SkillChange]) -> list[str]:
    """A structural diff: skills, their fields and sections, sizes and red flags."""
    lines: list[str] = []
    for change in changes:
        origin = f" (from {' + '.join(change.sources)})" if change.sources else ""
        size = f"{change.tokens_before} -> {change.tokens_after} tokens"
        lines.append(f"{change.change.value} {change.agent}/{change.skill}{origin}, {size}")
        for field in change.fields:
            lines.append(cut(f"  {field.field}: {field.before or '-'} -> {field.after or '-'}"))
        for section in change.sections:
            heading = section.heading or "(text before the first heading)"
            lines.append(cut(f"  section {section.change.value}: {heading}"))
        lines += [cut(f"  red flag: {flag}") for flag in change.red_flags]
    return lines or ["no change in any skill"]


def _count(tokens: int | None) -> str:
    return "not reported" if tokens is None else str(tokens)


def simulated_lines(runs: Sequence[str]) -> list[str]:
    """A line that labels what simulated runs have a part in; none when there are none."""
    return [cut(f"(simulated, no language model: {', '.join(runs)})")] if runs else []


def cut(text: str) -> str:
    """The text as one printable line of at most ``WIDTH`` columns."""
    line = visible(text, 10_000)
    return line if len(line) <= WIDTH else line[: WIDTH - 3].rstrip() + "..."
