"""The public surface: what ``import gapstack`` gives, how quickly, and the six lines of the README."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_val_predict

import gapstack
from gapstack import members
from gapstack.data import Corpus, sources
from gapstack.errors import DataError
from gapstack.runs.folder import RunFolder
from gapstack.runs.recipe import Part

ROOT = Path(__file__).resolve().parents[1]
NAMES = {
    *("Corpus", "Example", "Label", "Recipe", "Span", "__version__", "audit", "compare", "create"),
    *("cross_validate", "load", "load_gap", "read", "run", "save", "score", "stack", "swap_gender"),
}
HEAVY = ("torch", "spacy", "sklearn", "pandas", "transformers", "numpy", "scipy", "lightgbm")


@pytest.fixture
def no_gap(monkeypatch):
    """GAP is nowhere, so that the embedded sample takes its place."""
    monkeypatch.setattr(sources, "find", lambda name: None)


def python(code: str) -> str:
    """Output of a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("module", "unwanted"), [("gapstack", (*HEAVY, "rich", "typer")), ("gapstack.cli", HEAVY)]
)
def test_importing_the_package_or_its_commands_imports_nothing_heavy(module, unwanted):
    heavy = python(f"import {module}, sys; print([name for name in {unwanted} if name in sys.modules])")
    assert heavy == "[]"


