"""What GREP's evidence is worth over ProBERT: equal epochs, several seeds, paired intervals.

    python benchmarks/evidence_pooling.py [--encoder NAME] [--rows 600] [--epochs 10] [--seeds 3] [--tune LAYERS]

Arms: ProBERT; GREP as the paper starts it (Xavier, one loss) and by the defaults of the member (zero, two losses), all
with Parallelism+URL, syntactic distance and neuralcoref's recorded clusters. They learn the first rows of GAP
development and are scored on GAP test. The columns are those of table 5 of Attree 2019. The encoder is frozen and
its states are stored, so that the arms differ in the evidence alone; ``--tune`` trains its upper layers. Then come
paired intervals (pages resampled, mean of the seeds), the rows that the evidence corrects and breaks, and the mean
weights of the resolvers by label (his figures 6 and 7).
"""

import argparse
import time

import numpy as np

from gapstack.data import Corpus, Label
from gapstack.data.gap_data import load_gap
from gapstack.encoding.encoders import load_encoder
from gapstack.evaluation import score
from gapstack.evaluation.metrics import example_losses
from gapstack.members import create
from gapstack.types import Floats, Probabilities

SOURCES = {"sources": ["parallelism+url", "syntactic_distance"], "clusters": ["neuralcoref"]}
ARMS = {
    "ProBERT": ("probert", {}),
    "GREP, the paper's start": ("grep", SOURCES | {"start": "xavier", "pronoun_loss": False}),
    "GREP, ours": ("grep", SOURCES | {"start": "zero", "pronoun_loss": True}),
}
RESAMPLES = 2000


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


def main() -> None:
    """Train all arms and print the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--encoder", help="a folder or a name of the Hub; by default the embedded one")
    parser.add_argument("--rows", type=int, default=2000, help="rows of GAP development to learn")
    parser.add_argument("--test-rows", type=int, default=2000, help="rows of GAP test to score")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tune", type=int, default=0, help="upper layers of the encoder to train")
    options = parser.parse_args()
    gap = load_gap()
    learn, test = gap.splits["development"][: options.rows], gap.splits["test"][: options.test_rows]
    plan = {"epochs": options.epochs, "frozen": ["encoder"]}
    if options.tune:
        depth = load_encoder(options.encoder).num_layers
        plan["frozen"] = list(range(depth - options.tune + 1))
    else:
        plan["head_lr"] = 1e-3
    answers: dict[str, list[Probabilities]] = {}
    for name, (kind, settings) in ARMS.items():
        for seed in range(options.seeds):
            started = time.perf_counter()
            member = create(kind, encoder=options.encoder, seed=seed, training=plan, **settings).fit(learn)
            answers.setdefault(name, []).append(member.predict_proba(test))
            loss = score(test, answers[name][-1]).logloss
            print(
                f"{name}, seed {seed}: logloss {loss:.4f}, {time.perf_counter() - started:.0f} s", flush=True
            )
    print(
        f"\n{options.encoder or 'MiniLM'}, {len(learn)} rows learned, {len(test)} scored, {options.epochs} epochs\n"
    )
    report(test, answers)
    weights = member.resolver_weights(test)
    print(f"\n| mean weight of a source, by label | {' | '.join(member.sources_)} |")
    print(f"| --- |{' --- |' * len(member.sources_)}")
    for label in Label:
        cells = " | ".join(f"{one:.2f}" for one in weights[test.labels == label].mean(axis=0))
        print(f"| {label.name} | {cells} |")


if __name__ == "__main__":
    main()
