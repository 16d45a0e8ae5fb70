"""The models of a configuration: probed first, then opened, one client per endpoint."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from skillevo.config import Config, ModelConfig
from skillevo.errors import ConfigError
from skillevo.llm.calls import CallLog, LoggedModel, Meter
from skillevo.llm.embedded import EmbeddedServer, check_embedded
from skillevo.llm.endpoint import ProbeResult
from skillevo.llm.simulated import SimulatedChat
from skillevo.llm.weights import SHA256, check_gguf, default_gguf, sha256_of
from skillevo.ports import ChatModel
from skillevo.sim.world import behave
from skillevo.types import ModelRole

Say = Callable[[str], None]


def check_models(config: Config) -> None:
    """Raise ConfigError for a key variable that is not set or a model file that is none."""
    for table in _endpoints(config):
        _api_key(table)
        if table.gguf is not None:
            check_gguf(table.gguf)


async def probe_models(config: Config) -> None:
    """Ask every server once which models it has; ServerError within 10 s when that fails."""
    for table in _endpoints(config):
        if table.base_url.startswith("http"):
            await probe_table(table)


async def probe_table(table: ModelConfig) -> ProbeResult:
    """What the table's server says of itself; ServerError unless it serves the model."""
    # The openai package takes a second to import: only runs that need it wait.
    from skillevo.llm.openai_chat import probe

    return await probe(table.base_url, table.model, _api_key(table))


def tables_by_role(config: Config) -> list[tuple[tuple[str, ...], ModelConfig]]:
    """One entry per distinct endpoint with the roles that use it, in role order."""
    return [
        (tuple(role for role, t in config.models.items() if t.endpoint == table.endpoint), table)
        for table in _endpoints(config)
    ]


def fetch_models(config: Config, say: Say) -> None:
    """Have the weights of the default model here; EnvironmentFault when they cannot be had."""
    if any(t.base_url == "embedded" and t.gguf is None for t in config.models.values()):
        fetch_embedded(say)


def fetch_embedded(say: Say) -> None:
    """The default model's server and weights; EnvironmentFault when one of them is missing."""
    check_embedded()
    default_gguf(say=say)


@asynccontextmanager
async def open_models(
    config: Config, folder: Path, say: Say
) -> AsyncIterator[Mapping[ModelRole, ChatModel]]:
    """A model per role; roles with one endpoint share one. Closes all on leaving.

    ``folder`` takes the embedded server's log; ``say`` is told of downloads and starts.
    """
    async with AsyncExitStack() as stack:
        opened = {
            table.endpoint: await _open(table, folder, stack, say) for table in _endpoints(config)
        }
        yield {role: opened[table.endpoint] for role, table in config.models.items()}


def logged_models(
    config: Config, models: Mapping[ModelRole, ChatModel], log: CallLog, meter: Meter
) -> Mapping[ModelRole, ChatModel]:
    """The models behind the call log and the meter; each endpoint has its bound in flight."""
    logged: dict[tuple[str, str, str, str], LoggedModel] = {}
    for role, table in config.models.items():
        if table.endpoint not in logged:
            logged[table.endpoint] = LoggedModel(models[role], log, meter, table.in_flight)
    return {role: logged[table.endpoint] for role, table in config.models.items()}


async def _open(table: ModelConfig, folder: Path, stack: AsyncExitStack, say: Say) -> ChatModel:
    if table.base_url == "simulated":
        return SimulatedChat(behave)
    from skillevo.llm.openai_chat import OpenAIChat

    base_url, model, revision, endpoint = table.base_url, table.model, "", ""
    if table.base_url == "embedded":
        gguf = default_gguf(say=say) if table.gguf is None else check_gguf(table.gguf)
        say("Starting the embedded model ...")
        server = EmbeddedServer(
            gguf,
            slots=table.in_flight,
            context_tokens=table.context_tokens,
            log_path=folder / "embedded.log",
        )
        await stack.enter_async_context(server)
        base_url, model, endpoint = server.base_url, server.model, "embedded"
        revision = SHA256 if table.gguf is None else sha256_of(gguf)
    chat = OpenAIChat(
        base_url,
        model,
        api_key=_api_key(table),
        timeout_s=table.timeout_s,
        max_in_flight=table.in_flight,
        revision=revision,
        endpoint=endpoint,
    )
    stack.push_async_callback(chat.aclose)
    return chat


def _endpoints(config: Config) -> list[ModelConfig]:
    """One table per distinct endpoint, in role order."""
    distinct: dict[tuple[str, str, str, str], ModelConfig] = {}
    for table in config.models.values():
        distinct.setdefault(table.endpoint, table)
    return list(distinct.values())


def _api_key(table: ModelConfig) -> str | None:
    if not table.api_key_env:
        return None
    key = os.environ.get(table.api_key_env)
    if not key:
        raise ConfigError(
            f"the environment variable {table.api_key_env} is not set",
            why=f"api_key_env names it as the key for {table.base_url}",
            fix=f"export {table.api_key_env}=…",
        )
    return key
