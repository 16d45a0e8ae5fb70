"""Imports point downward, there is no cycle, and each foreign library has one owner."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "skillevo"

LAYER = {
    "types": 0, "ports": 0, "errors": 0,
    "schemas": 1,
    "library": 2, "core": 2,
    "ask": 3, "config": 3,
    "rollout": 4, "credit": 4, "operators": 4,
    "llm": 4, "store": 4, "envs": 4, "report": 4, "sim": 4,
    "methods": 5, "pipeline": 5, "audit": 5,
    "plugins": 6, "app": 6,
    "cli": 7,
}  # fmt: skip
SIDEWAYS = {
    ("core", "library"), ("ports", "types"), ("pipeline", "methods"), ("audit", "pipeline"),
    ("audit", "methods"), ("app", "plugins"),
}  # fmt: skip
OWNERS = {
    "git": {"store/git.py"},
    "openai": {"llm/openai_chat.py"},
    "frontmatter": {"library/document.py"},
    "yaml": {"library/document.py"},
    "jsonschema": {"schemas.py"},
    "xllamacpp": {"llm/embedded_process.py"},
    "click": None,
    "rich": None,
}
PURE = {"types", "ports", "errors", "schemas", "library", "core"}
IMPURE_MODULES = {"asyncio", "subprocess", "socket", "time", "random", "logging", "os", "threading"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[tuple[str, int]]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            found += [(f"{node.module}.{alias.name}", node.lineno) for alias in node.names]
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_module_imports_only_downward(path: Path) -> None:
    here = room(path)
    if here in {"__init__", "__main__"}:
        return
    assert here in LAYER, f"{here} has no layer: add it to architecture and to this test"
    for name, line in imports(path):
        parts = name.split(".")
        if parts[0] != "skillevo" or len(parts) < 2 or parts[1] not in LAYER or parts[1] == here:
            continue
        there = parts[1]
        allowed = LAYER[there] < LAYER[here] or (here, there) in SIDEWAYS
        assert allowed, f"{path}:{line}: {here} must not import {there}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_foreign_library_is_imported_by_its_owner_only(path: Path) -> None:
    relative = path.relative_to(PACKAGE).as_posix()
    for name, line in imports(path):
        top = name.split(".")[0]
        assert top != "vllm", f"{relative}:{line}: vLLM is a server process"
        if top in OWNERS:
            owners = OWNERS[top]
            allowed = relative in owners if owners else relative.startswith("cli/")
            assert allowed, f"{relative}:{line}: {top} has another owner"


@pytest.mark.parametrize(
    "path",
    [p for p in modules() if room(p) in PURE],
    ids=lambda p: p.relative_to(PACKAGE).as_posix(),
)
def test_pure_room_does_no_io(path: Path) -> None:
    for name, line in imports(path):
        assert name.split(".")[0] not in IMPURE_MODULES, f"{path}:{line}: {name} in a pure room"


def test_modules_form_no_import_cycle() -> None:
    names = {
        "skillevo." + p.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", "."): p
        for p in modules()
    }
    graph = {}
    for name, path in names.items():
        edges = set()
        for target, _ in imports(path):
            for candidate in (target, target.rpartition(".")[0]):
                if candidate in names and candidate != name:
                    edges.add(candidate)
        graph[name] = edges
    done: set[str] = set()

    def visit(node: str, trail: tuple[str, ...]) -> None:
        assert node not in trail, "import cycle: " + " -> ".join((*trail, node))
        if node in done:
            return
        for target in sorted(graph[node]):
            visit(target, (*trail, node))
        done.add(node)

    for name in sorted(graph):
        visit(name, ())
