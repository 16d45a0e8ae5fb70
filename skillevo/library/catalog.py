"""Every rule of the checker, in the order in which the layers apply."""

from __future__ import annotations

from types import MappingProxyType

from skillevo.library.catalog_skill import BODY_RULES, FIELD_RULES
from skillevo.library.catalog_text import BYTE_RULES, FENCE_RULES, YAML_RULES
from skillevo.library.rule import SAMPLE_PATH, Kind, Rule, skill, tree
from skillevo.types import Severity

_GOOD = skill("sort-photos")
_AGENT = "skills/archivist"

LIBRARY_RULES = (
    Rule(
        "nested-skill",
        Severity.WARNING,
        Kind.PORTABILITY,
        "A skill lies inside another skill's folder, where most clients never look.",
        "Move the inner skill beside the outer one.",
        bad=tree({SAMPLE_PATH: _GOOD, "sort-photos/name-files/SKILL.md": skill("name-files")}),
        good=tree({SAMPLE_PATH: _GOOD, "name-files/SKILL.md": skill("name-files")}),
    ),
    Rule(
        "skill-depth",
        Severity.ERROR,
        Kind.SPEC,
        "A skill lies deeper than skills/<agent>/<skill>/ and belongs to no library.",
        "Move the skill's folder up to skills/<agent>/<skill>/.",
        bad=tree({f"{_AGENT}/images/sort-photos/SKILL.md": _GOOD}),
        good=tree({f"{_AGENT}/sort-photos/SKILL.md": _GOOD}),
    ),
    Rule(
        "duplicate-skill-name",
        Severity.WARNING,
        Kind.RECOMMENDATION,
        "Two agents have a skill of the same name.",
        "Rename one of the two, so that reports and edits name one skill.",
        bad=tree({f"{_AGENT}/sort-photos/SKILL.md": _GOOD, f"skills/b/{SAMPLE_PATH}": _GOOD}),
        good=tree({f"{_AGENT}/sort-photos/SKILL.md": _GOOD}),
    ),
    Rule(
        "library-size",
        Severity.ERROR,
        Kind.RECOMMENDATION,
        "An agent has more skills than the configured limit.",
        "Merge or remove skills, or raise the limit in skillevo.toml.",
        bad=tree(
            {
                f"{_AGENT}/sort-photos/SKILL.md": _GOOD,
                f"{_AGENT}/name-files/SKILL.md": skill("name-files"),
            },
            library_limit=1,
        ),
        good=tree({f"{_AGENT}/sort-photos/SKILL.md": _GOOD}, library_limit=1),
    ),
    Rule(
        "similar-descriptions",
        Severity.WARNING,
        Kind.RECOMMENDATION,
        "Two skills of one agent have nearly the same description, so that neither is chosen well.",
        "Say in each description when to use this one, or merge the two.",
        bad=tree(
            {
                f"{_AGENT}/sort-photos/SKILL.md": _GOOD,
                f"{_AGENT}/order-photos/SKILL.md": _GOOD.replace("name: sort", "name: order"),
            }
        ),
        good=tree(
            {
                f"{_AGENT}/sort-photos/SKILL.md": _GOOD,
                f"{_AGENT}/name-files/SKILL.md": skill("name-files", "Renames files by a scheme."),
            }
        ),
    ),
)

ALL_RULES: tuple[Rule, ...] = (
    *BYTE_RULES,
    *FENCE_RULES,
    *YAML_RULES,
    *FIELD_RULES,
    *BODY_RULES,
    *LIBRARY_RULES,
)

RULES = MappingProxyType({rule.id: rule for rule in ALL_RULES})
"""The rules by id."""
