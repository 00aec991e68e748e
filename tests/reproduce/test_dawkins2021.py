"""The SoWinoBias experiment: its recipe is the whole design, and its table says what the audit found."""

from itertools import product

import pytest

from gapstack.errors import DataError
from gapstack.reproduce import sowinobias
from gapstack.runs import Recipe, run
from gapstack.runs.recipe import Part
from gapstack.scoring import score


@pytest.fixture(scope="module")
def finished(sample_train, sample_test, tmp_path_factory):
    recipe = Recipe("small", (Part("token_distance", "near"), Part("prior", "prior")), folds=3)
    return run(recipe, sample_train, sample_test, root=tmp_path_factory.mktemp("run"))


def test_the_recipe_crosses_debiasing_with_copies_and_changes_nothing_else():
    parts = [part.settings for part in Recipe.load(sowinobias.RECIPE).members]
    designs = [(part.get("debias", ""), tuple(part.get("augment", ()))) for part in parts]
    assert designs == list(product(("", "hard", "inlp"), ((), ("swap_gender",))))
    rest = [{k: v for k, v in part.items() if k not in ("debias", "augment")} for part in parts]
    assert all(one == rest[0] for one in rest)


def test_who_looks_at_no_word_differs_nowhere_and_costs_what_the_run_says(finished, gap_folder, tmp_path):
    report = sowinobias.report(finished, gap_folder)
    near, result = report.variants["near"], finished.members[0]
    for suite in ("winobias", "sowinobias"):
        assert near[f"{suite}_difference"].value == near[f"{suite}_pro"] - near[f"{suite}_anti"]
    # her and him differ in nothing but their letters, by which distances are counted
    assert abs(near["winobias_difference"].value) < 3
    # the nearer of the two is the one that is liked
    assert near["sowinobias_pro"] == near["sowinobias_anti"] == 100
    assert near["logloss"] == score(finished.test, result.test).value("logloss")
    assert [path.name for path in report.write(tmp_path)] == ["sowinobias.md", "sowinobias.json"]
    text = report.text()
    for expected in ("near", "Hard-GloVe, swap (paper)", "+17.4", "-7.0", "nobody has compared"):
        assert expected in text


def test_without_the_suites_data_there_is_no_report(finished, tmp_path, monkeypatch):
    monkeypatch.setattr("gapstack.corpus.sources._places", lambda data: [("--data", tmp_path)])
    with pytest.raises(DataError, match="the audit lacks winobias"):
        sowinobias.report(finished, tmp_path)
