"""One iteration on a few HotpotQA questions with the embedded model, ending with its decisions.

    python bench/hotpotqa_evolve.py --source hotpotqa_train.jsonl --out /tmp/hotpotqa

Makes a project in ``--out`` with 4 training and 4 validation questions and runs ``skillevo evolve``
in it. Takes about 8 minutes on two cores. Nothing of the data is kept elsewhere.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

CONVERTER = Path(__file__).with_name("hotpotqa_to_jsonl.py")
CONTEXT_TOKENS = 4096
PASSAGE_TOKENS = 1200

CONFIG = f"""\
[project]
name = "hotpotqa"

[[team.agents]]
name = "reader"
role = "roles/reader.md"

[[team.agents]]
name = "answerer"
role = "roles/answerer.md"

[task]
train = "data/train.jsonl"
validation = "data/validation.jsonl"

[models.actor]
base_url = "embedded"
context_tokens = {CONTEXT_TOKENS}
max_tokens = 32
temperature = 1.0
top_p = 0.95
top_k = 20

[models.critic]
base_url = "embedded"
context_tokens = {CONTEXT_TOKENS}
max_tokens = 200

[evolve]
iterations = 1
batch = 4

[evolve.schedule]
induce = 0
examples = 1
"""
ROLES = {
    "reader": "You are the reader. You copy the sentences that the question is about.\n",
    "answerer": "You are the answerer. You answer the question from the text and the note.\n",
}


def main() -> int:
    """Convert, make the project, evolve; the exit code of ``skillevo evolve``."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--source", type=Path, required=True, help="HotpotQA records, JSON lines")
    parser.add_argument("--out", type=Path, required=True, help="folder for the project")
    parser.add_argument("--seed", type=int, default=0, help="which questions are drawn")
    options = parser.parse_args()
    if options.out.exists() and any(options.out.iterdir()):
        parser.error(f"{options.out} is not empty")
    (options.out / "roles").mkdir(parents=True)
    for name, role in ROLES.items():
        (options.out / "roles" / f"{name}.md").write_text(role, encoding="utf-8")
    (options.out / "skillevo.toml").write_text(CONFIG, encoding="utf-8")
    (options.out / ".gitignore").write_text("data/\n", encoding="utf-8")
    convert = ["--source", str(options.source), "--out", str(options.out / "data")]
    convert += ["--train", "4", "--validation", "4", "--seed", str(options.seed)]
    convert += ["--max-context-tokens", str(PASSAGE_TOKENS)]
    subprocess.run([sys.executable, str(CONVERTER), *convert], check=True)
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@skillevo.invalid"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "Start"]):
        subprocess.run(["git", "-C", str(options.out), *command], check=True)
    for key, value in (("user.name", "bench"), ("user.email", "bench@skillevo.invalid")):
        subprocess.run(["git", "-C", str(options.out), "config", key, value], check=True)
    evolve = [sys.executable, "-m", "skillevo", "-C", str(options.out), "evolve"]
    return subprocess.run(evolve, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
