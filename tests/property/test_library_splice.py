"""An edit of one field changes that field and no other byte; writing and reading are inverse."""

from __future__ import annotations

import os
from dataclasses import dataclass

import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from skillevo.library import document

settings.register_profile("library", max_examples=80, deadline=None)
settings.register_profile("library-nightly", max_examples=4000, deadline=None)
PROFILE = "library-nightly" if os.environ.get("SKILLEVO_NIGHTLY") == "1" else "library"

WRITTEN = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("🙂é:#'\"\\{}[],\n\t-\u2028\x85 "),
    max_size=40,
)
WORDS = st.lists(
    st.sampled_from(
        ["sorts", "photos", "🙂", "café", "--- no fence", "name", "1.10", "x:y", "a#b"]
    ),
    min_size=1,
    max_size=5,
).map(" ".join)
KEYS = ["license", "compatibility", "note", "on-call", "zone", '"quoted key"', "ключ"]


@dataclass(frozen=True)
class Entry:
    key: str
    before: str
    value: str
    after: str

    @property
    def source(self) -> str:
        return self.key_part + self.value + self.after

    @property
    def key_part(self) -> str:
        return f"{self.key}:{self.before}"


@st.composite
def entries(draw: st.DrawFn, key: str) -> Entry:
    words = draw(WORDS)
    comment = draw(st.sampled_from(["\n", "   # why: because\n", "\n\n", "\n# name: none\n"]))
    style = draw(
        st.sampled_from(
            [
                "single",
                "double",
                "literal",
                "folded",
                "keep",
                "map",
                "list",
                "flow",
                "null",
                "wrapped",
            ]
        )
    )
    if key in ("name", "description"):
        style = draw(st.sampled_from(["single", "double", "literal", "folded", "keep"]))
    if style == "single":
        return Entry(key, " ", "'" + words.replace("'", "''") + "'", comment)
    if style == "double":
        return Entry(key, "  ", f'"{words}\\t\\"q\\" \\u263a"', comment)
    if style in ("literal", "folded", "keep"):
        sign = {"literal": "|", "folded": ">-", "keep": "|+"}[style]
        more = draw(st.sampled_from(["", "\n\n  # no comment", "\n    deeper\n  ---"]))
        return Entry(key, " ", f"{sign}\n  {words}{more}", draw(st.sampled_from(["\n", "\n\n"])))
    if style == "map":
        return Entry(key, "", f"\n  a: '{words}'\n  b:\n    - 1\n    # c\n    - 2", comment)
    if style == "list":
        return Entry(key, "", f"\n- '{words}'\n- b: c\n  d: |\n    e", "\n")
    if style == "flow":
        return Entry(key, " ", "{a: [b, 'c'],\n  d: {e: f}}", comment)
    if style == "null":
        return Entry(key, "", "", comment)
    return Entry(key, " ", "first line\n  second line", comment)


@st.composite
def files(draw: st.DrawFn) -> tuple[list[Entry], str, str]:
    names = draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=4))
    order = draw(st.permutations(["name", "description", *names]))
    body = draw(
        st.sampled_from(
            [
                "",
                "\n# Steps\n\nname: fake\n---\nlicense: fake\n",
                "\n\nno end",
                "text 🙂\n\n\n",
                "\n",
            ]
        )
    )
    return [draw(entries(key)) for key in order], body, draw(st.sampled_from(["\n", "\r\n"]))


def built(parts: list[str], newline: str) -> str:
    return "".join(parts).replace("\n", newline)


def values(text: str) -> dict[str, object]:
    """The front matter as an independent reader sees it, every scalar as text."""
    unix = text.replace("\r\n", "\n")
    loaded = yaml.load(unix[4 : unix.index("\n---\n") + 1], Loader=yaml.BaseLoader)
    return dict(loaded)


def plain_key(key: str) -> str:
    return key.strip('"')


