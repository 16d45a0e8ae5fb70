"""Fixtures that several rooms share."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.loopback import Loopback
from fakes.workshop import Workshop, isolate, make_pristine

from skillevo.errors import EnvironmentFault
from skillevo.llm.weights import default_gguf


@pytest.fixture
def loopback() -> Iterator[Callable[..., Loopback]]:
    """A factory of loopback model servers, all closed at the end of the test."""
    servers: list[Loopback] = []

    def start(**options: Any) -> Loopback:
        servers.append(Loopback(**options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="session")
def embedded_gguf() -> Path:
    """The weights of the embedded model; skips with the reason when they cannot be had."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("the package xllamacpp is not installed (pip install 'skillevo[local]')")
    try:
        return default_gguf()
    except EnvironmentFault as fault:
        pytest.skip(f"{fault.what}: {fault.why}")


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated project that nobody changes."""
    return make_pristine(tmp_path_factory.mktemp("pristine"))


@pytest.fixture
def workshop(pristine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A copy of the simulated project, in an isolated environment with a git identity."""
    isolate(tmp_path, monkeypatch)
    return Workshop(tmp_path, pristine)
