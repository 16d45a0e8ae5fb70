"""Fixtures that several rooms share."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.loopback import Loopback

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
