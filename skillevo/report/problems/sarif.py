"""Findings as SARIF 2.1.0, the format that code scanning services read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from skillevo import __version__
from skillevo.library.catalog import RULES
from skillevo.library.characters import visible
from skillevo.library.rule import Rule
from skillevo.types import Problem

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"


def sarif_json(problems: Sequence[Problem]) -> dict[str, Any]:
    """One run with the rules that were broken and a result per finding, in the order given."""
    broken = {problem.rule for problem in problems}
    rules = [rule for rule in RULES.values() if rule.id in broken]
    places = {rule.id: number for number, rule in enumerate(rules)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "skillevo",
                        "semanticVersion": __version__,
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(problem, places) for problem in problems],
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": rule.severity.value},
        "properties": {"kind": rule.kind.value},
    }


def _result(problem: Problem, places: Mapping[str, int]) -> dict[str, Any]:
    region = {"startLine": problem.line, "startColumn": problem.column}
    return {
        "ruleId": problem.rule,
        "ruleIndex": places[problem.rule],
        "level": problem.severity.value,
        "message": {"text": visible(problem.message, 2000)},
        "locations": [
            {"physicalLocation": {"artifactLocation": _artifact(problem.path), "region": region}}
        ],
    }


def _artifact(path: str) -> dict[str, str]:
    # A name that is no UTF-8 keeps its bytes, percent-encoded.
    uri = quote(path, errors="surrogateescape")
    if PurePosixPath(path).is_absolute():
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": ROOT}
