"""The checks that other repositories use: action, reusable workflow, pre-commit hook."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillevo.cli.action import arguments

TOP = Path(__file__).parents[2]
WORKFLOWS = sorted((TOP / ".github" / "workflows").glob("*skills.yml"))
SKILL = "---\nname: {}\ndescription: Helps to {}. Use when asked.\n{}---\n\nDo it.\n"


def load(path: Path) -> Any:
    """The file as GitHub reads it, where ``on`` is a word."""
    return yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)


def runs(document: Any) -> list[str]:
    """Every shell script of an action or a workflow."""
    if isinstance(document, dict):
        own = [document["run"]] if isinstance(document.get("run"), str) else []
        return own + [script for value in document.values() for script in runs(value)]
    if isinstance(document, list):
        return [script for value in document for script in runs(value)]
    return []


def uses(document: Any) -> list[str]:
    if isinstance(document, dict):
        own = [document["uses"]] if isinstance(document.get("uses"), str) else []
        return own + [name for value in document.values() for name in uses(value)]
    return (
        [name for value in document for name in uses(value)] if isinstance(document, list) else []
    )


@pytest.mark.parametrize("path", [TOP / "action.yml", *WORKFLOWS], ids=lambda p: p.name)
def test_no_expression_stands_in_a_script_and_actions_are_pinned(path: Path) -> None:
    document = load(path)
    assert not [script for script in runs(document) if "${{" in script]
    for name in uses(document):
        assert name.startswith("./") or re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", name), name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_workflow_may_only_read(path: Path) -> None:
    document = load(path)
    assert document["permissions"] == {"contents": "read"}
    for job in document["jobs"].values():
        assert "permissions" not in job
        for step in job.get("steps", ()):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] == "false"


def test_action_and_workflow_take_the_same_inputs() -> None:
    action = load(TOP / "action.yml")["inputs"]
    workflow = load(TOP / ".github" / "workflows" / "validate-skills.yml")
    inputs = workflow["on"]["workflow_call"]["inputs"]
    shared = {name: inputs[name]["default"] for name in action}
    assert shared == {name: value["default"] for name, value in action.items()}
    assert set(inputs) - set(action) == {"repository", "version"}
    last = workflow["jobs"]["check"]["steps"][-1]
    assert last["with"] == {name: f"${{{{ inputs.{name} }}}}" for name in action}


def test_own_workflow_runs_action_workflow_and_hook() -> None:
    jobs = load(TOP / ".github" / "workflows" / "skills.yml")["jobs"]
    assert jobs["action"]["steps"][-1]["uses"] == "./"
    assert jobs["reusable"]["uses"] == "./.github/workflows/validate-skills.yml"
    assert "try-repo . skillevo-validate" in jobs["pre-commit"]["steps"][-1]["run"]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, ["validate", "--format=github", "--"]),
        (
            {"SKILLEVO_PATHS": "a\r\n\n b c \n--fix\n", "SKILLEVO_PROFILE": " codex "},
            ["validate", "--format=github", "--profile=codex", "--", "a", "b c", "--fix"],
        ),
        (
            {"SKILLEVO_FAIL_ON": "warning", "GITHUB_STEP_SUMMARY": "/tmp/s"},
            ["validate", "--format=github", "--fail-on=warning", "--summary=/tmp/s", "--"],
        ),
    ],
)
def test_inputs_become_arguments(environment: dict[str, str], expected: list[str]) -> None:
    assert arguments(environment) == expected


class Runner:
    """What GitHub does with a step of the action: its variables, its shell, its workspace."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "workspace"
        self.summary = folder / "summary.md"
        self.temporary = folder / "temp"
        for made in (self.workspace, self.temporary):
            made.mkdir()
        self.summary.touch()
        self.steps = load(TOP / "action.yml")["runs"]["steps"]

    def write(self, path: str, text: str) -> None:
        target = self.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def run(self, step: int, **inputs: str) -> subprocess.CompletedProcess[str]:
        described = load(TOP / "action.yml")["inputs"]
        values = {name: value["default"] for name, value in described.items()}
        values |= {name.replace("_", "-"): value for name, value in inputs.items()}
        variables = {
            name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda m: values[m[1]], text)
            for name, text in self.steps[step].get("env", {}).items()
        }
        script = self.temporary / "step.sh"
        script.write_text(self.steps[step]["run"])
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=self.workspace,
            env={
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(self.temporary),
                "RUNNER_TEMP": str(self.temporary),
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(TOP),
                "GITHUB_WORKSPACE": str(self.workspace),
                "GITHUB_STEP_SUMMARY": str(self.summary),
                **{name: os.environ[name] for name in os.environ if name.startswith("PIP_")},
                **variables,
            },
            capture_output=True,
            text=True,
            check=False,
        )

    def pretend_installed(self) -> None:
        """What the step that installs leaves: an environment with skillevo in it."""
        program = self.temporary / "skillevo" / "bin" / "python"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        program.chmod(0o755)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def test_check_annotates_summarizes_and_fails(runner: Runner) -> None:
    runner.pretend_installed()
    runner.write("skills/a/sort/SKILL.md", SKILL.format("sort", "sort", "color: red\n"))
    done = runner.run(-1)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error file=skills/a/sort/SKILL.md,line=4,col=1,title=unknown")
    assert runner.summary.read_text().startswith("## Skill check\n")


