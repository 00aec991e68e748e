"""What GREP's evidence is worth over ProBERT: equal epochs, several seeds, paired intervals.

    python benchmarks/evidence_pooling.py [--encoder NAME] [--rows 2000] [--epochs 10] [--seeds 3]
        [--vectors pronoun|mentions] [--source LIST ...] [--tune LAYERS]

Arms: ProBERT; GREP with the evidence of each ``--source``, a list with commas of parallelism+url, syntactic_distance,
neuralcoref (recorded clusters) and running_text (the name that the recorded answers of the resolver of running text
prefer). They learn the first rows of GAP development and are scored on GAP test.

The encoder is frozen and its states are stored, so that the arms differ in the evidence alone. The pronoun's vector of
a frozen encoder does not say which name it refers to, so by default the classifier of all arms reads the vectors of all
three mentions (``--vectors pronoun`` is the paper's); ``--tune`` trains the encoder's upper layers.

The columns are those of table 5 of Attree 2019. Then come paired intervals (pages resampled, mean of the seeds), the
rows that the evidence corrects and breaks, and the mean weights of the resolvers by label (his figures 6 and 7).
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gapstack.data import Corpus, Label
from gapstack.data.clusters import Cluster, Clusters, Document, text_sha256, write_clusters
from gapstack.data.gap_data import load_gap
from gapstack.encoding.encoders import load_encoder
from gapstack.evaluation import score
from gapstack.evaluation.metrics import example_losses
from gapstack.members import create
from gapstack.members.member import Member
from gapstack.resolvers import shares
from gapstack.types import Floats, Probabilities

CUES = ("parallelism+url", "syntactic_distance")
RUNNING_TEXT, NEURALCOREF = "running_text", "neuralcoref"
SOURCES = (*CUES, NEURALCOREF, RUNNING_TEXT)
RESAMPLES = 2000


def running_text_clusters(path: Path, rows: Corpus) -> None:
    """Write clusters of the pronoun and the name that the resolver of running text prefers to all else, if any."""
    preferred = shares.shares(rows).argmax(axis=1)
    clusters: dict[str, list[Cluster]] = defaultdict(list)
    for row, column in zip(rows, preferred.tolist(), strict=True):
        name = {shares.A: row.a, shares.B: row.b}.get(column)
        clusters[row.text] += [] if name is None else [tuple(sorted((row.pronoun, name)))]
    documents = [
        Document(str(number), text_sha256(text), tuple(found))
        for number, (text, found) in enumerate(clusters.items())
    ]
    write_clusters(path, Clusters(RUNNING_TEXT, "recorded", documents))


def evidence(source: str, file: Path) -> dict[str, list[str]]:
    """Settings of GREP for a list of sources; ``file`` has the clusters of the resolver of running text."""
    names = source.split(",")
    if unknown := set(names) - set(SOURCES):
        raise SystemExit(f"unknown sources: {', '.join(sorted(unknown))}; known: {', '.join(SOURCES)}")
    clusters = {NEURALCOREF: NEURALCOREF, RUNNING_TEXT: str(file)}
    return {
        "sources": [name for name in names if name in CUES],
        "clusters": [clusters[name] for name in names if name in clusters],
    }


def paired(rows: Corpus, losses: Floats) -> tuple[float, float, float]:
    """Mean of differences (n,) of losses, and its 95% interval over resampled pages."""
    pages = np.unique(rows.groups, return_inverse=True)[1]
    sizes, sums = np.bincount(pages), np.bincount(pages, losses)
    draws = np.random.default_rng(0).multinomial(
        len(sizes), np.full(len(sizes), 1 / len(sizes)), size=RESAMPLES
    )
    low, high = np.percentile((draws @ sums) / (draws @ sizes), [2.5, 97.5])
    return float(losses.mean()), float(low), float(high)


def report(rows: Corpus, answers: dict[str, list[Probabilities]]) -> None:
    """Print the table, the paired differences and the changed rows."""
    print("| | F1 M | F1 F | bias | F1 | logloss | by seed |\n| --- | --- | --- | --- | --- | --- | --- |")
    for name, seeds in answers.items():
        each = [score(rows, one) for one in seeds]
        mean = {
            key: np.mean([getattr(one, key) for one in each])
            for key in ("f1_masculine", "f1_feminine", "bias", "f1_overall", "logloss")
        }
        f1_m, f1_f, bias, f1, loss = mean.values()
        losses = ", ".join(f"{one.logloss:.3f}" for one in each)
        print(f"| {name} | {f1_m:.1f} | {f1_f:.1f} | {bias:.2f} | {f1:.1f} | {loss:.3f} | {losses} |")
    first, *others = answers
    labels = rows.labels
    for name in others:
        pairs = list(zip(answers[name], answers[first], strict=True))
        losses = np.mean([example_losses(labels, a) - example_losses(labels, b) for a, b in pairs], axis=0)
        difference, low, high = paired(rows, losses)
        right = [[one.argmax(axis=1) == labels for one in pair] for pair in pairs]
        fixed = np.mean([(new & ~old).sum() for new, old in right])
        broken = np.mean([(old & ~new).sum() for new, old in right])
        print(
            f"\n{name} minus {first}: logloss {difference:+.4f} [{low:+.4f}, {high:+.4f}]; "
            f"corrects {fixed:.0f} rows and breaks {broken:.0f} (mean of seeds)"
        )


def train(
    kind: str, settings: dict[str, Any], options: argparse.Namespace, learn: Corpus, test: Corpus, name: str
) -> tuple[list[Probabilities], Member]:
    """Predictions of a member for the test rows by seed, and the member of the last seed."""
    plan: dict[str, Any] = {"epochs": options.epochs, "frozen": ["encoder"], "head_lr": options.head_lr}
    if options.tune:
        depth = load_encoder(options.encoder).num_layers
        plan["frozen"] = list(range(depth - options.tune + 1))
    shared = {"encoder": options.encoder, "vectors": options.vectors, "max_pieces": options.max_pieces}
    answers = []
    for seed in range(options.seeds):
        started = time.perf_counter()
        member = create(kind, **shared, **settings, seed=seed, training=plan).fit(learn)
        answers.append(member.predict_proba(test))
        seconds = time.perf_counter() - started
        print(
            f"{name}, seed {seed}: logloss {score(test, answers[-1]).logloss:.4f}, {seconds:.0f} s",
            flush=True,
        )
    return answers, member


def main(arguments: Sequence[str] | None = None) -> None:
    """Train all arms and print the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--encoder", help="a folder or a name of the Hub; by default the embedded one")
    parser.add_argument("--rows", type=int, default=2000, help="rows of GAP development to learn")
    parser.add_argument("--test-rows", type=int, default=2000, help="rows of GAP test to score")
    parser.add_argument("--split", default="test", help="GAP's split to score")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--head-lr", type=float, default=1e-3)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--vectors", choices=["pronoun", "mentions"], default="mentions")
    parser.add_argument("--max-pieces", type=int, help="longest window of a text")
    parser.add_argument("--tune", type=int, default=0, help="upper layers of the encoder to train")
    parser.add_argument(
        "--source", action="append", help="sources with commas, once for each arm; by default all sources"
    )
    options = parser.parse_args(arguments)
    gap = load_gap()
    learn, test = gap.splits["development"][: options.rows], gap.splits[options.split][: options.test_rows]
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"{RUNNING_TEXT}.jsonl"
        running_text_clusters(file, learn + test)
        answers = {"ProBERT": train("probert", {}, options, learn, test, "ProBERT")[0]}
        weights = {}
        for source in options.source or [",".join(SOURCES)]:
            name = f"GREP: {source}"
            answers[name], member = train("grep", evidence(source, file), options, learn, test, name)
            if len(member.sources_) > 1:
                weights[name] = member.sources_, member.resolver_weights(test)
    encoder = options.encoder or "MiniLM"
    print(f"\n{encoder}, {len(learn)} rows learned, {len(test)} scored, {options.epochs} epochs\n")
    report(test, answers)
    for name, (sources, by_row) in weights.items():
        print(f"\n| {name}: mean weight by label | {' | '.join(sources)} |")
        print(f"| --- |{' --- |' * len(sources)}")
        for label in Label:
            cells = " | ".join(f"{one:.2f}" for one in by_row[test.labels == label].mean(axis=0))
            print(f"| {label.name} | {cells} |")


if __name__ == "__main__":
    main()
