"""Every rule finds its own bad example, spares its good one, and stands on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillevo.library.rule import Example, Profile, Rule
from skillevo.library.rules import ALL_RULES, check_tree
from skillevo.library.rules_page import page
from skillevo.types import Problem, Severity

PAGE = Path(__file__).parents[3] / "docs" / "rules.md"


def check(example: Example, profile: str = "spec") -> list[Problem]:
    return check_tree(example.files, profile=profile, library_limit=example.library_limit)


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.id)
def test_bad_example_breaks_this_rule_alone(rule: Rule) -> None:
    problems = check(rule.bad)
    assert {problem.rule for problem in problems} == {rule.id}
    assert {problem.severity for problem in problems} == {rule.severity}
    assert {problem.kind for problem in problems} == {rule.kind}
    assert all(p.line >= 1 and p.column >= 1 and p.message and p.fix for p in problems)


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.id)
def test_good_example_has_no_problem(rule: Rule) -> None:
    assert check(rule.good) == []


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.id)
def test_rule_applies_in_its_profiles_only(rule: Rule) -> None:
    for profile in Profile:
        found = {problem.rule for problem in check(rule.bad, profile)}
        assert (rule.id in found) == (profile in rule.profiles)


def test_rule_ids_are_unique_kebab_case() -> None:
    ids = [rule.id for rule in ALL_RULES]
    assert len(ids) == len(set(ids))
    assert all(part.isalnum() and part == part.lower() for name in ids for part in name.split("-"))


def test_recommendation_is_an_error_only_where_the_user_set_a_limit() -> None:
    strict = {
        r.id for r in ALL_RULES if r.kind == "recommendation" and r.severity == Severity.ERROR
    }
    assert strict == {"library-size"}


def test_page_is_what_the_rules_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write docs/rules.md anew (see its top)"


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.id)
def test_page_has_an_anchor_for_the_rule(rule: Rule) -> None:
    assert f"\n## {rule.id}\n" in page()