def test_all_names_are_listed_and_can_be_imported():
    assert set(gapstack.__all__) == NAMES
    for name in NAMES:
        assert getattr(gapstack, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'lod_gap'"):
        _ = gapstack.lod_gap


def test_six_lines_from_gap_to_the_scores_of_a_stack(no_gap):
    gap = gapstack.load_gap()
    member = gapstack.create("surface").fit(gap.train)
    text = "Kate told Mary that she should leave."
    probabilities = member.predict_proba(
        gapstack.Corpus([gapstack.Example.from_text(text, "she", "Kate", "Mary")])
    )
    stack = gapstack.stack(["surface", "parallelism"], gap.train)
    scores = gapstack.score(gap.test, stack.predict_proba(gap.test))
    assert gap.is_sample
    assert probabilities.sum() == pytest.approx(1)
    assert scores.logloss < gapstack.score(gap.test, np.full((len(gap.test), 3), 1 / 3)).logloss


def test_the_python_of_the_readme_runs_as_it_stands(no_gap, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", readme, re.DOTALL))
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert "logloss" in capsys.readouterr().out


def test_results_print_in_ten_lines_at_most(sample_train, sample_test, gap_folder):
    result = gapstack.cross_validate("prior", sample_train)
    comparison = gapstack.compare({"one": np.full((88, 3), 1 / 3)}, sample_test, replicates=100)
    member = gapstack.create("prior").fit(sample_train)
    audit = gapstack.audit(member, data=gap_folder, suites=["winogender"])
    for one in (result, result.scores, comparison, audit, gapstack.load("default")):
        assert len(repr(one).splitlines()) <= 10
        assert len(repr(one)) < 1000
    assert "running text" in repr(gapstack.load())
    assert "running text" not in repr(member)


def test_signatures_name_every_argument():
    for name in NAMES - {"__version__", "create"}:
        for function in (getattr(gapstack, name), *vars(getattr(gapstack, name)).values()):
            if inspect.isfunction(function) and not function.__name__.startswith("_"):
                kinds = {one.kind for one in inspect.signature(function).parameters.values()}
                assert inspect.Parameter.VAR_KEYWORD not in kinds, function
    assert "rounds" in inspect.signature(members.Surface).parameters, "create has those of the class"


def test_cross_validation_gives_what_a_run_gives(sample_train, sample_test, tmp_path):
    settings = {"rounds": 20, "learning_rate": 0.1}
    recipe = gapstack.Recipe("one", (Part("surface", "surface", settings),), folds=3, seed=7)
    finished = gapstack.run(recipe, sample_train, sample_test, root=tmp_path)
    member = gapstack.create("surface", **settings)
    result = gapstack.cross_validate(member, sample_train, folds=3, seed=7)
    assert np.array_equal(result.probabilities, finished.members[0].out_of_fold)
    assert result.scores == gapstack.score(sample_train, result.probabilities)
    assert not hasattr(member, "is_fitted_"), "the member given stays as it is"


def test_a_run_loads_its_recipe_and_its_data(tmp_path, no_gap):
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nfolds = 3\n[[members]]\nname = "prior"\n', encoding="utf-8")
    for recipe in (path, str(path), gapstack.Recipe.load(str(path))):
        finished = gapstack.run(recipe, root=tmp_path)
        assert finished.recipe.name == "mine-sample"
        assert finished.submission.is_file()
    assert isinstance(finished.folder, RunFolder)


def test_a_run_on_train_alone_is_refused(sample_train):
    with pytest.raises(DataError, match="missing"):
        gapstack.run("quickstart", sample_train)


def test_comparison_of_arrays_and_of_files_agree(sample_train, sample_test, tmp_path):
    from gapstack.data import write_submission

    systems = {
        name: gapstack.create(name).fit(sample_train).predict_proba(sample_test)
        for name in ("prior", "random")
    }
    made = gapstack.compare(systems, sample_test, replicates=100)
    with pytest.raises(DataError, match="3 rows"):
        gapstack.compare({"one": np.full((3, 3), 1 / 3)}, sample_test)
    for name, probabilities in systems.items():
        write_submission(tmp_path / f"{name}.csv", sample_test.ids, probabilities)
    files = gapstack.compare([tmp_path / f"{name}.csv" for name in systems], sample_test, replicates=100)
    assert made.names == files.names
    assert made.to_pandas().equals(files.to_pandas())
    assert made.to_pandas().loc["prior", "logloss"] == pytest.approx(
        gapstack.score(sample_test, systems["prior"]).logloss
    )


def test_a_member_is_audited_by_itself_and_by_its_folder(sample_train, tmp_path, gap_folder):
    member = gapstack.create("prior").fit(sample_train)
    gapstack.save(member, tmp_path / "prior")
    by_itself = gapstack.audit(member, data=gap_folder, suites=["winogender"])
    by_folder = gapstack.audit(str(tmp_path / "prior"), data=gap_folder, suites=["winogender"])
    assert by_itself.systems == ("Prior",)
    assert [suite.suite.name for suite in by_itself.covered] == ["winogender"]
    for one, other in zip(by_itself.covered, by_folder.covered, strict=True):
        assert np.array_equal(one.answers["Prior"], other.answers["prior"])


def test_members_work_in_scikit_learns_cross_validation(sample_train):
    member = gapstack.create("surface", rounds=10)
    groups, labels = sample_train.groups, sample_train.labels
    probabilities = cross_val_predict(
        member, sample_train, labels, groups=groups, cv=GroupKFold(5), method="predict_proba"
    )
    expected = np.empty_like(probabilities)
    for fitted, held in GroupKFold(5).split(labels, groups=groups):
        expected[held] = clone(member).fit(sample_train.take(fitted)).predict_proba(sample_train.take(held))
    assert np.array_equal(probabilities, expected)
    decided = cross_val_predict(member, sample_train, groups=groups, cv=GroupKFold(5))
    assert np.array_equal(decided, expected.argmax(axis=1))


def test_corpora_are_indexed_as_arrays_are(sample_train):
    rows = np.array([3, 0, -1])
    assert sample_train[rows].ids == [sample_train[int(row)].id for row in rows]
    assert sample_train[[3, 0]].ids == sample_train[rows[:2]].ids
    assert sample_train[rows, ...].ids == sample_train[rows].ids
    mask = sample_train.labels == 2
    assert sample_train[mask].ids == sample_train.take(np.flatnonzero(mask)).ids
    assert len(sample_train[[]]) == 0
    assert sample_train.shape == (len(sample_train),)
    assert isinstance(sample_train[np.int64(2)], gapstack.Example)
    assert isinstance(sample_train[2:4], Corpus)
    with pytest.raises(IndexError):
        sample_train[np.array([len(sample_train)])]


@pytest.mark.parametrize(("given", "expected"), [({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE")])
def test_waiting_threads_sleep_unless_the_user_decides(given, expected):
    code = "import os, gapstack; print(os.environ['OMP_WAIT_POLICY'])"
    kept = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    printed = subprocess.check_output([sys.executable, "-c", code], env=kept | given, text=True)
    assert printed.strip() == expected
