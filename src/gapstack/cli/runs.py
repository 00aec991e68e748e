"""Runs: execute a recipe, predict new rows, list and show what was run, search settings."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer
from typer import Argument, Option

from gapstack.cli import common
from gapstack.errors import DataError, Place, counted

if TYPE_CHECKING:
    from gapstack.data import Corpus
    from gapstack.runs.recipe import Part, Recipe
    from gapstack.runs.stored_results import Run

app = typer.Typer()


@common.command(
    app,
    "gap run quickstart",
    "gap run quickstart --train mine.tsv --test new.tsv",
    "gap run attree2019 --dry-run",
)
def run_command(
    recipe: str = Argument(
        "quickstart",
        help="A recipe (see `gap recipes`), a .toml file, or the folder of a run to finish or repair.",
        autocompletion=common.complete_recipe,
    ),
    data: common.DataOption = None,
    labels: common.LabelsOption = None,
    encoder: str | None = Option(
        None, help="Encoder of all members: folder, hub name, minilm or gapstack-text."
    ),
    parser: str | None = Option(None, help="spaCy pipeline: name or folder. Default: en_gapstack."),
    augment: list[str] | None = common.choice_option(
        "Training rows of all members augmented: swap_gender, ...", "gapstack.data.augment:AUGMENTATIONS"
    ),
    average: list[str] | None = common.choice_option(
        "Test-time augmentations of all members: original, ...", "gapstack.data.augment:AUGMENTATIONS"
    ),
    members: str | None = Option(
        None,
        metavar="A,B",
        help="Only these members of the recipe: a,b; they name the run.",
        autocompletion=common.complete_members,
    ),
    train: list[Path] | None = common.input_option("Your own labelled rows (GAP TSV) to train on."),
    test: list[Path] | None = common.input_option("Your own rows to hold out, labelled or not."),
    folds: int | None = Option(None, help="Number of folds instead of the recipe's."),
    seed: int | None = Option(None, help="Seed of the folds instead of the recipe's."),
    limit: common.LimitOption = None,
    epochs: int | None = Option(None, min=1, help="Epochs of every training instead of the recipe's."),
    name: str | None = Option(None, help="Name of the run instead of the recipe's."),
    dry_run: bool = Option(
        False, "--dry-run", help="Print members, trainings and missing inputs; train nothing."
    ),
    fresh: bool = Option(False, "--fresh", help="Discard an earlier run of this name."),
    workers: common.WorkersOption = 1,
    executor: common.ExecutorOption = "loky",
    log: Literal["tensorboard", "mlflow", "wandb"] | None = Option(
        None, help="Log the run there; needs the extra."
    ),
    on_error: common.OnErrorOption = "stop",
    as_json: common.JsonOption = False,
) -> None:
    """Cross-validate a recipe's members, stack them, write a submission and print the comparison."""
    started = time.perf_counter()
    plan = load_recipe(recipe, encoder, parser=parser, augment=augment, average=average)
    if members is not None:
        plan = plan.restricted(_listed(members))
    plan = plan.on_files(train or (), test or ())
    if limit is not None and limit != plan.limit:  # a run's folder already has its limit
        plan = plan.limited(limit)
    plan = plan.revised(labels=labels, folds=folds, seed=seed, name=name)
    if epochs is not None:
        plan = plan.with_epochs(epochs)
    if plan.note:
        common.log_note(plan.note)
    if dry_run:
        _print_plan(plan, as_json)
        return
    from gapstack.cli.services import log_fold, log_results, tracking
    from gapstack.comparison.results import run_table, score_run  # brings torch: after the recipe is checked
    from gapstack.runs.recipe import corpora
    from gapstack.runs.recipe_files import available

    with common.quarantine_for(on_error) as quarantine:
        plan, train_rows, test_rows = corpora(plan, quarantine)
    with tracking(log, plan) if log else nullcontext() as tracker:
        finished = execute(
            *(plan, train_rows, test_rows, workers, executor),
            fresh=fresh,
            stored=None if name or recipe in available() or not Path(recipe).is_dir() else Path(recipe),
            on_fold=partial(log_fold, tracker) if tracker else None,
        )
        parts = score_run(finished)
        if tracker:
            log_results(tracker, finished, parts)
    if tracker:
        common.log_note(f"logged to {log}")
    common.print_table(run_table(finished, parts, parameters=as_json), as_json)
    if not as_json:
        done = f"{finished.reused} of {len(finished.members) * finished.recipe.folds} folds were already done"
        common.print_line("")
        common.print_line(f"submission: {finished.submission}")
        common.print_line(f"run folder: {finished.folder.root} ({done})")
        common.print_line(f"total: {time.perf_counter() - started:.0f} s")
        common.print_line(f"next: gap predict {finished.recipe.name} --input ROWS.tsv --output ANSWERS.csv")


