"""How fast `skillevo validate` is beside skills-ref and agnix, as ratios inside one run.

A library of 1,000 skills (20 agents x 50, 2-3 KB each) is generated; all three check the same
files in turn, several rounds long, and the medians are compared. Ours counts whole: a process of
its own, interpreter start included. skills-ref's counts its checks only, inside its process. agnix
is a program and counts whole, too. The peers are installed with pip into a temporary environment
unless `--peers` names one. Prints one JSON line; what could not be measured is said in it.

    python bench/validate.py [--rounds 7] [--peers VENV]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

AGENTS, SKILLS_EACH = 20, 50
PEERS = ("skills-ref==0.1.1", "agnix==0.59.3")
TARGETS = {"skills_ref": 0.35, "agnix": 1.2}
WORDS = """
account address agenda album amount answer archive backup batch board branch bridge browser budget
button calendar camera canvas carton caption center change channel chapter chart circle client
column comment company concept context copy corner course cover credit cycle danger date decision
degree delivery design detail device digest direction discount distance document domain draft
editor effect element email energy engine entry error event example expense factor family feature
field figure filter folder format frame garden group guide habit heading height history holiday
image import index input insight invoice island item journal journey kernel keyword label language
layout leaf ledger letter level library limit line link list location logic machine map margin
market matrix meadow meeting memory menu message method metric minute mirror model moment month
morning motion museum narrative network note notice number object offer office option order origin
outline output page palette panel paper paragraph parcel partner passage pattern payment people
period person phase phrase picture place plan plate point policy portion position price print
problem process product profile project prompt proof property purpose quality quarter question
queue quote range rate reader reason receipt record region relation report request result review
ribbon river road role room route row rule sample scale scene schedule science scope score screen
season section sentence series service session shape sheet shelf signal sketch slide source space
speech stage state station step stone story stream street studio subject summary surface survey
symbol system table target team template term test text theme ticket title tone topic total track
trade traffic trail transfer travel trend unit update user value vendor version video view village
visit voice volume voucher walk warning water weather week weight window winter word work year
""".split()
TIMED_PEER = """
import json, pathlib, sys, time
from skills_ref import validate
folders = [path.parent for path in sorted(pathlib.Path(sys.argv[1]).rglob("SKILL.md"))]
start = time.perf_counter()
faults = sum(len(validate(folder)) for folder in folders)
print(json.dumps({"seconds": time.perf_counter() - start, "faults": faults}))
"""


def main() -> None:
    """Generate, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each checker")
    parser.add_argument("--peers", type=Path, help="an environment that has the peers installed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="skillevo-bench-") as folder:
        root = Path(folder, "project")
        generate(root / "skills", random.Random(9))
        peers = options.peers or install(Path(folder, "peers"))
        print(json.dumps(report(measure(root, peers, options.rounds), options.rounds)))


def generate(top: Path, rng: random.Random) -> None:
    """Write the library: valid skills, each with words of its own."""
    for agent in range(AGENTS):
        names: set[str] = set()
        while len(names) < SKILLS_EACH:
            names.add("-".join(rng.sample(WORDS, 3)))
        for name in sorted(names):
            folder = top / f"agent-{agent:02d}" / f"{name}-{agent}"
            folder.mkdir(parents=True)
            (folder / "SKILL.md").write_text(skill(folder.name, rng), encoding="utf-8")


def skill(name: str, rng: random.Random) -> str:
    """A skill of 2 to 3 KB."""
    size = rng.randint(2000, 2900)
    about = f"{sentence(rng, 12)} Use when {sentence(rng, 10).lower()}"
    version = f"1.{rng.randint(0, 9)}"
    text = (
        f"---\nname: {name}\ndescription: {about}\nlicense: Apache-2.0\n"
        f'metadata:\n  author: {rng.choice(WORDS)}\n  version: "{version}"\n'
        f"---\n\n# {name.replace('-', ' ').capitalize()}\n"
    )
    while len(text) < size:
        text += f"\n## {rng.choice(WORDS).capitalize()} {rng.choice(WORDS)}\n\n"
        text += "".join(f"{n}. {sentence(rng, 14)}\n" for n in range(1, 5))
        text += f"\n```python\n{rng.choice(WORDS)} = {rng.randint(1, 99)}\n```\n"
    return text[:size].rstrip().removesuffix("`") + "\n"


def sentence(rng: random.Random, words: int) -> str:
    """Words of the list, in no order that means anything."""
    return " ".join(rng.choices(WORDS, k=words)).capitalize() + "."


def install(folder: Path) -> Path:
    """An environment with the peers that the package index has."""
    venv.create(folder, with_pip=True)
    for peer in PEERS:
        subprocess.run(
            [folder / "bin" / "python", "-m", "pip", "install", "--quiet", peer],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    return folder


def measure(root: Path, peers: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds of every round by checker, in turn; a first round is not counted."""
    ours = Path(sys.executable).parent / "skillevo"
    commands = {"skillevo": [ours, "validate", "skills", "--format", "json"]}
    if (peers / "bin" / "agnix").exists():
        commands["agnix"] = [peers / "bin" / "agnix", "skills"]
    timed = [peers / "bin" / "python", "-c", TIMED_PEER, "skills"]
    seconds: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        found = {name: wall(command, root) for name, command in commands.items()}
        done = subprocess.run(timed, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            found["skills_ref"] = json.loads(done.stdout)["seconds"]
        for name, value in found.items() if number else ():
            seconds.setdefault(name, []).append(value)
    return seconds


def wall(command: list[str | Path], folder: Path) -> float:
    """Seconds of a process from start to end; findings are no failure, a crash is."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    took = time.perf_counter() - start
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {done.stderr.decode()[:500]}")
    return took


def report(seconds: dict[str, list[float]], rounds: int) -> dict[str, object]:
    """The line to print: ours over skills-ref's, and over agnix's among the details."""
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    ratios = {
        name: round(medians["skillevo"] / medians[name], 3) for name in TARGETS if name in medians
    }
    missing = [name for name in TARGETS if name not in medians]
    return {
        "id": "B9",
        "ratio": ratios.get("skills_ref"),
        "target": TARGETS["skills_ref"],
        "pass": not missing and all(ratios[name] <= limit for name, limit in TARGETS.items()),
        "details": {
            "skills": AGENTS * SKILLS_EACH,
            "rounds": rounds,
            "median_s": {name: round(value, 3) for name, value in medians.items()},
            "ratio_to_agnix": ratios.get("agnix"),
            "target_to_agnix": TARGETS["agnix"],
            "peers": list(PEERS),
            "could_not_be_had": missing,
        },
    }


if __name__ == "__main__":
    main()
