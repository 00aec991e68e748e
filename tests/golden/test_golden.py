"""What is computed today, frozen: a change of the code that is not meant to change results must pass all of these.

After a change that is meant, ``GAPSTACK_UPDATE_GOLDEN=1 pytest tests/golden -k NAME`` stores the new values.
"""

import shutil
from pathlib import Path

import pytest

from gapstack.data import write_gap
from gapstack.data.augment import AUGMENTATIONS
from gapstack.ensemble import CALIBRATORS, STACKERS
from gapstack.features import BLOCKS
from tests.golden import quantities
from tests.members.test_contract import ROWS

EXACT, FLOAT32, BFLOAT16 = 1e-9, 1e-5, 1e-3
STUDENTISED = 1e-6  # quantiles of ratios, which differ between processors after seven digits
LIBSVM = 2e-4  # its stopping tolerance is 1e-3, so that processors stop at different iterations
HALF = [row for row in ROWS if row.name in {"transformer_single", "anonymised", "frozen_mlp"}]
"""Some of those that compute in bfloat16 where the processor has it."""
THREE = ("good.csv", "middling.csv", "poor.csv")
REAL = ("fivezeros_frozen.csv", "krige_128_2.csv", "burlamix_model9_original.csv")
"""Submissions of the shared task's teams."""


def test_member(request, row, train, held, golden):
    found = quantities.answers(row.name, row.settings, train, held)
    tolerance = FLOAT32 if {"encoder", "vectors", "model"} & set(row.settings) else EXACT
    tolerance = LIBSVM if row.name == "kernel_svm" else tolerance
    golden("members", key_of(request), found, tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("row", HALF, ids=str, indirect=True)
def test_member_in_bfloat16(request, row, train, held, golden, bfloat16, tmp_path):
    # a copy, for an encoder that once computed in bfloat16 stays rounded until it is loaded anew
    encoder = shutil.copytree(row.settings["encoder"], tmp_path / "encoder")
    found = quantities.answers(row.name, row.settings | {"encoder": str(encoder)}, train, held)
    golden("members_bfloat16", key_of(request), found, BFLOAT16)


def key_of(request) -> str:
    """Name of a member and the number of its row among those of this name."""
    asked = request.node.callspec.params["row"]
    return f"{asked.name} {[row for row in ROWS if row.name == asked.name].index(asked) + 1}"


@pytest.mark.parametrize("kind", STACKERS)
def test_stacker(kind, sample_train, sample_test, golden):
    found = quantities.stacker_answers(kind, sample_train, sample_test)
    golden("stackers", kind, found, FLOAT32 if kind in quantities.NETWORKS else EXACT)


@pytest.mark.parametrize("kind", CALIBRATORS)
def test_calibrator(kind, sample_train, sample_test, golden):
    golden("calibrators", kind, quantities.calibrator_answers(kind, sample_train, sample_test), EXACT)


QUICK = {"simplex", "conditional", "lightgbm"}
"""Stackers whose stack is tested each time; those of the others are slow."""


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind in QUICK else pytest.mark.slow) for kind in STACKERS]
)
def test_stack(kind, train, held, golden):
    settings = {
        "members": list(quantities.STACKED),
        "stackers": [{"name": kind, "settings": quantities.QUICK_STACKERS.get(kind, {})}],
    }
    found = quantities.answers("stack", settings, train, held)
    golden("stackers", f"stack of {kind}", found, FLOAT32 if kind in quantities.NETWORKS else EXACT)


def test_list_of_members(golden):
    golden("listings", "gap members", quantities.printed_json("members"), EXACT)


def test_list_of_recipes(golden):
    golden("listings", "gap recipes", quantities.recipes())


def test_options_of_every_command(golden):
    golden("listings", "options", quantities.options())


@pytest.fixture
def submissions(files, sample_test, tmp_path):
    """Three synthetic submissions of the sample's held-out part, decisions, and the labels, in one folder."""
    folder = Path(shutil.copytree(files, tmp_path / "submissions"))
    write_gap(folder / "gold.tsv", sample_test)
    return folder


@pytest.mark.parametrize("name", ["good.csv", "middling.csv", "poor.csv", "decided.tsv"])
def test_scores(name, submissions, golden):
    found = quantities.printed_json("score", submissions / name, "--gold", submissions / "gold.tsv")
    golden("scores", name, found, EXACT)


def test_intervals_and_p_values(submissions, golden):
    golden(
        "scores", "compare", quantities.comparison(submissions, submissions / "gold.tsv", *THREE), STUDENTISED
    )


