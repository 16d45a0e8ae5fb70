"""The embedded server with the real model: ready, true to schemas and seeds, gone afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from skillevo.errors import CallFailed, EnvironmentFault
from skillevo.llm.calls import CallLog, LoggedModel, Meter
from skillevo.llm.embedded import EmbeddedServer
from skillevo.llm.openai_chat import OpenAIChat, probe
from skillevo.schemas import violations
from skillevo.types import ChatRequest, Message, ModelRole, Sampling

PROMPT = (
    Message("system", "You answer the question from the text."),
    Message("user", "Text: Mira painted the boat green.\n\nQuestion: What colour is the boat?"),
)
WARM = Sampling(temperature=1.0, top_p=0.95, top_k=20)
SCHEMA = {
    "type": "object",
    "properties": {
        "agent": {"enum": ["reader", "answerer"]},
        "credit": {"enum": [-1, 0, 1]},
        "reason": {"type": "string", "maxLength": 40},
    },
    "required": ["agent", "credit", "reason"],
    "additionalProperties": False,
}


def request(**changes: Any) -> ChatRequest:
    values = {"role": ModelRole.ACTOR, "messages": PROMPT, "sampling": WARM, "max_tokens": 12}
    return ChatRequest(**{**values, **changes})


def serve(
    gguf: Path, folder: Path, scenario: Callable[[EmbeddedServer], Coroutine[Any, Any, None]]
) -> None:
    async def main() -> None:
        server = EmbeddedServer(gguf, context_tokens=1024, log_path=folder / "llama.log")
        async with server:
            await scenario(server)
        assert server.pid is None

    asyncio.run(main())


@pytest.mark.embedded
def test_real_model_answers_by_schema_and_seed_several_at_once(
    embedded_gguf: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pids: list[int] = []

    async def scenario(server: EmbeddedServer) -> None:
        assert server.pid is not None
        pids.append(server.pid)
        found = await probe(server.base_url, server.model)
        assert found.context_tokens == 1024
        chat = OpenAIChat(server.base_url, server.model, endpoint="embedded")
        meter = Meter(lambda: 0.0)
        with CallLog(tmp_path / "calls.jsonl") as log:
            model = LoggedModel(chat, log, meter, 2)
            async with asyncio.TaskGroup() as group:
                drawn = [
                    group.create_task(model.chat(request(seed=seed, sample=0)))
                    for seed in (1, 2, 3)
                ]
                credit = group.create_task(
                    model.chat(
                        request(role=ModelRole.CRITIC, schema=json.dumps(SCHEMA), max_tokens=120)
                    )
                )
            texts = [task.result().text for task in drawn]
            assert len(set(texts)) > 1
            assert violations(json.loads(credit.result().text), SCHEMA) == []
            again = await chat.chat(request(seed=5, sample=0))
            assert (await chat.chat(request(seed=5, sample=0))).text == again.text
            assert again.prompt_tokens
            assert again.completion_tokens
            with pytest.raises(CallFailed, match="does not fit the context") as caught:
                await chat.chat(request(messages=(Message("user", "word " * 2000),)))
            assert caught.value.terminal
        await chat.aclose()
        assert meter.snapshot().issued == 4

    serve(embedded_gguf, tmp_path, scenario)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
    assert capfd.readouterr() == ("", "")
    assert "load" in (tmp_path / "llama.log").read_text(errors="replace")


PARENT = """
import asyncio, sys
from pathlib import Path
from skillevo.llm.embedded import EmbeddedServer

async def main():
    gguf, log = map(Path, sys.argv[1:])
    async with EmbeddedServer(gguf, context_tokens=256, log_path=log) as server:
        print(server.pid, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.embedded
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watching a stranger needs a pidfd")
def test_killed_run_leaves_no_server_behind(embedded_gguf: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(embedded_gguf), str(tmp_path / "log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        server = os.pidfd_open(int(parent.stdout.readline()))
        try:
            assert not ended(server, within_s=0)
            parent.kill()
            assert ended(server, within_s=30)
        finally:
            os.close(server)


def ended(process: int, *, within_s: float) -> bool:
    """Whether the process behind a pidfd ends in time; it reads as ready from then on."""
    return bool(select.select([process], [], [], within_s)[0])


@pytest.mark.embedded
def test_file_that_is_no_model_is_a_clear_error(embedded_gguf: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(embedded_gguf.read_bytes()[:10_000])

    async def scenario(_: EmbeddedServer) -> None:
        pytest.fail("it cannot start")

    with pytest.raises(EnvironmentFault, match="cannot start the embedded model") as caught:
        serve(broken, tmp_path, scenario)
    assert "llama.log" in caught.value.fix


def test_missing_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)

    async def scenario(_: EmbeddedServer) -> None:
        pytest.fail("it cannot start")

    with pytest.raises(EnvironmentFault, match="the embedded model cannot run") as caught:
        serve(tmp_path / "x.gguf", tmp_path, scenario)
    assert caught.value.fix == f"{sys.executable} -m pip install xllamacpp"
