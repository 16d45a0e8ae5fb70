"""The call log keeps every answer, survives torn writes, and never tears a record itself."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from skillevo.errors import EnvironmentFault
from skillevo.llm.calls import CallLog
from skillevo.types import (
    ChatReply,
    ChatRequest,
    Message,
    ModelIdentity,
    ModelRole,
    Sampling,
    Thinking,
)

IDENTITY = ModelIdentity("http://h/v1", "m", "r1")
REQUEST = ChatRequest(
    ModelRole.ACTOR, (Message("user", "u"),), Sampling(temperature=1.0), 24, seed=7, sample=0
)
REPLY = ChatReply("grün \ud83d", "length", 5, 2, None)


def put(log: CallLog, sample: int, reply: ChatReply = REPLY) -> str:
    request = replace(REQUEST, sample=sample)
    key = CallLog.key(IDENTITY, request)
    log.put(key, request, reply)
    return key


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, sample=1),
        replace(REQUEST, sample=None),
        replace(REQUEST, seed=8),
        replace(REQUEST, max_tokens=25),
        replace(REQUEST, schema="{}"),
        replace(REQUEST, thinking=Thinking.OFF),
        replace(REQUEST, messages=(Message("system", "u"),)),
        replace(REQUEST, messages=(Message("user", "u"), Message("user", ""))),
        *(
            replace(REQUEST, sampling=replace(REQUEST.sampling, **{name: 0.5}))
            for name in Sampling.__dataclass_fields__
        ),
    ],
)
def test_everything_that_decides_the_answer_is_in_the_key(other: ChatRequest) -> None:
    assert CallLog.key(IDENTITY, other) != CallLog.key(IDENTITY, REQUEST)


@pytest.mark.parametrize("field", ["endpoint", "model", "revision"])
def test_the_model_is_in_the_key(field: str) -> None:
    other = replace(IDENTITY, **{field: "x"})
    assert CallLog.key(other, REQUEST) != CallLog.key(IDENTITY, REQUEST)


def test_who_asks_is_not_in_the_key() -> None:
    same = replace(REQUEST, role=ModelRole.CRITIC, affinity="q1")
    assert CallLog.key(IDENTITY, same) == CallLog.key(IDENTITY, REQUEST)


def test_whole_number_written_without_a_point_is_the_same_temperature() -> None:
    same = replace(REQUEST, sampling=replace(REQUEST.sampling, temperature=1))
    assert CallLog.key(IDENTITY, same) == CallLog.key(IDENTITY, REQUEST)


def test_key_is_the_same_on_every_machine() -> None:
    assert CallLog.key(IDENTITY, REQUEST).startswith("70caefa95e94e9a9")


def test_reopened_log_gives_back_every_answer(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "calls.jsonl"
    with CallLog(path) as log:
        keys = [put(log, n, replace(REPLY, completion_tokens=n)) for n in range(5)]
    again = CallLog(path)
    assert len(again) == 5
    assert [again.get(k) for k in keys] == [
        replace(REPLY, completion_tokens=n, key=k) for n, k in enumerate(keys)
    ]
    assert again.get("other") is None


def test_reading_needs_no_writable_folder_and_writes_nothing(tmp_path: Path) -> None:
    log = CallLog(tmp_path / "calls.jsonl")
    log.close()
    log.close()
    assert list(tmp_path.iterdir()) == []


def test_record_holds_the_request_unless_an_actor_asked(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    critic = replace(REQUEST, role=ModelRole.CRITIC)
    with CallLog(path) as log:
        log.put("a", REQUEST, REPLY)
        log.put("b", critic, REPLY)
    actor_line, critic_line = map(json.loads, path.read_text().splitlines())
    assert "request" not in actor_line
    assert critic_line["request"]["messages"] == [["user", "u"]]
    assert critic_line["role"] == "critic"


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_torn_last_line_is_dropped_and_the_next_record_is_whole(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "calls.jsonl"
    with CallLog(path) as log:
        first, torn = put(log, 0), put(log, 1)
    path.write_bytes(path.read_bytes()[:-cut])
    with CallLog(path) as log:
        assert log.get(first) is not None
        assert log.get(torn) is None
        assert log.damaged == 0
        last = put(log, 2)
    again = CallLog(path)
    assert again.damaged == 0
    assert again.get(last) is not None
    assert len(again) == 2


@pytest.mark.parametrize(
    "line",
    [
        b"garbage",
        b"\xff\xff",
        b"[]",
        b"{}",
        b'{"key": "k"}',
        b'{"key": 1, "reply": {"text": "t", "finish_reason": "stop"}}',
        b'{"key": "k", "reply": {"text": null, "finish_reason": "stop"}}',
        b'{"key": "k", "reply": {"text": "t", "finish_reason": "stop", "prompt_tokens": "9"}}',
        b'{"key": "k", "reply": "t"}',
        b"[" * 100_000,
    ],
    ids=lambda line: repr(line[:40]),
)
def test_damaged_line_is_skipped_and_counted(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "calls.jsonl"
    with CallLog(path) as log:
        before = put(log, 0)
    path.write_bytes(line + b"\n" + path.read_bytes())
    log = CallLog(path)
    assert log.damaged == 1
    assert len(log) == 1
    assert log.get(before) is not None


def test_records_reach_the_disk_every_second_or_256_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(count), fsync(fd))[1])
    now = 0.0
    count = 0
    with CallLog(tmp_path / "calls.jsonl", clock=lambda: now) as log:
        for count in range(1, 301):
            put(log, count)
        now = 1.5
        count = 301
        put(log, count)
        count = 302
        put(log, count)
    assert synced == [256, 301, 302]


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """No file may grow beyond ``size``: writes are cut short and then fail, as on a full disk."""
    resource = pytest.importorskip("resource", reason="limits are a POSIX thing")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [0, 40])
def test_full_disk_is_one_clear_error_and_no_torn_record(tmp_path: Path, room: int) -> None:
    path = tmp_path / "calls.jsonl"
    log = CallLog(path)
    kept = put(log, 0)
    size = path.stat().st_size
    with file_size_limit(size + room):
        with pytest.raises(EnvironmentFault, match="cannot write the call log") as caught:
            put(log, 1)
        assert path.stat().st_size == size
    assert str(path) in caught.value.what
    assert "free disk space" in caught.value.fix
    with pytest.raises(EnvironmentFault, match="cannot write the call log"):
        put(log, 2)
    log.close()
    again = CallLog(path)
    assert (len(again), again.damaged) == (1, 0)
    assert again.get(kept) is not None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_read_only_folder_is_a_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(EnvironmentFault, match="cannot write the call log"):
            put(CallLog(tmp_path / "calls.jsonl"), 0)
    finally:
        tmp_path.chmod(0o700)


def test_path_that_cannot_be_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentFault, match="cannot read the call log"):
        CallLog(tmp_path)
    with pytest.raises(EnvironmentFault, match="call log"):
        put(CallLog(tmp_path / "file" / "calls.jsonl"), 0)
