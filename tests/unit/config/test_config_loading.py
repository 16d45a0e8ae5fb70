"""skillevo.toml read into a checked Config: defaults, paths, inheritance, digests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillevo.config import Config, find_root, line_of, load_config
from skillevo.errors import ConfigError
from skillevo.types import ModelRole, Thinking

BASE = """[team]
[[team.agents]]
name = "reader"
role = "roles/reader.md"
[[team.agents]]
name = "answerer"
role = "roles/answerer.md"

[task]
train = "train.jsonl"
validation = "validation.jsonl"

[models.actor]
base_url = "simulated"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "roles").mkdir()
    (tmp_path / "roles" / "reader.md").write_text("Read.\n")
    (tmp_path / "roles" / "answerer.md").write_text("\nAnswer.\n")
    return tmp_path


def load(root: Path, text: str = "", base: str = BASE, **overrides: Any) -> Config:
    (root / "skillevo.toml").write_text(base + text)
    return load_config(root, overrides)


def test_defaults_are_the_published_settings(root: Path) -> None:
    config = load(root)
    evolve, gate, actor = config.evolve, config.gate, config.models[ModelRole.ACTOR]
    assert (evolve.iterations, evolve.batch, evolve.group_size) == (5, 24, 4)
    assert (evolve.library_limit, evolve.momentum, evolve.prune_threshold) == (4, 0.4, -0.3)
    assert dict(evolve.schedule) == {
        "refine": 1, "consolidate": 2, "prune": 2, "induce": 1, "examples": 0,
    }  # fmt: skip
    assert (gate.policy, gate.tolerance, gate.repeats, gate.questions) == ("tolerance", 0.02, 1, 0)
    assert (actor.sampling.temperature, actor.sampling.top_p, actor.sampling.top_k) == (1, 0.95, 20)
    assert (config.budget.minutes, config.budget.calls, config.budget.tokens) == (0, 0, 0)
    assert config.task.metric == "token_f1"
    assert config.task.test is None


def test_byte_order_marks_of_editors_mean_nothing(root: Path) -> None:
    role = root / "roles" / "reader.md"
    role.write_bytes(b"\xef\xbb\xbf" + role.read_bytes())
    assert load(root, base="\ufeff" + BASE) == load(root, base=BASE)
    assert load(root).agents[0].role == "Read."


def test_critic_and_optimizer_decode_greedily(root: Path) -> None:
    models = load(root).models
    assert models[ModelRole.CRITIC].sampling.greedy
    assert models[ModelRole.OPTIMIZER].sampling.greedy


def test_paths_are_absolute_and_roles_are_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(root)
    monkeypatch.chdir(root.parent)
    config = load_config(Path(root.name))
    assert config.root == root
    assert config.task.train == root / "train.jsonl"
    assert [(agent.name, agent.role) for agent in config.agents] == [
        ("reader", "Read."),
        ("answerer", "Answer."),
    ]


def test_model_tables_take_what_they_leave_out_from_the_one_before(root: Path) -> None:
    config = load(
        root,
        """model = "small"
timeout_s = 7
max_tokens = 5
temperature = 0.5
[models.critic]
max_tokens = 9
""",
    )
    critic, optimizer = config.models[ModelRole.CRITIC], config.models[ModelRole.OPTIMIZER]
    assert (critic.model, critic.timeout_s, critic.max_tokens) == ("small", 7, 9)
    assert critic.sampling.greedy
    assert (optimizer.model, optimizer.timeout_s, optimizer.max_tokens) == ("small", 7, 1200)


def test_model_table_with_its_own_server_inherits_nothing(root: Path) -> None:
    config = load(
        root,
        """timeout_s = 7
[models.critic]
base_url = "http://127.0.0.1:9/v1/"
model = "big"
""",
    )
    critic = config.models[ModelRole.CRITIC]
    assert (critic.base_url, critic.timeout_s) == ("http://127.0.0.1:9/v1", 600)
    assert critic.thinking is Thinking.OFF
    assert config.models[ModelRole.OPTIMIZER].endpoint == critic.endpoint