@pytest.fixture
def real_submissions(gap_folder) -> Path:
    """Folder of the shared task's submissions for GAP test."""
    folder = gap_folder / "submissions" / "gap_test"
    if not all((folder / name).is_file() for name in REAL):
        pytest.skip("the shared task's submissions are not on this machine")
    return folder


@pytest.mark.parametrize("name", REAL)
def test_scores_on_gap(name, real_submissions, golden):
    golden("scores_gap", name, quantities.printed_json("score", real_submissions / name), EXACT)


@pytest.mark.slow
def test_intervals_and_p_values_on_gap(real_submissions, golden):
    golden("scores_gap", "compare", quantities.comparison(real_submissions, None, *REAL), STUDENTISED)


@pytest.mark.parametrize("name", BLOCKS)
def test_feature_block(name, sample, golden):
    golden("features", name, quantities.feature_block(name, sample), EXACT)


@pytest.mark.parametrize("longest", [None, 48], ids=["whole", "window"])
def test_word_pieces(longest, sample, golden):
    found = quantities.word_pieces(sample, None, longest)
    golden("texts", f"pieces, {longest or 'whole'}", found)


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_augmentation(name, sample, golden):
    golden("texts", f"augmentation {name}", quantities.augmented_rows(name, sample))


@pytest.mark.parametrize(
    "options", [(), ("--all",), ("--seed", 3, "--words", 60)], ids=["balanced", "all", "seed"]
)
def test_mined(options, sample_train, tmp_path, golden):
    key = " ".join(map(str, ("gap mine", *options)))
    golden("texts", key, quantities.mined(sample_train, tmp_path, *options), EXACT)


@pytest.mark.parametrize("match", ["words", "heads"])
def test_clusters_to_gap(match, clusters_file, sample, tmp_path, golden):
    found = quantities.decided_by_clusters(clusters_file, sample, tmp_path, match)
    golden("texts", f"gap clusters-to-gap --match {match}", found, EXACT)


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(10, 50, 10))])
def test_shipped_model(first, golden):
    texts = slice(first, first + 10)
    golden("shipped_model", f"texts {first} to {first + 9}", quantities.answers_to_texts(texts), FLOAT32)


@pytest.mark.parametrize(
    "suite",
    ["winogender", *(pytest.param(name, marks=pytest.mark.slow) for name in ("winobias", "sowinobias"))],
)
@pytest.mark.parametrize("system", ["file", "token_distance"])
def test_audit(system, suite, sample_train, tmp_path, golden):
    golden("audit", f"{suite} of {system}", quantities.audited(suite, system, sample_train, tmp_path), EXACT)


@pytest.fixture(scope="session")
def gap_parts(gap_splits):
    """100 rows of GAP to learn from, and 100 others to answer."""
    return gap_splits["development"][:100], gap_splits["validation"][:100]


@pytest.fixture(scope="session")
def gap_cache(gap_parts, tmp_path_factory):
    """A cache that the tests on GAP share, with the parses of all rows; what it keeps changes no answer."""
    folder = tmp_path_factory.mktemp("gap")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPSTACK_CACHE", str(folder))
        quantities.parse(gap_parts[0] + gap_parts[1])
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", quantities.ON_GAP)
def test_member_on_gap(name, gap_parts, gap_cache, golden, monkeypatch):
    monkeypatch.setenv("GAPSTACK_CACHE", str(gap_cache))
    settings, of_network = quantities.ON_GAP[name]
    found = quantities.answers(name.split(",")[0], settings, *gap_parts)
    golden("members_gap", name, found, FLOAT32 if of_network else EXACT)


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["rudinger2018", "webster2018"])
def test_reproduced_on_the_sample(paper, tiny_encoder_folder, gap_folder, golden):
    # the published figures are of the data folder
    encoder = ("--encoder", tiny_encoder_folder) if paper == "webster2018" else ()
    found = quantities.reproduced(paper, "--data", "sample", *encoder)
    golden("papers", f"{paper} of the sample", found, FLOAT32)


@pytest.mark.slow
def test_stack_of_files(submissions, golden):
    # with the good submission among them, the stack would be certain of everything
    files = [submissions / name for name in ("middling.csv", "poor.csv")]
    gold = submissions / "gold.tsv"
    found = quantities.printed_json(
        "stack", *files, "--gold", gold, "--folds", 3, "--output", submissions / "out.csv"
    )
    golden("scores", "stack of files", found, EXACT)


def test_cross_validated(sample_train, golden):
    found = quantities.cross_validated("surface", {"rounds": 20, "bags": 1, "min_leaf": 5}, sample_train)
    golden("scores", "cross-validated surface", found, EXACT)
