"""Run the main job on the corpus beside this file, as the command would, and compare with the expected clusters."""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE.parent / "out"
FLAGS = ["--unit", "char", "--ngram", "3", "--threshold", "0.6", "--id-field", "id"]


def main() -> None:
    """Run `neardup dedup`, show its first removals, and say whether the clusters are the expected ones."""
    OUT.mkdir(exist_ok=True)
    outputs = {"-o": "kept.jsonl", "--removed": "removed.jsonl", "--clusters": "clusters.jsonl"}
    outputs |= {"--pairs": "pairs.jsonl", "--stats": "stats.json"}
    named = [word for flag, name in outputs.items() for word in (flag, str(OUT / name))]
    command = [sys.executable, "-m", "neardup", "dedup", str(HERE / "corpus.jsonl"), *named, *FLAGS]
    print("$ neardup", *command[3:], flush=True)
    subprocess.run(command, check=True)
    texts = {record["id"]: record["text"] for record in read(HERE / "corpus.jsonl")}
    print("\nthe first removals, each with the text kept in its stead:")
    for record in read(OUT / "removed.jsonl")[:3]:
        print(f"\n  {record['similarity']:.3f}  - {record['id']}  {record['text']}")
        print(f"         = {record['kept_id']}  {texts[record['kept_id']]}")
    same = read(OUT / "clusters.jsonl") == read(HERE / "clusters.jsonl")
    print(f"\nclusters {'are' if same else 'ARE NOT'} those of examples/clusters.jsonl")
    sys.exit(0 if same else 1)


def read(path: Path) -> list[dict[str, object]]:
    """Return the records of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
