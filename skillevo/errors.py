"""The error tree: every error a user can act on says what happened, why, and what to do.

Exit codes: 0 done, 1 checks found problems, 2 usage or configuration, 3 environment (no repository,
server unreachable, git too old), 4 conflict or stale base, 70 bug, 130 interrupted.
"""

from __future__ import annotations

EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_ENVIRONMENT = 3
EXIT_CONFLICT = 4
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class SkillevoError(Exception):
    """Something the user can act on.

    ``what`` names the thing and the place, ``why`` the cause, ``fix`` the next command or edit.
    """

    exit_code = EXIT_USAGE

    def __init__(self, what: str, *, why: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.fix = fix


class ConfigError(SkillevoError):
    """The configuration, or a file it names, is wrong."""


class DataError(SkillevoError):
    """A data set cannot be used."""


class LibraryError(SkillevoError):
    """A skill library breaks the rules of the format."""


class EnvironmentFault(SkillevoError):
    """The machine lacks something: a repository, an identity, disk space, a package."""

    exit_code = EXIT_ENVIRONMENT


class ServerError(EnvironmentFault):
    """A model server cannot be reached or persistently answers with faults."""


class ConflictError(SkillevoError):
    """A ref moved, a run exists already, or another process holds the repository."""

    exit_code = EXIT_CONFLICT


class Interrupted(SkillevoError):
    """The user stopped a run that can go on later."""

    exit_code = EXIT_INTERRUPTED


class CallFailed(Exception):
    """One model call could not be had after all retries.

    It ends the rollout that made it as an infrastructure fault, never as a reward of 0.
    ``terminal`` is true when the server refused this very request (HTTP 400), so that trying the
    same request again is useless.
    """

    def __init__(self, reason: str, *, terminal: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.terminal = terminal


class BudgetReached(Exception):
    """A cap of ``[budget]`` was met: no further call is sent and the run ends in order."""

    def __init__(self, cap: str) -> None:
        super().__init__(cap)
        self.cap = cap
