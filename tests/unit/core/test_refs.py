"""The grammar of run ids, refs, edit ids and trailers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from skillevo.core.refs import (
    Key,
    ParsedRef,
    RefKind,
    Trailers,
    candidate_branch,
    edit_id,
    evidence_ref,
    message_trailers,
    parse_edit_id,
    parse_ref,
    parse_trailers,
    run_branch,
    run_id,
    short_ref,
    valid_agent,
    valid_name,
    valid_run,
)

RUN = "20260102-030405-abcd"


@pytest.mark.parametrize("text", ["a", "20260102-030405-abcd", "my-run-1", "a" * 64, "a--b"])
def test_run_id_of_letters_digits_and_inner_hyphens_is_valid(text: str) -> None:
    assert valid_run(text)


@pytest.mark.parametrize(
    "text",
    ["", "-a", "a-", "A", "a.lock", "a/b", "a b", "é", "a" * 65, "..", "a\n", "@{1}", "a~1", "²"],
)
def test_run_id_that_no_ref_could_hold_is_invalid(text: str) -> None:
    assert not valid_run(text)


@pytest.mark.parametrize(
    "text", ["", "-a", "a-", "a--b", "A", "../x", "a\\b", "a/b", ".git", "a" * 65, "a\n"]
)
def test_name_that_no_folder_should_have_is_invalid(text: str) -> None:
    assert not valid_name(text)


def test_agent_may_not_be_called_like_the_run_branch() -> None:
    assert valid_name("main")
    assert not valid_agent("main")
    assert valid_agent("reader")


def test_run_id_is_the_time_in_utc_and_the_suffix() -> None:
    assert run_id(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "x9z0") == "20260102-030405-x9z0"
    east = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=5)))
    assert run_id(east, "abcd") == "20260101-220405-abcd"


@pytest.mark.parametrize("suffix", ["abc", "ABCD", "abcde", "a-bc"])
def test_run_id_refuses_a_suffix_outside_the_grammar(suffix: str) -> None:
    with pytest.raises(ValueError, match="suffix"):
        run_id(datetime(2026, 1, 2, tzinfo=UTC), suffix)


def test_refs_of_a_run_have_their_places() -> None:
    assert run_branch(RUN) == f"refs/heads/skillevo/{RUN}/main"
    assert candidate_branch(RUN, "reader", 3) == f"refs/heads/skillevo/{RUN}/reader/i003"
    assert evidence_ref(RUN) == f"refs/skillevo/runs/{RUN}"
    assert short_ref(run_branch(RUN)) == f"skillevo/{RUN}/main"


@pytest.mark.parametrize(
    ("run", "agent", "iteration"),
    [("A", "reader", 1), (RUN, "main", 1), (RUN, "a/b", 1), (RUN, "reader", 0), (RUN, "r", 10**6)],
)
def test_ref_outside_the_grammar_is_never_built(run: str, agent: str, iteration: int) -> None:
    with pytest.raises(ValueError, match="cannot be part of a ref name"):
        candidate_branch(run, agent, iteration)


def test_ref_is_read_back_as_it_was_built() -> None:
    assert parse_ref(run_branch(RUN)) == ParsedRef(RefKind.RUN, RUN)
    assert parse_ref(candidate_branch(RUN, "reader", 12)) == ParsedRef(
        RefKind.CANDIDATE, RUN, "reader", 12
    )
    assert parse_ref(evidence_ref(RUN)) == ParsedRef(RefKind.EVIDENCE, RUN)


@pytest.mark.parametrize(
    "ref",
    [
        "refs/heads/main",
        "refs/heads/skillevo",
        "refs/heads/skillevo/",
        f"refs/heads/skillevo/{RUN}",
        f"refs/heads/skillevo/{RUN}/reader",
        f"refs/heads/skillevo/{RUN}/reader/i1",
        f"refs/heads/skillevo/{RUN}/reader/i001/x",
        f"refs/heads/skillevo/{RUN}/main/i001",
        f"refs/heads/skillevo/{RUN.upper()}/main",
        f"refs/skillevo/rejected/{RUN}/main",
        f"refs/tags/skillevo/{RUN}/main",
    ],
)
def test_foreign_ref_is_none_of_a_run(ref: str) -> None:
    assert parse_ref(ref) is None


def test_edit_id_counts_with_four_digits_or_more() -> None:
    assert edit_id(RUN, 7) == f"{RUN}-0007"
    assert parse_edit_id(edit_id(RUN, 7)) == (RUN, 7)
    assert parse_edit_id(edit_id(RUN, 12345)) == (RUN, 12345)


@pytest.mark.parametrize("text", ["", "0007", f"{RUN}-7", f"{RUN}-000x", "A-0001"])
def test_text_that_is_no_edit_id_is_refused(text: str) -> None:
    assert parse_edit_id(text) is None


def test_trailers_are_read_in_order_and_foreign_ones_are_left_out() -> None:
    block = (
        "Skillevo-Edit: r-0001\nSigned-off-by: somebody\nSkillevo-From: reader/a\n"
        "no trailer\nSkillevo-From: reader/b\nskillevo-run: r\n"
    )
    trailers = parse_trailers(block)
    assert trailers.get(Key.EDIT) == "r-0001"
    assert trailers.all(Key.FROM) == ("reader/a", "reader/b")
    assert trailers.get(Key.RUN) == ""
    assert len(trailers.pairs) == 3


def test_only_the_last_paragraph_holds_trailers() -> None:
    message = "x\n\nSkillevo-Edit: forged\n\nSkillevo-Run: r\nSkillevo-Format: 1\n\n"
    assert message_trailers(message).pairs == ((Key.RUN, "r"), (Key.FORMAT, "1"))
    assert message_trailers("x\n").pairs == ()


def test_trailer_block_reads_back_and_drops_empty_values() -> None:
    trailers = Trailers(((Key.MODEL, "org/model-8b:free"), (Key.PROMPT, ""), (Key.FORMAT, "1")))
    assert trailers.block == "Skillevo-Model: org/model-8b:free\nSkillevo-Format: 1"
    assert parse_trailers(trailers.block).pairs == (
        (Key.MODEL, "org/model-8b:free"),
        (Key.FORMAT, "1"),
    )


def test_trailer_line_is_printable_and_at_most_200_characters() -> None:
    line = Trailers(((Key.MODEL, "x\ny\x1b[31m" + "z" * 500),)).block
    assert "\n" not in line
    assert line.isprintable()
    assert len(line) == 200
