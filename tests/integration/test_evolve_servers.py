"""A model server that is gone, broken or wrong stops the run: one error, no reward of 0."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.loopback import Fault, Loopback
from fakes.workshop import Outcome, Workshop, assert_told, contents, hear_interrupts

from skillevo.llm import retry

Start = Callable[..., Loopback]
SMALL = 'base_url = "{url}"\nmodel = "m"'


@pytest.fixture(autouse=True)
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry without long waits."""
    monkeypatch.setattr(retry, "BASE_S", 0.001)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where weights of the embedded model would be put."""
    monkeypatch.setenv("SKILLEVO_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def served(shop: Workshop, url: str) -> None:
    shop.models(SMALL.format(url=url))
    shop.settings("batch = 8", "batch = 2")
    shop.settings("tolerance = 0.02", "tolerance = 0.02\nquestions = 3")
    shop.save()


def trajectories(shop: Workshop) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in shop.runs.glob("*/trajectories.jsonl"):
        found += [json.loads(line) for line in path.read_text().splitlines()]
    return found


def refs(shop: Workshop) -> str:
    return shop.git("for-each-ref", "refs/heads/main", "refs/tags", "refs/remotes")


def assert_no_zero(shop: Workshop) -> None:
    assert [t for t in trajectories(shop) if t["reward"] == 0] == []


def closed_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def test_refused_connection_ends_the_run_at_once_and_leaves_nothing(
    workshop: Workshop, cache: Path
) -> None:
    served(workshop, f"http://127.0.0.1:{closed_port()}/v1")
    before = contents(workshop.root)
    started = time.monotonic()
    outcome = workshop.run("evolve")
    assert time.monotonic() - started < 10
    assert_told(outcome, 3, "cannot use the model server at http://127.0.0.1", "skillevo doctor")
    assert contents(workshop.root) == before


def test_no_model_is_fetched_when_another_one_cannot_be_reached(
    workshop: Workshop, cache: Path
) -> None:
    workshop.models('base_url = "embedded"', ("actor",))
    workshop.models(SMALL.format(url=f"http://127.0.0.1:{closed_port()}/v1"), ("critic",))
    assert_told(workshop.run("evolve"), 3, "cannot use the model server")
    assert not cache.exists()
    assert not workshop.runs.exists()


@pytest.mark.parametrize(
    "fault",
    [
        Fault.ERROR_500,
        Fault.OVERLOADED_503,
        Fault.TOO_MANY_429,
        Fault.GARBAGE,
        Fault.TRUNCATED,
        Fault.NO_CHOICES,
        Fault.BAD_REQUEST_400,
        Fault.CONTEXT_400,
        Fault.UNAUTHORIZED_401,
        Fault.NOT_FOUND_404,
        Fault.RESET,
    ],
)
def test_server_that_persistently_fails_ends_the_run_with_one_error(
    workshop: Workshop, loopback: Start, cache: Path, fault: Fault
) -> None:
    server = loopback()
    server.steady = fault
    served(workshop, server.base_url)
    before = refs(workshop)
    assert_told(workshop.run("evolve"), 3)
    assert server.requests > 0
    assert_no_zero(workshop)
    assert refs(workshop) == before
    assert not cache.exists()
    assert workshop.git("status", "--porcelain") == ""


@pytest.mark.parametrize("fault", [Fault.ERROR_500, Fault.GARBAGE, Fault.NOT_FOUND_404])
def test_server_whose_list_of_models_fails_is_given_up_before_anything_is_written(
    workshop: Workshop, loopback: Start, fault: Fault
) -> None:
    server = loopback()
    server.models_fault = fault
    served(workshop, server.base_url)
    before = contents(workshop.root)
    assert_told(workshop.run("evolve"), 3)
    assert server.requests == 0
    assert contents(workshop.root) == before


def test_model_that_the_server_lacks_is_told_with_those_it_has(
    workshop: Workshop, loopback: Start
) -> None:
    server = loopback(models=("qwen", "llama"))
    served(workshop, server.base_url)
    assert_told(workshop.run("evolve"), 3, "does not serve 'm'", "qwen, llama")
    assert server.requests == 0
    assert not workshop.runs.exists()


def test_server_that_dies_in_the_middle_ends_the_run_and_keeps_what_was_finished(
    workshop: Workshop, loopback: Start
) -> None:
    server = loopback()

    def answer(body: dict[str, Any]) -> str:
        if server.requests > 8:
            server.steady = Fault.ERROR_500
        return "words"

    server.answer = answer
    served(workshop, server.base_url)
    outcome = workshop.run("evolve", "--run-id", "one")
    assert_told(outcome, 3, "the model server at http://127.0.0.1")
    lines = (workshop.runs / "one" / "calls.jsonl").read_text().splitlines()
    answered = [call["reply"]["text"] for call in map(json.loads, lines) if "reply" in call]
    assert answered
    assert set(answered) == {"words"}
    assert "did not end" in workshop.run("status").out


def test_critic_that_writes_nonsense_is_counted_and_no_error(
    workshop: Workshop, loopback: Start
) -> None:
    server = loopback()
    served(workshop, server.base_url)
    outcome = evolve_json(workshop)
    assert outcome["simulated"] is False
    critic = outcome["iterations"][0]["critic"]
    assert (critic["accepted"], critic["unusable"]) == (0, 2)
    assert {agent["decision"] for agent in outcome["iterations"][0]["agents"]} == {"unchanged"}


def test_key_of_the_named_variable_is_sent_and_never_stored(
    workshop: Workshop, loopback: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    server = loopback()
    workshop.models(SMALL.format(url=server.base_url) + '\napi_key_env = "MY_KEY"')
    workshop.settings("batch = 8", "batch = 1")
    workshop.settings("tolerance = 0.02", "tolerance = 0.02\nquestions = 1")
    evolve_json(workshop)
    assert {headers["authorization"] for headers in server.headers} == {"Bearer sk-very-secret"}
    for path in workshop.root.rglob("*"):
        assert not path.is_file() or b"very-secret" not in path.read_bytes(), path


def test_call_cap_ends_the_run_in_order_and_says_what_was_not_done(workshop: Workshop) -> None:
    workshop.settings("[gate]", "[budget]\ncalls = 60\n\n[gate]")
    value = evolve_json(workshop)
    assert value["calls"]["issued"] == 60
    assert value["iterations"] == []
    assert value["final_score"] is None
    assert "iteration 1 stopped during" in value["not_done"][0]


def evolve_json(shop: Workshop) -> Any:
    outcome: Outcome = shop.run("evolve", "--iterations", "1", "--format", "json")
    assert outcome.code == 0, outcome.err
    return outcome.value


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_run_that_is_asked_to_end_is_interrupted_in_order(
    workshop: Workshop, loopback: Start, number: signal.Signals
) -> None:
    server = loopback()
    served(workshop, server.base_url)
    server.hold()
    with subprocess.Popen(
        [sys.executable, "-m", "skillevo", "evolve"],
        cwd=workshop.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=hear_interrupts,
    ) as process:  # fmt: skip
        server.wait_for_requests(1)
        process.send_signal(number)
        _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted\n" in told
    assert "Traceback" not in told