@common.command(
    app,
    "gap predict quickstart --input new.tsv --output answers.csv",
    "gap predict default --input - --output - < new.tsv",
)
def predict_command(
    run: str = Argument(
        help="A finished run (name or folder), RUN:MEMBER, or a saved member's or stack's folder; default for the "
        "bundled model.",
        autocompletion=common.complete_run,
    ),
    input: Path = common.input_option("GAP or Kaggle TSV of the rows (.gz, .xz too).", default=...),
    output: Path = common.output_option("Submission CSV to write.", default=...),
    limit: common.LimitOption = None,
    on_error: common.OnErrorOption = "stop",
    workers: common.WorkersOption = 1,
    executor: common.ExecutorOption = "loky",
    as_json: common.JsonOption = False,
) -> None:
    """Predict unlabelled rows, in the order of the input.

    Files may be of any length; a killed command resumes when repeated, with any number of workers.
    """
    started = time.perf_counter()
    common.refuse_unknown_run(run)
    common.spare_imports(run)
    from gapstack.runs.predict import predict_file

    with common.quarantine_for(on_error) as quarantine:
        count = predict_file(
            *(run, input, output), quarantine=quarantine, workers=workers, executor=executor, limit=limit
        )
    seconds = time.perf_counter() - started
    if common.is_stream(output):
        return
    if as_json:
        print(json.dumps({"output": str(output), "rows": count, "seconds": seconds}))
    else:
        common.print_line(f"{output}: {counted(count, 'row')} in {seconds:.0f} s")


@common.command(app, "gap runs")
def runs_command(data: common.DataOption = None, as_json: common.JsonOption = False) -> None:
    """List local runs as a leaderboard: the scores of each run's stack, and its progress."""
    from gapstack.comparison.results import standings, standings_table
    from gapstack.runs.folder import home

    found = standings()
    common.print_table(standings_table(found), as_json)
    if not found:
        common.log_note(f"No runs in {home() / 'models'}; start one with: gap run")


@common.command(app, "gap show quickstart", "gap show quickstart --identity")
def show_command(
    run: str = Argument(help="A run's name or folder, finished or not.", autocompletion=common.complete_run),
    data: common.DataOption = None,
    identity: bool = Option(False, "--identity", help="What each result was computed from."),
    as_json: common.JsonOption = False,
) -> None:
    """Show a run's leaderboard: the stack first, then its members by logloss, with intervals."""
    from gapstack.runs.recipe import require_run

    folder, _ = require_run(run)
    if identity:
        from gapstack.runs.stored_results import identity_parts, run_identity

        record = run_identity(folder)
        common.print_result(as_json, lambda: identity_parts(record), lambda: record)
        return
    from gapstack.comparison.results import run_table, score_run
    from gapstack.runs.stored_results import stored_run

    found = stored_run(folder)
    common.print_table(run_table(found, score_run(found), parameters=as_json), as_json)
    done, every = found.reused, len(found.recipe.members) * found.recipe.folds
    if done < every:
        common.log_note(f"{done} of {every} folds are finished. {folder.remedy}")
    common.log_note(f"run folder: {folder.root}; what it was computed from: gap show {run} --identity")


def _listed(names: str) -> list[str]:
    """Names of an option like ``a,b``."""
    return [name.strip() for name in names.split(",") if name.strip()]


def _print_plan(recipe: Recipe, as_json: bool) -> None:
    """Print what a run would train, and what is missing for it."""
    from gapstack.progress import duration
    from gapstack.runs.dry_run import plan_run

    plan = plan_run(recipe)
    if not plan.missing:
        recipe.refuse_contaminated()
    table = plan.table()
    if as_json:
        expected = {"trainings": plan.trainings, "seconds": plan.seconds}
        common.print_json({**table.json(), **expected, "missing": list(plan.missing), "note": recipe.note})
        return
    before = "" if plan.seconds is None else f"; an earlier run took {duration(plan.seconds)}"
    common.print_line(f"{recipe.name}: {len(plan.members)} members, {plan.trainings} trainings{before}")
    common.print_line("")
    table.print(common.stdout)
    common.print_line("")
    for line in plan.missing:
        common.print_line(f"missing: {line}")
    common.print_line("Nothing was trained" if plan.missing else "Nothing is missing; nothing was trained")


