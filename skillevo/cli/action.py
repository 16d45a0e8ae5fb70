"""What ``action.yml`` runs: ``skillevo validate`` with the inputs that GitHub puts in variables."""

from __future__ import annotations

import os
from collections.abc import Mapping

from skillevo.cli.main import main

_OPTIONS = {
    "--profile": "SKILLEVO_PROFILE",
    "--fail-on": "SKILLEVO_FAIL_ON",
    "--summary": "GITHUB_STEP_SUMMARY",
}


def arguments(environment: Mapping[str, str]) -> list[str]:
    """The command line for the inputs; an empty one leaves the choice to skillevo.toml.

    ``SKILLEVO_PATHS`` has a path a line. No input can become an option.
    """
    given = {option: environment.get(name, "").strip() for option, name in _OPTIONS.items()}
    options = [f"{option}={value}" for option, value in given.items() if value]
    paths = [line.strip() for line in environment.get("SKILLEVO_PATHS", "").splitlines()]
    return ["validate", "--format=github", *options, "--", *filter(None, paths)]


if __name__ == "__main__":
    main(arguments(os.environ))