def test_any_simulated_model_labels_the_project(root: Path) -> None:
    other = '[models.critic]\nbase_url = "embedded"\n[models.optimizer]\nbase_url = "embedded"\n'
    assert load(root, other).simulated
    assert not load(root, base=BASE.replace("simulated", "embedded")).simulated


def test_model_file_is_relative_to_the_project(root: Path) -> None:
    text = BASE.replace('"simulated"', '"embedded"\ngguf = "models/x.gguf"')
    assert load(root, base=text).models[ModelRole.ACTOR].gguf == root / "models" / "x.gguf"


def test_options_of_the_command_line_lie_over_the_file(root: Path) -> None:
    config = load(root, "[evolve]\niterations = 3\n", evolve={"iterations": 1}, project={"seed": 9})
    assert (config.evolve.iterations, config.seed) == (1, 9)


def test_option_out_of_range_is_told_as_an_option(root: Path) -> None:
    with pytest.raises(ConfigError, match=r"option for evolve\.iterations: 1000") as told:
        load(root, evolve={"iterations": 1000})
    assert told.value.why
    assert told.value.fix


def test_digest_covers_settings_and_roles_but_not_the_place(root: Path) -> None:
    first = load(root).digest
    assert load(root, "# a comment\n").digest == first
    assert load(root, "[project]\nseed = 1\n").digest != first
    assert load(root, '[validate]\nprofile = "codex"\n').digest != first
    assert load(root, '[validate]\nfail_on = "warning"\n').digest == first
    (root / "roles" / "reader.md").write_text("Read well.")
    assert load(root).digest != first


def test_free_options_may_hold_dates(root: Path) -> None:
    text = "[task.options]\nsince = 2024-01-01\nat = 07:32:00\n"
    config = load(root, base=BASE.replace("\n[models", text + "\n[models"))
    assert str(config.task.options["since"]) == "2024-01-01"
    assert len(config.digest) == 64


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_free_options_hold_no_impossible_numbers(root: Path, value: str) -> None:
    text = f"[task.options]\nx = {value}\n"
    with pytest.raises(ConfigError, match=r"task\.options\.x: -?(nan|inf) is not a number"):
        load(root, base=BASE.replace("\n[models", text + "\n[models"))


@pytest.mark.parametrize("value", ["2", "2.0", "1e0"])
def test_numbers_of_kind_number_may_be_written_either_way(root: Path, value: str) -> None:
    assert load(root, f"[budget]\nminutes = {value}\n").budget.minutes in (1, 2)


def test_own_operator_counts_whole_iterations(root: Path) -> None:
    assert load(root, "[evolve.schedule]\nmine = 3\n").evolve.schedule["mine"] == 3
    with pytest.raises(ConfigError, match=r"schedule\.mine: 'often' is not of type 'integer'"):
        load(root, '[evolve.schedule]\nmine = "often"\n')


def test_root_is_the_nearest_folder_with_settings(root: Path) -> None:
    load(root)
    (root / "data" / "deep").mkdir(parents=True)
    assert find_root(root / "data" / "deep") == root
    with pytest.raises(ConfigError, match=r"no skillevo\.toml in"):
        find_root(root.parent)


def test_missing_settings_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        load_config(tmp_path)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("team",), 1),
        (("team", "agents", 0, "name"), 3),
        (("team", "agents", 1, "role"), 7),
        (("team", "agents", 1, "gone"), 5),
        (("models", "actor", "base_url"), 14),
        (("models", "critic"), None),
        (("gone",), None),
    ],
)
def test_line_of_a_key_is_found(path: tuple[str | int, ...], line: int | None) -> None:
    assert line_of(BASE, path) == line


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a.b = 1\n", ("a", "b"), 1),
        ("[ a . b ]\nc = 1", ("a", "b", "c"), 2),
        ('["a"] # x\n"c" = 1', ("a", "c"), 2),
    ],
)
def test_line_is_found_in_other_layouts(text: str, path: tuple[str | int, ...], line: int) -> None:
    assert line_of(text, path) == line