def load_recipe(name: str, encoder: str | None = None, **settings: Any) -> Recipe:
    """Load a recipe, put it on another encoder, and override settings that are not None in members that have them."""
    from gapstack.runs.recipe import Recipe

    recipe = Recipe.load(name)
    if encoder is not None:
        from gapstack.runs.encoder_check import on_encoder

        recipe, lines = on_encoder(recipe, encoder)
        for line in lines:
            common.log_note(line)
    for setting, value in settings.items():
        if value is not None:
            recipe = recipe.override(setting, value)
    return recipe


def execute(
    recipe: Recipe,
    train: Corpus,
    test: Corpus,
    workers: int,
    executor: str,
    *,
    stored: Path | None = None,
    **options: Any,
) -> Run:
    """Execute a recipe; ``stored`` is the folder of the run that it was read from, if any."""
    from gapstack.runs.runner import run

    root = None
    if stored is not None:
        root = stored.resolve().parents[1]
        if root / "models" / recipe.name != stored.resolve():
            raise DataError(
                f"this folder would be resumed as run '{recipe.name}'",
                place=Place(stored),
                expected="a folder models/NAME with the run's name, and the data it was run on",
                remedy="Restore the folder's name, or give its data with --data",
            )
    return run(recipe, train, test, root=root, workers=workers, executor=executor, **options)


@common.command(app, "gap tune quickstart surface_cues --trials 40")
def tune_command(
    recipe: str = Argument(help="A recipe's name, or a .toml file.", autocompletion=common.complete_recipe),
    member: str = Argument(help="Label of one of its members.", autocompletion=common.complete_members),
    trials: int = Option(20, min=1, help="Trials in all, earlier ones of this search included."),
    ranges: Path | None = common.input_option(
        "TOML of ranges: rounds = {low = 100, high = 800, log = true}."
    ),
    settings: str | None = Option(
        None, metavar="A,B", help="Search only these settings: a,b. Default: all but texts."
    ),
    data: common.DataOption = None,
    labels: common.LabelsOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Search a member's settings on out-of-fold logloss, and print the best as part of a recipe (extra tune).

    The held-out split is never used. A killed search resumes when the command is repeated.
    """
    from gapstack.runs.recipe import Recipe, corpora
    from gapstack.runs.tune import derived_space, read_space, tune

    if ranges and settings:
        raise typer.BadParameter("--ranges already names the settings", param_hint="--settings")
    plan = Recipe.load(recipe).revised(labels=labels)
    (part,) = plan.restricted([member]).members
    space = read_space(ranges, part) if ranges else derived_space(part, _listed(settings or ""))
    plan, train, _ = corpora(plan)
    tuning = tune(plan, member, train, space, trials=trials)
    best, (first, *_) = tuning.best, tuning.trials
    common.log_note(f"trials: {tuning.journal}")
    if as_json:
        trials_made = [asdict(one) for one in tuning.trials]
        common.print_json({"best": asdict(best), "part": asdict(tuning.part), "trials": trials_made})
        return
    result = f"out-of-fold logloss {best.logloss:.4f}, the best of {counted(len(tuning.trials), 'trial')}"
    before = f"; {first.logloss:.4f} in the first" if first.logloss is not None else ""
    common.print_line(f"# {member} of {plan.name}, {train.name}, {train.label_set} labels: {result}{before}")
    print(part_text(tuning.part), end="")


def part_text(part: Part) -> str:
    """TOML of a member, ready to be pasted into a recipe; settings that are not set are left out."""
    lines = ["[[members]]", f"name = {_toml(part.name)}"]
    if part.label != part.name:
        lines.append(f"label = {_toml(part.label)}")
    lines += ["", "[members.settings]"]
    lines += [f"{key} = {_toml(value)}" for key, value in part.settings.items() if value is not None]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """A value as TOML, which writes all but tables as JSON does."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
