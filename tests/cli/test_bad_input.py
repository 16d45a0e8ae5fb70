"""Bad input of every kind: one error in the one shape, the right exit code, nothing written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.workshop import Workshop, assert_told, contents, git, skillevo, spawn

ANSWERER = '[[team.agents]]\nname = "answerer"\nrole = "roles/answerer.md"'
QUESTION = {"id": "extra", "question": "Who?", "answer": "She"}


def line(**values: object) -> str:
    return json.dumps(QUESTION | values) + "\n"


def first_id(shop: Workshop, split: str) -> str:
    text = (shop.root / "data" / f"{split}.jsonl").read_text()
    return str(json.loads(text.splitlines()[0])["id"])


def append(shop: Workshop, split: str, text: str) -> int:
    """Add text to a data file; the number of the line where it begins."""
    path = shop.root / "data" / f"{split}.jsonl"
    before = path.read_text()
    path.write_text(before + text)
    return before.count("\n") + 1


def refused(shop: Workshop, code: int, *words: str) -> None:
    """``evolve`` fails like that and changes not a byte below the project."""
    before = contents(shop.root)
    outcome = shop.run("evolve")
    assert_told(outcome, code, *words)
    assert contents(shop.root) == before


# --- the settings ---------------------------------------------------------------------------------

SETTINGS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "broken TOML": ("iterations = 2", "iterations = = 2", ("broken TOML", "line {line}")),
    "a number of too many digits": (
        "iterations = 2",
        "iterations = " + "9" * 5000,
        ("broken TOML",),
    ),
    "arrays nested too deep": ("iterations = 2", "iterations = " + "[" * 5000, ("broken TOML",)),
    "unknown key": (
        "iterations = 2",
        "iteratoins = 2",
        ("skillevo.toml:{line}: unknown key 'iteratoins' in evolve", "did you mean 'iterations'?"),
    ),
    "unknown table": (
        "[evolve]",
        "[evovle]",
        ("skillevo.toml:{line}: unknown key 'evovle' in the file", "did you mean 'evolve'?"),
    ),
    "unknown key of a model": (
        "[models.critic]",
        "[models.critic]\ntemprature = 1",
        ("unknown key 'temprature' in models.critic", "did you mean 'temperature'?"),
    ),
    "unknown key of an agent": (
        'role = "roles/answerer.md"',
        'role = "roles/answerer.md"\ncolor = "x"',
        ("unknown key 'color' in team.agents[1]", "known keys: name, role"),
    ),
    "wrong type": (
        "iterations = 2",
        'iterations = "two"',
        ("skillevo.toml:{line}: evolve.iterations: 'two' is not of type 'integer'",),
    ),
    "a whole number written with a point": (
        "iterations = 2",
        "iterations = 2.0",
        ("skillevo.toml:{line}: evolve.iterations: 2.0 is not a whole number",),
    ),
    "not a number": (
        "tolerance = 0.02",
        "tolerance = nan",
        ("skillevo.toml:{line}: gate.tolerance: nan is not a number",),
    ),
    "an infinite number": ("[evolve]", "[budget]\nminutes = inf\n[evolve]", ("budget.minutes",)),
    "out of range": (
        "tolerance = 0.02",
        "tolerance = 2",
        ("gate.tolerance: 2 is greater than the maximum of 1",),
    ),
    "a table where a value is due": (
        'metric = "token_f1"',
        'metric = {name = "f1"}',
        ("task.metric", "is not of type 'string'"),
    ),
    "no agent": ('[[team.agents]]\nname = "reader"\nrole = "roles/reader.md"\n\n' + ANSWERER,
                 "agents = []", ("team.agents",)),
    "two agents of one name": (
        'name = "answerer"',
        'name = "reader"',
        ("skillevo.toml:{line}: two agents are called 'reader'",),
    ),
    "agent called main": ('name = "answerer"', 'name = "main"', ("skillevo.toml:{line}", "'main'")),
    "agent with a path for a name": ('name = "answerer"', 'name = "../x"', ("'../x'",)),
    "missing role file": (
        'role = "roles/answerer.md"',
        'role = "roles/none.md"',
        ("skillevo.toml:{line}: role file roles/none.md of agent 'answerer' cannot be read",),
    ),
    "a folder as role file": ('role = "roles/answerer.md"', 'role = "roles"', ("role file roles",)),
    "a NUL in a path": (
        'role = "roles/answerer.md"',
        'role = "roles/\\u0000"',
        ("skillevo.toml:{line}: team.agents[1].role", "free of NUL characters"),
    ),
    "missing data file": (
        'train = "data/train.jsonl"',
        'train = "data/none.jsonl"',
        ("data/none.jsonl cannot be read",),
    ),
    "unknown metric": (
        'metric = "token_f1"',
        'metric = "bleu"',
        ("there is no metric 'bleu'", "token_f1"),
    ),
    "metric of a module that is not there": (
        'metric = "token_f1"',
        'metric = "python:no_such_module_here:score"',
        ("No module named 'no_such_module_here'",),
    ),
    "metric of a function that is not there": (
        'metric = "token_f1"',
        'metric = "python:json:score"',
        ("'python:json:score' cannot be loaded",),
    ),
    "unknown environment": (
        'environment = "jsonl"',
        'environment = "webshop"',
        ("there is no environment 'webshop'", "skillevo.environments"),
    ),
    "unknown operator": (
        "[gate]",
        "[evolve.schedule]\nrefin = 1\n\n[gate]",
        ("there is no operator 'refin'", "skillevo.operators"),
    ),
    "greedy groups": (
        "[models.critic]",
        "temperature = 0\n[models.critic]",
        ("models.actor.temperature is 0",),
    ),
    "repeats of greedy validation": (
        "tolerance = 0.02",
        "tolerance = 0.02\nrepeats = 3",
        ("gate.repeats = 3",),
    ),
    "a server without a model": (
        '[models.actor]\nbase_url = "simulated"',
        '[models.actor]\nbase_url = "http://127.0.0.1:9/v1"',
        ("[models.actor] has no model",),
    ),
    "a base_url of no kind": ('base_url = "simulated"', 'base_url = "ftp://x"', ("'ftp://x'",)),
    "a base_url that is no address": (
        '[models.actor]\nbase_url = "simulated"',
        '[models.actor]\nmodel = "m"\nbase_url = "http://:0/v1"',
        ("no web address",),
    ),
    "a model file that is no GGUF": (
        '[models.actor]\nbase_url = "simulated"',
        '[models.actor]\nbase_url = "embedded"\ngguf = "roles/reader.md"',
        ("roles/reader.md is no GGUF model file",),
    ),
    "a model file that is not there": (
        '[models.actor]\nbase_url = "simulated"',
        '[models.actor]\nbase_url = "embedded"\ngguf = "none.gguf"',
        ("cannot read the model file", "none.gguf"),
    ),
    "a key variable that is not set": (
        '[models.actor]\nbase_url = "simulated"',
        '[models.actor]\nbase_url = "simulated"\napi_key_env = "NO_SUCH_KEY"',
        ("the environment variable NO_SUCH_KEY is not set", "export NO_SUCH_KEY="),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "words"), SETTINGS.values(), ids=list(SETTINGS))
def test_wrong_setting_is_refused_before_anything_is_written(
    workshop: Workshop, old: str, new: str, words: tuple[str, ...]
) -> None:
    at = workshop.settings(old, new)
    at += new[: new.find(old.splitlines()[0])].count("\n") if old in new else 0
    refused(workshop, 2, *(word.format(line=at) for word in words))


def test_unreadable_settings_are_refused(workshop: Workshop) -> None:
    workshop.write("skillevo.toml", b"name = '\xff'")
    refused(workshop, 2, "skillevo.toml cannot be read", "UTF-8")


def test_empty_role_is_refused(workshop: Workshop) -> None:
    workshop.write("roles/reader.md", " \n")
    refused(workshop, 2, "roles/reader.md: the role of agent 'reader' is empty")


# --- data and libraries ---------------------------------------------------------------------------


def test_data_set_of_blank_lines_is_refused(workshop: Workshop) -> None:
    workshop.write("data/validation.jsonl", "\n  \n")
    refused(workshop, 2, "data/validation.jsonl holds no question")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"id": "x", \n', ("the line is no JSON",)),
        ("[1]\n", ("is not of type 'object'",)),
        (line(answer=None), ("extra",)),
        ('{"id": "x", "answer": "y"}\n', ("'question' is a required property",)),
        (r'{"id": "x", "question": "\ud83d?", "answer": "y"}' + "\n", ("surrogate",)),
        (line() + line(), ("the id 'extra' occurs twice",)),
    ],
    ids=["no JSON", "no object", "no answer", "no question", "half a character", "an id twice"],
)
def test_bad_line_of_data_is_refused_with_its_number(
    workshop: Workshop, text: str, words: tuple[str, ...]
) -> None:
    at = append(workshop, "train", text) + (text.count("\n") - 1)
    wanted = words if "extra" not in words else ()
    refused(workshop, 2, f"data/train.jsonl:{at}: ", *wanted)


@pytest.mark.parametrize(
    ("one", "other"), [("train", "validation"), ("train", "test"), ("validation", "test")]
)
def test_splits_that_share_a_question_are_refused(workshop: Workshop, one: str, other: str) -> None:
    shared = first_id(workshop, one)
    append(workshop, other, line(id=shared))
    refused(workshop, 2, f"the {one} and {other} splits share questions: {shared}")


def test_invalid_skill_in_a_library_is_refused_with_its_line(workshop: Workshop) -> None:
    workshop.write("skills/answerer/units/SKILL.md", "---\nname: units\nbad\n---\nBody\n")
    workshop.save()
    refused(workshop, 2, "skills/answerer/units/SKILL.md:3")


def test_uncommitted_invalid_skill_is_no_part_of_a_run(workshop: Workshop) -> None:
    workshop.write("skills/answerer/units/SKILL.md", "nothing")
    outcome = workshop.run("evolve", "--iterations", "1")
    assert outcome.code == 0
    assert "1 modified SKILL.md are not part of this run" in outcome.out


def test_uncommitted_settings_are_used_and_named(workshop: Workshop) -> None:
    workshop.write("roles/reader.md", "You are the reader. You pass on what matters.\n")
    outcome = workshop.run("evolve", "--iterations", "1")
    assert outcome.code == 0
    assert "used as they are, not as committed: roles/reader.md" in outcome.out


# --- the repository -------------------------------------------------------------------------------


def test_project_outside_a_repository_is_refused(workshop: Workshop) -> None:
    shutil.rmtree(workshop.root / ".git")
    refused(workshop, 3, "is not in the work tree of a git repository", "git init")


def test_repository_without_a_commit_is_refused(workshop: Workshop) -> None:
    shutil.rmtree(workshop.root / ".git")
    workshop.git("init", "-q")
    refused(workshop, 3, "has no commit yet", "git commit")


def test_project_below_the_top_of_its_repository_is_refused(workshop: Workshop) -> None:
    shutil.rmtree(workshop.root / ".git")
    git(workshop.folder, "init", "-q")
    refused(workshop, 2, "is not at the top of its repository")


def test_existing_repository_without_an_identity_is_refused(workshop: Workshop) -> None:
    workshop.configure("")
    refused(workshop, 3, "user.name", "user.email", "git config")


def test_half_an_identity_is_none(workshop: Workshop) -> None:
    workshop.configure("[user]\n\tname = A. User\n")
    refused(workshop, 3, "user.email")


# --- options and variables ------------------------------------------------------------------------


@pytest.mark.parametrize("run", ["UPPER", "a/b", "..", "-x", "a b", "", "x" * 65, "main.lock"])
def test_run_id_that_no_branch_can_have_is_refused(workshop: Workshop, run: str) -> None:
    before = contents(workshop.root)
    assert_told(workshop.run("evolve", f"--run-id={run}"), 2, "--run-id")
    assert contents(workshop.root) == before


def test_run_id_that_exists_is_a_conflict(workshop: Workshop) -> None:
    assert workshop.run("evolve", "--iterations", "1", "--run-id", "one").code == 0
    before = contents(workshop.root)
    assert_told(workshop.run("evolve", "--run-id", "one"), 4, "the run one exists", "--run-id")
    assert contents(workshop.root) == before


def test_run_branch_that_exists_is_a_conflict_without_records(workshop: Workshop) -> None:
    assert workshop.run("evolve", "--iterations", "1", "--run-id", "one").code == 0
    shutil.rmtree(workshop.root / ".skillevo")
    refs = workshop.git("for-each-ref")
    assert_told(workshop.run("evolve", "--run-id", "one"), 4, "one", "--run-id")
    assert workshop.git("for-each-ref") == refs
    assert not workshop.runs.exists()


@pytest.mark.parametrize("value", ["yesterday", "-1", "1.5", "", "9" * 20, "١٢"])
def test_date_variable_that_is_no_number_is_refused(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", value)
    refused(workshop, 2, "SOURCE_DATE_EPOCH")
    fresh = workshop.folder / "fresh"
    assert_told(skillevo("init", fresh), 2, "SOURCE_DATE_EPOCH")
    assert not fresh.exists()


def test_mistyped_command_gets_a_suggestion(workshop: Workshop) -> None:
    assert_told(workshop.run("evlove"), 2, "there is no command 'evlove'", "'evolve'")


@pytest.mark.parametrize(
    "arguments",
    [
        ["evolve", "--iterations", "0"],
        ["evolve", "--iterations", "1000"],
        ["evolve", "--seed", "-1"],
        ["evolve", "--seed", "99999999999"],
        ["evolve", "--sede", "1"],
        ["evolve", "extra"],
        ["log", "--operator", "rewrite"],
        ["log", "--format", "xml"],
        ["log", "no-such-revision"],
        ["log", "--upload-pack=x..HEAD"],
        ["diff", "HEAD..no-such-revision"],
        ["diff"],
        ["validate", "no-such-file"],
        ["init"],
        ["init", "x", "--template", "chess"],
    ],
    ids=" ".join,
)
def test_arguments_that_mean_nothing_are_refused(workshop: Workshop, arguments: list[str]) -> None:
    before = contents(workshop.folder)
    outcome = workshop.run(*arguments)
    assert outcome.code in (2, 3)
    assert_told(outcome, outcome.code)
    assert contents(workshop.folder) == before


@pytest.mark.parametrize("command", ["evolve", "status", "log", "diff"])
def test_command_outside_a_project_says_how_to_make_one(tmp_path: Path, command: str) -> None:
    assert_told(skillevo(command, cwd=tmp_path), 2, "no skillevo.toml in", "skillevo init")
    assert_told(skillevo("-C", tmp_path / "none", command), 2, "no folder", "none")


def test_init_over_existing_files_writes_nothing(workshop: Workshop) -> None:
    taken = workshop.folder / "taken"
    (taken / "data").mkdir(parents=True)
    (taken / "data" / "train.jsonl").write_text("mine\n")
    before = contents(workshop.folder)
    assert_told(skillevo("init", taken), 2, "data/train.jsonl exists already")
    assert contents(workshop.folder) == before
    assert not (taken / ".git").exists()


def test_init_where_a_file_is_in_the_way_is_a_fault(workshop: Workshop) -> None:
    (workshop.folder / "file").touch()
    assert_told(skillevo("init", workshop.folder / "file" / "x"), 3, "cannot be written")


@pytest.mark.parametrize("bare", [(), ("--bare",)])
def test_demo_leaves_a_repository_of_the_user_alone(
    workshop: Workshop, bare: tuple[str, ...]
) -> None:
    mine = workshop.folder / "mine"
    mine.mkdir()
    git(mine, "init", "-q", *bare)
    before = contents(mine)
    assert_told(skillevo("demo", "--simulated", "--dir", mine), 2, "is a git repository already")
    assert contents(mine) == before


Break = Callable[[Workshop], object]


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (lambda shop: shop.settings("iterations = 2", "iterations = = 2"), 2),
        (lambda shop: shutil.rmtree(shop.root / ".git"), 3),
    ],
    ids=["broken TOML", "no repository"],
)
def test_real_process_tells_the_same_and_exits_with_the_code(
    workshop: Workshop, broken: Break, code: int
) -> None:
    broken(workshop)
    before = contents(workshop.root)
    assert_told(spawn("evolve", cwd=workshop.root), code)
    assert contents(workshop.root) == before