@settings(settings.get_profile(PROFILE))
@given(files(), st.data(), WRITTEN)
def test_setting_a_field_changes_its_value_and_no_other_byte(
    file: tuple[list[Entry], str, str], data: st.DataObject, value: str
) -> None:
    parts, body, newline = file
    sources = [entry.source for entry in parts]
    text = built(["---\n", *sources, "---\n", body], newline)
    index = data.draw(st.integers(0, len(parts) - 1))
    entry = parts[index]
    assume(value.strip() or entry.key not in ("name", "description"))

    edited = document.set_field(text, plain_key(entry.key), value)

    prefix = built(["---\n", *sources[:index], f"{entry.key}:"], newline)
    suffix = built([entry.after, *sources[index + 1 :], "---\n", body], newline)
    assert edited.startswith(prefix)
    assert edited.endswith(suffix)
    middle = edited[len(prefix) : len(edited) - len(suffix)]
    assert "\n" not in middle
    assert values(edited) == values(text) | {plain_key(entry.key): value}


@settings(settings.get_profile(PROFILE))
@given(files(), WRITTEN)
def test_inserting_a_field_adds_one_line_before_the_closing_fence(
    file: tuple[list[Entry], str, str], value: str
) -> None:
    parts, body, newline = file
    head = built(["---\n", *(entry.source for entry in parts)], newline)
    tail = built(["---\n", body], newline)
    edited = document.set_field(head + tail, "added", value)
    assert edited.startswith(head + "added: ")
    assert edited.endswith(newline + tail)
    assert edited.count("\n") == (head + tail).count("\n") + 1
    assert values(edited) == values(head + tail) | {"added": value}


@settings(settings.get_profile(PROFILE))
@given(files(), st.data())
def test_deleting_a_field_removes_its_lines_only(
    file: tuple[list[Entry], str, str], data: st.DataObject
) -> None:
    parts, body, newline = file
    sources = [entry.source for entry in parts]
    text = built(["---\n", *sources, "---\n", body], newline)
    optional = [i for i, entry in enumerate(parts) if entry.key not in ("name", "description")]
    assume(optional)
    index = data.draw(st.sampled_from(optional))
    key = plain_key(parts[index].key)

    edited = document.delete_field(text, key)

    assert edited.startswith(built(["---\n", *sources[:index]], newline))
    assert edited.endswith(built([*sources[index + 1 :], "---\n", body], newline))
    rest = values(text)
    del rest[key]
    assert values(edited) == rest


@settings(settings.get_profile(PROFILE))
@given(files(), WRITTEN)
def test_replacing_the_body_leaves_the_front_matter_alone(
    file: tuple[list[Entry], str, str], body: str
) -> None:
    parts, old, newline = file
    head = built(["---\n", *(entry.source for entry in parts), "---\n"], newline)
    assume(not any(character in body for character in "\x00\x85\u2028"))
    edited = document.replace_body(head + built([old], newline), body)
    assert edited.startswith(head)
    again = document.parse_skill(edited)
    assert document.replace_body(edited, again.body) == edited


@settings(settings.get_profile(PROFILE))
@given(WRITTEN, WRITTEN, WRITTEN)
def test_reading_what_was_written_gives_it_back(name: str, description: str, body: str) -> None:
    assume(name.strip() and description.strip())
    text = document.render_skill(name, description, body)
    skill = document.parse_skill(text)
    assert (skill.name, skill.description) == (name.strip(), description.strip())
    assert document.render_skill(skill.name, skill.description, skill.body) == text
    header = text.split("\n")
    assert header[0] == header[3] == "---"
    assert document.plain_fields(text) == {"name": skill.name, "description": skill.description}


@settings(settings.get_profile(PROFILE))
@given(st.lists(st.tuples(st.sampled_from(KEYS), WORDS), unique_by=lambda pair: pair[0]), WORDS)
def test_flow_style_is_edited_in_place(pairs: list[tuple[str, str]], value: str) -> None:
    inner = "".join(f", {key}: '{words}'" for key, words in pairs)
    text = f"---\n{{name: a, description: 'b'{inner}}}\n---\n\nBody.\n"
    edited = document.set_field(text, "note", value)
    assert values(edited) == values(text) | {"note": value}
    assert document.delete_field(edited, "note").endswith("}\n---\n\nBody.\n")
    if "note" not in dict(pairs):
        assert document.delete_field(edited, "note") == text
