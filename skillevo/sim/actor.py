"""The simulated actor: picks a sentence of the text and cuts an answer out of it by rules.

Its behaviour depends on its skills through cues in the system prompt (see ``Effects``), so that
edits of a library change what it does. It never sees a reference answer.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from skillevo.types import ChatRequest

_TASK = re.compile(
    r"\A(?:Text:\n(?P<text>.*?)\n\n)?Question: (?P<question>.*?)(?P<notes>(?:\n\nNote from .*)?)\Z",
    re.DOTALL,
)
_NOTE = re.compile(r"Note from [^\n:]+:\n(.*?)(?=\n\nNote from |\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[\w'’-]+")
_SMALL = frozenset(
    "a an and are as at be because been but by did do does for from had has have he her his how in "
    "into is it its many much of on once or our she so than that the their them then there they "
    "this to under up was we were what when where which while who whom whose why will with".split()
)
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty "
    "sixty hundred thousand".split()
)
Keep = Callable[[int, str], bool]
_MISREADS = 0.35
_CONCISE = 0.4


@dataclass(frozen=True, slots=True)
class Effects:
    """What the skills in a system prompt make the actor do."""

    careful: bool
    rambling: bool
    concise: bool
    verbose: bool

    @classmethod
    def of(cls, system: str) -> Effects:
        """Read from cues; the prompt's role comes first and must hold none of them."""
        skills = system.partition("## Skills")[2].lower()
        return cls(
            careful=bool(re.search(r"sentence that (holds|contains)|quote the", skills)),
            rambling="background of the text" in skills,
            concise=bool(
                re.search(r"shortest|as few words|only the words|only those words", skills)
            ),
            verbose=bool(re.search(r"(full|complete)[^.]* sentence", skills)),
        )


def act(request: ChatRequest) -> str:
    """What the agent writes: a note when nobody has written one yet, else the answer."""
    system = request.messages[0].content
    task = _TASK.match(request.messages[-1].content)
    if task is None:
        return ""
    effects = Effects.of(system)
    notes = _NOTE.findall(task["notes"])
    question: str = task["question"]
    text: str = task["text"] or question
    sampled = not request.sampling.greedy
    if not notes:
        # Greedy reading misreads, too, but the same questions every time.
        draws = random.Random(request.seed if sampled else question)
        return read(text, question, effects, draws)
    lucky = sampled and random.Random(request.seed).random() < _CONCISE
    return answer(notes[-1], question, effects, lucky=lucky)


def read(text: str, question: str, effects: Effects, draws: random.Random) -> str:
    """A note: the sentence that shares most with the question, or by misreading the next best."""
    sentences = _SENTENCE.split(text.strip())
    ranked = sorted(sentences, key=lambda s: -len(_content(s) & _content(question)))
    best = ranked[0]
    if effects.rambling:
        return " ".join(s for s in sentences if s != best)
    misread = draws.random() < _MISREADS and not effects.careful
    return ranked[1] if misread and len(ranked) > 1 else best


def answer(note: str, question: str, effects: Effects, *, lucky: bool) -> str:
    """An answer from the note: a phrase when concise or lucky, else the note's first sentence."""
    sentence = _SENTENCE.split(note.strip())[0]
    if not effects.verbose and (effects.concise or lucky):
        return phrase(sentence, question)
    return f"According to the text, {sentence}"


def phrase(sentence: str, question: str) -> str:
    """The words that answer the question, by the kind that its question word asks for."""
    words: list[str] = _WORD.findall(sentence)
    asked = _content(question)
    start = question.lower().split()[:2]
    if start[:1] in (["who"], ["whose"], ["where"]):
        named = _run(words, lambda i, w: w[:1].isupper() and i > 0 and _stem(w) not in asked)
        if named:
            return named
    if start == ["how", "many"] or start == ["how", "much"]:
        counts = [w for w in words if (w[0].isdigit() or w.lower() in _NUMBERS)]
        if counts:
            return counts[0]
    rest = _run(words, lambda _, w: w.lower() not in _SMALL and _stem(w) not in asked)
    return rest or sentence


def _run(words: list[str], keep: Keep) -> str:
    """The longest stretch of words that ``keep`` accepts; of equals the last."""
    best: list[str] = []
    here: list[str] = []
    for index, word in enumerate(words):
        here = [*here, word] if keep(index, word) else []
        if len(here) >= max(1, len(best)):
            best = here
    return " ".join(best[:4])


def _content(text: str) -> frozenset[str]:
    return frozenset(_stem(w) for w in _WORD.findall(text) if w.lower() not in _SMALL)


def _stem(word: str) -> str:
    return re.sub(r"(?:'s|’s|ing|ed|es|s|d)$", "", word.lower())
