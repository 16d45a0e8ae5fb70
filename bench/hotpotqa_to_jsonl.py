"""Convert HotpotQA records into the question files of the ``jsonl`` environment.

HotpotQA is not part of this project: fetch it yourself and mind its license (CC BY-SA 4.0). The
source has one JSON object a line with ``_id, question, answer, type, level, supporting_facts`` and
``context``, a list of ``[title, [sentences]]``. Existing output files are replaced.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skillevo.errors import DataError, SkillevoError

BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Passage:
    """One paragraph of the context; ``supporting`` ones are needed for the answer."""

    text: str
    supporting: bool


@dataclass(frozen=True, slots=True)
class Record:
    """One checked HotpotQA question."""

    id: str
    question: str
    answer: str
    category: str
    passages: tuple[Passage, ...]

    @property
    def context(self) -> str:
        """The passages as ``title: sentences``, one blank line between two."""
        return "\n\n".join(passage.text for passage in self.passages)

    @property
    def context_tokens(self) -> int:
        """The estimated length of the context: UTF-8 bytes / 4, rounded up."""
        return -(-len(self.context.encode()) // BYTES_PER_TOKEN)

    def line(self) -> str:
        """The question as one line of a ``jsonl`` environment's file."""
        fields = {
            "id": self.id,
            "question": self.question,
            "answer": self.answer,
            "context": self.context,
            "category": self.category,
        }
        return json.dumps(fields, ensure_ascii=False) + "\n"


def read_records(source: Path) -> list[Record]:
    """Every record of the file; DataError names the file and line of the first bad one."""
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"cannot read {source}", why=str(error), fix="pass a UTF-8 file with --source"
        ) from error
    records: dict[str, Record] = {}
    # Not splitlines(): a JSON string may hold U+2028 and other marks that it would split at.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{source}:{number}"
        record = parse_record(line, place)
        if record.id in records:
            raise _bad(place, f"the id {record.id!r} occurs twice")
        records[record.id] = record
    return list(records.values())


def parse_record(line: str, place: str) -> Record:
    """The record in one line of JSON; DataError, which names ``place``, when it is none."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _bad(place, f"not JSON: {error}") from error
    if not isinstance(data, dict):
        raise _bad(place, "not a JSON object")
    id_, question, answer, category = (
        _text(data, key, place) for key in ("_id", "question", "answer", "type")
    )
    titles = {_title(fact, place) for fact in _items(data, "supporting_facts", place)}
    passages = tuple(_passage(item, titles, place) for item in _items(data, "context", place))
    if sum(passage.supporting for passage in passages) < len(titles):
        raise _bad(place, "a supporting fact names a passage that is not in the context")
    return Record(id_, question, answer, category, passages)


def choose(records: Sequence[Record], count: int, seed: int) -> list[Record]:
    """``count`` records in an order that depends on the seed and the ids, not on the file's order.

    DataError when there are fewer.
    """
    if len(records) < count:
        raise DataError(
            f"{count} questions were asked for",
            why=f"the source has {len(records)}",
            fix="lower --train or --validation, or pass a larger --source",
        )

    def rank(record: Record) -> str:
        return hashlib.sha256(f"{seed}:{record.id}".encode()).hexdigest()

    return sorted(records, key=rank)[:count]


def shorten(record: Record, max_tokens: int) -> Record:
    """The record without its last distractor passages until its context has ``max_tokens`` or less.

    Supporting passages always stay, so the result may still be longer.
    """
    passages = list(record.passages)
    for index in reversed(range(len(passages))):
        if record.context_tokens <= max_tokens:
            break
        if not passages[index].supporting:
            del passages[index]
            record = replace(record, passages=tuple(passages))
    return record


def write_split(path: Path, records: Sequence[Record]) -> None:
    """Write one question file, with its folder; DataError when that is impossible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(record.line() for record in records), encoding="utf-8")
    except OSError as error:
        raise DataError(
            f"cannot write {path}", why=str(error), fix="pass a writable folder with --out"
        ) from error


def convert(options: argparse.Namespace) -> list[str]:
    """Do what the options say; lines that tell what was written and what was dropped."""
    wanted = options.train + options.validation
    full = choose(read_records(options.source), wanted, options.seed)
    kept, report = full, []
    if options.max_context_tokens is not None:
        kept = [shorten(record, options.max_context_tokens) for record in full]
        dropped = [
            len(old.passages) - len(new.passages) for old, new in zip(full, kept, strict=True)
        ]
        touched = sum(count > 0 for count in dropped)
        report.append(
            f"dropped {sum(dropped)} distractor passages from {touched} of {wanted} questions"
        )
        long = [record.id for record in kept if record.context_tokens > options.max_context_tokens]
        report += [f"{id_}: the supporting passages alone exceed the cap" for id_ in long]
    splits = {"train": kept[: options.train], "validation": kept[options.train :]}
    for name, records in splits.items():
        path = options.out / f"{name}.jsonl"
        write_split(path, records)
        longest = max(record.context_tokens for record in records)
        report.append(f"wrote {len(records)} questions to {path} (context up to {longest} tokens)")
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 when both files were written, the error's exit code otherwise."""
    options = _parser().parse_args(arguments)
    try:
        report = convert(options)
    except SkillevoError as error:
        parts = (("error", error.what), ("why", error.why), ("fix", error.fix))
        print("\n".join(f"{name}: {text}" for name, text in parts if text), file=sys.stderr)
        return error.exit_code
    print("\n".join(report))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Convert HotpotQA records into train.jsonl and validation.jsonl."
    )
    parser.add_argument(
        "--source", type=Path, required=True, help="HotpotQA records, one JSON object a line"
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="folder of the two files, which are replaced"
    )
    parser.add_argument("--train", type=_positive, default=4, help="training questions (default 4)")
    parser.add_argument(
        "--validation", type=_positive, default=4, help="validation questions (default 4)"
    )
    parser.add_argument("--seed", type=int, default=0, help="which questions are taken (default 0)")
    parser.add_argument(
        "--max-context-tokens",
        type=_positive,
        help="drop distractor passages from the end until the context fits (bytes / 4); "
        "supporting passages always stay",
    )
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _bad(place: str, why: str) -> DataError:
    return DataError(
        f"{place}: not a HotpotQA record", why=why, fix="correct or remove this line of the source"
    )


def _text(data: dict[str, object], key: str, place: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _bad(place, f"{key!r} must be a text that is not empty")
    return " ".join(value.split())


def _items(data: dict[str, object], key: str, place: str) -> list[object]:
    value = data.get(key)
    if not isinstance(value, list) or not value:
        raise _bad(place, f"{key!r} must be a list that is not empty")
    return value


def _title(fact: object, place: str) -> str:
    match fact:
        case [str(title), int()]:
            return title
    raise _bad(place, "'supporting_facts' must hold [title, number] pairs")


def _passage(item: object, supporting: set[str], place: str) -> Passage:
    match item:
        case [str(title), [*sentences]] if all(isinstance(text, str) for text in sentences):
            # A blank line inside a passage would look like the border between two.
            body = " ".join(" ".join(str(text) for text in sentences).split())
            return Passage(f"{title}: {body}", title in supporting)
    raise _bad(place, "'context' must hold [title, [sentences]] pairs")


if __name__ == "__main__":
    sys.exit(main())
