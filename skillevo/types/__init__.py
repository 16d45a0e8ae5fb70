"""The values that walk down the method, one frozen type per arrow (standard library only)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillevo.types.credit import (
        Assessment,
        Citation,
        Contribution,
        Credit,
        Diagnosis,
        Direction,
        EditDirection,
        Feedback,
        InductionEvidence,
        Operator,
        Pattern,
        Rejected,
    )
    from skillevo.types.edits import (
        Candidate,
        CommittedEdit,
        Decision,
        Edit,
        Outcome,
        Refusal,
        Score,
        Settlement,
        Verdict,
    )
    from skillevo.types.models import (
        ChatReply,
        ChatRequest,
        Message,
        ModelIdentity,
        ModelRole,
        RoleUsage,
        Sampling,
        Thinking,
        Usage,
    )
    from skillevo.types.rollouts import (
        Group,
        Question,
        Split,
        Step,
        StepKind,
        StopReason,
        TraceKind,
        TraceRow,
        Trajectory,
    )
    from skillevo.types.run import (
        AgentResult,
        CriticCounts,
        IterationResult,
        MethodState,
        RunResult,
        StepResult,
    )
    from skillevo.types.skills import Agent, Library, Pair, Problem, Resource, Severity, Skill, Team

__all__ = [
    "Agent",
    "AgentResult",
    "Assessment",
    "Candidate",
    "ChatReply",
    "ChatRequest",
    "Citation",
    "CommittedEdit",
    "Contribution",
    "Credit",
    "CriticCounts",
    "Decision",
    "Diagnosis",
    "Direction",
    "Edit",
    "EditDirection",
    "Feedback",
    "Group",
    "InductionEvidence",
    "IterationResult",
    "Library",
    "Message",
    "MethodState",
    "ModelIdentity",
    "ModelRole",
    "Operator",
    "Outcome",
    "Pair",
    "Pattern",
    "Problem",
    "Question",
    "Refusal",
    "Rejected",
    "Resource",
    "RoleUsage",
    "RunResult",
    "Sampling",
    "Score",
    "Settlement",
    "Severity",
    "Skill",
    "Split",
    "Step",
    "StepKind",
    "StepResult",
    "StopReason",
    "Team",
    "Thinking",
    "TraceKind",
    "TraceRow",
    "Trajectory",
    "Usage",
    "Verdict",
]

# The checker of skills needs one of these modules; making the classes of all takes as long as it.
_MODULES = ("skills", "models", "rollouts", "credit", "edits", "run")


def __getattr__(name: str) -> object:
    """The type of that name, whose module is imported now."""
    if name in __all__:
        for module in _MODULES:
            found = getattr(import_module(f"{__name__}.{module}"), name, None)
            if found is not None:
                globals()[name] = found
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
