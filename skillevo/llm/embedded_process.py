"""The embedded server's own process: ``python -m skillevo.llm.embedded_process``.

Prints one JSON line, ``{"address": ...}`` or ``{"error": ...}``, and ends when its standard input
closes, so that it never outlives the run that started it. The only importer of ``xllamacpp``.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import TextIO


def main() -> None:
    """Serve until standard input closes."""
    options = _options()
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # llama.cpp writes where it likes; everything but the report goes to the log.
    os.dup2(2, 1)
    try:
        import xllamacpp
    except ImportError as error:
        _say(report, error=f"xllamacpp cannot be loaded: {error}")
        os._exit(1)
    params = xllamacpp.CommonParams()
    params.model.path = options.gguf
    params.model_alias = {options.alias}
    params.n_ctx = options.slots * options.context_tokens
    params.n_parallel = options.slots
    params.cpuparams.n_threads = options.threads
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        _say(report, error=f"llama.cpp cannot load the model: {error}")
        os._exit(1)
    _say(report, address=server.listening_address)
    while os.read(0, 4096):
        pass
    # No orderly end: waiting for the generations under way would keep the parent waiting.
    os._exit(0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="skillevo.llm.embedded_process")
    parser.add_argument("gguf")
    parser.add_argument("--alias", required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--context-tokens", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    return parser.parse_args()


def _say(report: TextIO, **message: str) -> None:
    print(json.dumps(message), file=report, flush=True)


if __name__ == "__main__":
    main()