def test_check_of_valid_skills_passes_with_paths_of_any_name(runner: Runner) -> None:
    runner.pretend_installed()
    runner.write("my $(touch pwned) skills/sort/SKILL.md", SKILL.format("sort", "sort", ""))
    runner.write("wrong/SKILL.md", "no front matter")
    done = runner.run(-1, paths="my $(touch pwned) skills\n\n", fail_on="warning")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in runner.workspace.iterdir())[1:] == ["wrong"]


def test_wrong_input_is_a_usage_error(runner: Runner) -> None:
    runner.pretend_installed()
    done = runner.run(-1, profile="mine")
    assert done.returncode == 2
    assert "'mine' is not one of" in done.stderr


def test_check_imports_nothing_from_the_workspace(runner: Runner) -> None:
    runner.pretend_installed()
    for name in ("click", "json", "skillevo", "yaml"):
        runner.write(f"{name}.py", "raise SystemExit('taken over')")
    done = runner.run(-1)
    assert (done.returncode, done.stderr) == (0, "no SKILL.md found: nothing to check\n")


@pytest.mark.network
def test_action_installs_this_checkout_and_checks_with_it(runner: Runner) -> None:
    runner.write("venv.py", "raise SystemExit('taken over')")
    runner.write("sort/SKILL.md", SKILL.format("sort", "sort", ""))
    installed = runner.run(1)
    if "No matching distribution" in installed.stderr or "Connection" in installed.stderr:
        pytest.skip(f"the package index cannot be reached: {installed.stderr[-300:]}")
    assert installed.returncode == 0, installed.stderr
    assert list(runner.temporary.glob("skillevo/lib/python*/site-packages/skillevo/cli/action.py"))
    done = runner.run(-1)
    assert (done.returncode, done.stdout) == (0, "1 skills checked: 0 errors, 0 warnings\n")


def test_hook_checks_the_whole_index_in_one_process() -> None:
    (hook,) = load(TOP / ".pre-commit-hooks.yaml")
    assert hook["id"] == "skillevo-validate"
    assert hook["entry"] == "skillevo validate --staged"
    assert hook["language"] == "python"
    assert (hook["pass_filenames"], hook["require_serial"]) == ("false", "true")
    pattern = re.compile(hook["files"])
    touched = ["SKILL.md", "a/skill.md", "skills/a/b/scripts/run.py", "x/skills/a/b/SKILL.md"]
    assert all(pattern.search(path) for path in touched)
    assert not any(
        pattern.search(path) for path in ["README.md", "src/myskills/a.py", "a/SKILL.mdx"]
    )
