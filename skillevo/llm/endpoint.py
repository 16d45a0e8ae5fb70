"""A model server seen from outside: its public address, what it serves, how it can be unusable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from skillevo.errors import ConfigError, ServerError
from skillevo.llm import wire

_DOCTOR = "`skillevo doctor` checks it"
_REFUSALS = {
    401: "set `api_key_env` to a variable that holds a valid key",
    403: "use a key that may use this model",
    404: "check `model`, and that `base_url` ends in /v1 where the server wants it",
}


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a server says about itself; ``context_tokens`` is None when it does not report it."""

    models: tuple[str, ...]
    context_tokens: int | None = None
    revision: str = ""


def public_url(base_url: str) -> str:
    """The URL without a user name, password, query or final slash: fit for messages and keys.

    ConfigError when it is no http(s) URL.
    """
    try:
        parts = urlsplit(base_url)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        valid = False
    if not valid or not base_url.isprintable() or " " in base_url:
        raise ConfigError(
            f"`base_url` is no web address: {wire.printable(base_url, 80)!r}",
            why="a model server is reached over http or https",
            fix='write it like base_url = "http://127.0.0.1:8000/v1"',
        )
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def is_local(base_url: str) -> bool:
    """True for this machine's loopback address."""
    return urlsplit(base_url).hostname in ("127.0.0.1", "localhost", "::1")


def check_key(place: str, api_key: str | None) -> str:
    """The key without surrounding blanks; ConfigError when no header can carry it."""
    key = (api_key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"the API key for {place} cannot be sent",
            why="it holds characters that are not printable ASCII",
            fix="set the variable named by `api_key_env` to the bare key",
        )
    return key


def unreachable(place: str, reason: str) -> ServerError:
    """The error of a server that cannot be used at all."""
    return ServerError(
        f"cannot use the model server at {place}",
        why=reason,
        fix=f"start the server, or correct `base_url` in skillevo.toml; {_DOCTOR}",
    )


def refused(place: str, model: str, status: int, reason: str) -> ServerError:
    """The error of a server that answers 401, 403 or 404."""
    return ServerError(
        f"the model server at {place} refused model {model!r}",
        why=reason,
        fix=f"{_REFUSALS[status]}; {_DOCTOR}",
    )


def read_models(place: str, model: str, payload: bytes) -> ProbeResult:
    """What a ``/models`` answer says about ``model``.

    BrokenReply when it is no such answer, ServerError when it does not name the model. vLLM reports
    the context as ``max_model_len``, llama.cpp as ``meta.n_ctx`` (per slot).
    """
    body = wire.load_json(payload)
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, list):
        raise wire.BrokenReply("there is no `data` list")
    entries = [e for e in data if isinstance(e, dict) and isinstance(e.get("id"), str)]
    listed = {wire.printable(entry["id"]): entry for entry in entries}
    if model not in listed:
        raise _missing(place, model, tuple(listed))
    return ProbeResult(tuple(listed), _context_tokens(listed[model]))


def _context_tokens(entry: dict[str, Any]) -> int | None:
    meta = entry.get("meta")
    sizes = (entry.get("max_model_len"), meta.get("n_ctx") if isinstance(meta, dict) else None)
    return next((size for size in sizes if type(size) is int and size > 0), None)


def _missing(place: str, model: str, names: tuple[str, ...]) -> ServerError:
    shown = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    return ServerError(
        f"the model server at {place} does not serve {model!r}",
        why=f"it serves {shown}" if names else "it serves no model",
        fix=f"set `model` in skillevo.toml to {names[0]!r}" if names else "load a model there",
    )
