"""Train and measure a small coreference resolver: F-coref's architecture over MiniLM, on LitBank and GUM.

Needs the extra: ``pip install 'gapstack[fastcoref]'``. The heads are fastcoref's ``FCorefModel`` (Otmazgin et al. 2022,
section 3; Kirstain et al. 2021), the loop is the project's own (``gapstack.training``), and what comes out is a folder
that fastcoref loads, so that ``gap resolve fastcoref --model FOLDER`` runs it. Differences from the paper, all
because there are only 200 documents:

- MiniLM instead of DistilRoBERTa, no teacher, heads of 256 units, texts of at most 384 word pieces.
- A loss on all mentions, singletons included: the paper's loss ignores mentions that the
  pruning drops, and an untrained pruner drops nearly all of them.
- Gold mentions are always among the candidates in training.
- The heads' vectors are initialised short (``begin_small``): as published, one step of Adam may move a score by tens.

A tenth of each corpus's documents is for development (only watched: nothing is chosen by it) and a tenth is held out
and measured once at the end, whole and cut as in training: MUC, B-cubed and CEAF-e without singletons, by fastcoref's
own scorer, compared with a baseline that links noun phrases with the same head. No GAP row is seen. A killed run
continues when started again.

    python -m spacy project run train models/coreference
"""

from __future__ import annotations

import argparse
import shutil
import time
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import spacy
import torch
from documents import CorefData, partly, parts, read, text_of
from learner import PIECES, its_own_loss, make_model
from scores import head_match, measure, resolver

from gapstack.files import write_json
from gapstack.training import Schedule, TrainingPlan, checkpoint_context, train

PARSER = Path(__file__).resolve().parents[1] / "en_gapstack"
"""Parses the texts for the baseline."""


def main(argv: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=Path("models/resolver"), help="folder for the model")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--encoder-lr", type=float, default=1e-4)
    parser.add_argument("--head-lr", type=float, default=1e-3)
    parser.add_argument(
        "--frozen",
        type=int,
        default=4,
        help="number of frozen layers, from the embeddings up",
    )
    parser.add_argument(
        "--partly",
        nargs="*",
        default=(),
        metavar="NAME",
        help="also train on rows with a pronoun and two names: stage2 (labels of the teacher), knowref-train",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--documents", type=int, help="use only the first N of each corpus")
    args = parser.parse_args(argv)
    torch.set_num_threads(args.threads)
    learner, tokenizer = make_model(args.seed)
    documents = read(args.seed, args.documents)
    cut = {
        part: {
            name: [text for one in found for text in parts(one, tokenizer, PIECES - 2)]
            for name, found in of.items()
        }
        for part, of in documents.items()
    }
    whole = {
        name: [text_of(one, range(len(one.tokens))) for one in found]
        for name, found in documents["held out"].items()
    }
    rows = [text for name in args.partly for text in partly(name)]
    data = CorefData([*chain(*cut["train"].values()), *rows], tokenizer)
    watched = CorefData([*chain(*cut["development"].values())], tokenizer)
    print(
        f"{len(data.sizes)} texts of {data.sizes.sum():,} pieces, {len(watched.sizes)} to watch", flush=True
    )
    plan = TrainingPlan(
        epochs=args.epochs,
        batch_size=2,
        encoder_lr=args.encoder_lr,
        head_lr=args.head_lr,
        frozen=tuple(range(args.frozen)),
        schedule=Schedule(warmup=0.1),
        seed=args.seed,
    )
    began = time.process_time()
    work = args.output.with_name(args.output.name + "_work")
    with checkpoint_context(work):
        history = train(learner, data, plan, watched, objective=its_own_loss)
    for evaluation in history.evaluations:
        print(f"epoch {evaluation.epoch}: {evaluation.loss:.4f}, development {evaluation.validation:.4f}")
    learner.whole().save_pretrained(args.output)
    tokenizer.save_pretrained(args.output)
    systems = {"trained": resolver(args.output), "head match": partial(head_match, spacy.load(PARSER))}
    scores: dict[str, Any] = {
        f"{system}, {kind}": measure(resolve, held)
        for kind, held in (("whole documents", whole), (f"texts of {PIECES} pieces", cut["held out"]))
        for system, resolve in systems.items()
    }
    for system, by_corpus in scores.items():
        print(system, *(f"  {name}: {found}" for name, found in by_corpus.items()), sep="\n")
    scores["training"] = {"CPU seconds": round(time.process_time() - began), "texts": len(data.sizes)}
    write_json(args.output.with_name(args.output.name + "_scores.json"), scores)
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
