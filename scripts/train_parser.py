"""Train, package and measure ``models/en_gapstack``, the spaCy pipeline that the project ships.

Stages, each skipped when its result is in the work folder:

1. *convert*: the treebank to spaCy's format (``spacy convert``), in texts of several sentences and GAP's spelling;
2. *gold*: tagger, morphologiser and parser on the treebank (``spacy train``);
3. *teacher*: MiniLM with a biaffine parser on the same data;
4. *silver*: the teacher parses Wikipedia snippets;
5. *final*: the parser of stage 2 trained on, on gold and silver;
6. *ner*: person names on gold and silver;
7. *package*: one pipeline with a lemmatiser, measured by ``spacy evaluate``, and its model card.

Run from anywhere: ``python scripts/train_parser.py --data ../shared/data --output models/en_gapstack``.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import spacy

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the script is run by path, its parts are imported by name

from scripts.parser import package, silver  # noqa: E402
from scripts.parser.corpus import gold_corpus, load_docs, save_docs, spacy_command  # noqa: E402
from scripts.parser.english import adapt_tokenizer  # noqa: E402

logger = logging.getLogger("train_parser")
CONFIGS = ROOT / "scripts" / "parser" / "configs"
CODE = ROOT / "scripts" / "parser" / "english.py"


def data_folder(option: Path | None) -> Path:
    """Where the data is: the option, else ``GAP_DATA``, else ``../shared/data`` beside the repository."""
    folder = option or Path(os.environ.get("GAP_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "treebank").is_dir():
        raise SystemExit(f"no folder treebank/ in {folder}: give the data folder with --data or GAP_DATA")
    return folder


class Clock:
    """Wall-clock seconds by stage, kept on disk so that a resumed run reports all of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = Lock()
        self.seconds: dict[str, float] = json.loads(path.read_text()) if path.exists() else {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time one stage; what an interrupted run of it took is not counted, a skipped one counts what it took."""
        logger.info("%s ...", name)
        began = time.monotonic()
        yield
        with self.lock:
            self.seconds[name] = max(self.seconds.get(name, 0.0), time.monotonic() - began)
            self.path.write_text(json.dumps(self.seconds, indent=1))
        logger.info("%s: %.0f s", name, self.seconds[name])


def train(
    config: str, corpus: Path, dev: Path, output: Path, args: argparse.Namespace, **overrides: object
) -> Path:
    """``spacy train`` with one of the repository's configs; returns the pipeline that did best on ``dev``."""
    done = output / "done"
    if not done.exists():
        options = [x for key, value in overrides.items() for x in (f"--{key.replace('__', '.')}", str(value))]
        spacy_command(
            "train", str(CONFIGS / f"{config}.cfg"), "--code", str(CODE), "--output", str(output),
            "--paths.train", str(corpus), "--paths.dev", str(dev), "--system.seed", str(args.seed), *options,
            threads=args.threads,
        )  # fmt: skip
        done.touch()
    return output / "model-best"


def train_gold(work: Path, args: argparse.Namespace) -> Path:
    """Stage 2: the parser on gold alone."""
    with args.clock.stage("gold"):
        corpus, steps = work / "train" / "gold.spacy", args.gold_steps
        return train("parser", corpus, work / "dev.spacy", work / "gold", args, training__max_steps=steps)


def train_final(start: Path, work: Path, args: argparse.Namespace) -> Path:
    """Stage 5: on from ``start``, on gold and silver, the learning rate falling to nothing."""
    corpus, steps = work / "final.spacy", args.final_steps
    with args.clock.stage("final"):
        return train(
            "final",
            corpus,
            work / "dev.spacy",
            work / "final",
            args,
            paths__start=start,
            training__max_steps=steps,
        )


def train_names(work: Path, args: argparse.Namespace) -> Path:
    """Stage 6: person names."""
    with args.clock.stage("ner"):
        corpus, steps = work / "ner.spacy", args.ner_steps
        return train("ner", corpus, work / "dev_gum.spacy", work / "ner", args, training__max_steps=steps)


def make_silver(data: Path, work: Path, args: argparse.Namespace) -> None:
    """Stages 3 and 4: fit the teacher, and let it parse the snippets."""
    import torch

    from scripts.parser import teacher

    torch.set_num_threads(args.threads)
    target = work / "silver.spacy"
    if target.exists():
        return
    encoder = args.encoder or teacher.default_encoder()
    gold = load_docs(work / "train" / "gold.spacy")
    dev = load_docs(work / "dev.spacy") + load_docs(work / "dev_gum.spacy")
    with args.clock.stage("teacher"):
        model = teacher.train_teacher(gold, dev, work / "teacher", encoder, args.teacher_passes, args.seed)
    with args.clock.stage("silver"):
        snippets = list(silver.read_snippets(data / silver.STAGE2, args.silver_words))
        nlp = adapt_tokenizer(spacy.blank("en"))
        docs = silver.snippet_docs(nlp, [text for text, _ in snippets])
        parsed = teacher.annotate(model, teacher.Collator(encoder, model.labels), docs)
        save_docs([silver.add_names(d, n) for d, (_, n) in zip(parsed, snippets, strict=True)], target)


def mixed_corpora(work: Path, seed: int) -> None:
    """The files that stages 5 and 6 train on: two of gold's three copies with silver, and GUM's names with silver."""
    final, names = work / "final.spacy", work / "ner.spacy"
    if final.exists() and names.exists():
        return
    gold, parsed = load_docs(work / "train" / "gold.spacy"), load_docs(work / "silver.spacy")
    share = random.Random(seed).sample(gold, 2 * len(gold) // 3)
    save_docs(share + parsed, final)
    save_docs([d for d in gold if d.has_annotation("ENT_IOB")] + parsed, names)


def main(argv: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="data folder (default: $GAP_DATA, then ../shared/data)")
    parser.add_argument("--output", type=Path, default=ROOT / "models" / "en_gapstack")
    parser.add_argument(
        "--work", type=Path, default=ROOT / "models" / "en_gapstack_work", help="for unfinished work"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="trainings at the same time, 1 or 2")
    parser.add_argument("--gold-steps", type=int, default=2500)
    parser.add_argument("--final-steps", type=int, default=1600)
    parser.add_argument("--ner-steps", type=int, default=4000)
    parser.add_argument("--teacher-passes", type=int, default=6)
    parser.add_argument("--silver-words", type=int, default=900_000)
    parser.add_argument(
        "--encoder", help="the teacher's encoder, by name or path (default: the packaged MiniLM)"
    )
    parser.add_argument(
        "--only", choices=["convert", "measure"], help="stop after converting, or only measure again"
    )
    parser.add_argument("--note", default="", help="a remark on this run for the model card")
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    data, work = data_folder(args.data), args.work
    work.mkdir(parents=True, exist_ok=True)
    args.clock = clock = Clock(work / "seconds.json")

    if args.only != "measure":
        with clock.stage("convert"):
            gold_corpus(data, work, args.seed)
        if args.only == "convert":
            return
        # two waves of two independent jobs; spaCy trains in a process of its own, so threads suffice
        with ThreadPoolExecutor(max_workers=args.jobs) as pool:
            gold, parsed = pool.submit(train_gold, work, args), pool.submit(make_silver, data, work, args)
            parsed.result()
            first = gold.result()
            mixed_corpora(work, args.seed)
            final, named = pool.submit(train_final, first, work, args), pool.submit(train_names, work, args)
            best, names = final.result(), named.result()
        with clock.stage("package"):
            package.assemble(best, names, load_docs(work / "train" / "gold.spacy"), args.output)
    scores = package.measure(args.output, data, work)
    (work / "scores.json").write_text(json.dumps(scores, indent=1))
    command = "python scripts/train_parser.py --data DIR --output models/en_gapstack"
    (args.output / "README.md").write_text(
        package.model_card(scores, clock.seconds, command, args.seed, args.note), "utf8"
    )
    brief = {
        k: round(100 * scores["dev"][k], 2) for k in ("dep_uas", "dep_las", "sents_f", "tag_acc", "lemma_acc")
    }
    logger.info("%s %s %s", brief, scores["speed"], scores["gap"])


if __name__ == "__main__":
    main()
