"""What is said of a value that breaks its schema."""

from __future__ import annotations

from skillevo.schemas import violations


def test_a_violation_does_not_repeat_a_value_of_any_size() -> None:
    (found,) = violations({"decision": "x" * 1_000_000}, "skill_draft")
    assert len(found.message) < 300
    assert found.message.startswith("'xxx")
    assert found.message.endswith("is not one of ['skill', 'none']")
