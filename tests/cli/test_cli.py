"""The command line as a user meets it: whole commands on the embedded sample, in processes of their own where
the exit status and the streams matter."""

import errno
import json
import os
import random
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gapstack.cli import app, main
from gapstack.data.gap_files import read_submission, write_gap, write_submission
from gapstack.errors import DataError
from tests.commands import RECIPE, gap
from tests.damage import DAMAGES, apply_damage


def gap_fails(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command that must fail, in a process of its own."""
    command = [sys.executable, "-m", "gapstack", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done


@pytest.fixture
def workplace(tmp_path, monkeypatch, sample_test):
    """A home with a finished tiny run on the sample, the recipe and the held-out rows as files."""
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    (tmp_path / "tiny.toml").write_text(RECIPE)
    write_gap(tmp_path / "rows.tsv", sample_test.unlabelled())
    write_gap(tmp_path / "gold.tsv", sample_test)
    gap("run", tmp_path / "tiny.toml", "--data", "sample")
    return tmp_path


def test_run_prints_members_stack_and_degenerate_rows_for_both_parts(workplace):
    printed = gap("run", workplace / "tiny.toml", "--data", "sample")
    for expected in (
        "prior",
        "random",
        "stack",
        "both TRUE",
        "out of fold",
        "held out",
        "6 of 6 folds were already",
    ):
        assert expected in printed


def test_a_run_on_the_sample_does_not_stand_in_the_way_of_one_on_gap(workplace, gap_folder):
    printed = gap("run", workplace / "tiny.toml", "--data", gap_folder)
    assert "0 of 6 folds were already" in printed
    assert {path.name for path in (workplace / "models").iterdir()} == {"tiny", "tiny-sample"}


def test_run_as_json_is_nothing_but_json(workplace):
    sections = json.loads(gap("run", workplace / "tiny.toml", "--data", "sample", "--json"))["sections"]
    rows = sections[1]["rows"]
    stack, *others = rows
    members = [row for row in others if row["name"] in {"prior", "random"}]
    assert stack["name"] == "stack"
    assert members == sorted(members, key=lambda row: row["logloss"]) == others[:2]
    assert stack["logloss_low"] < stack["logloss"] < stack["logloss_high"]
    # the prior learns one number for each class
    assert [row["parameters"] for row in members if row["name"] == "prior"] == [3]


def test_predict_gives_the_ids_of_the_input_in_order(workplace, sample_test):
    out = workplace / "out.csv"
    gap("predict", "tiny-sample", "--input", workplace / "rows.tsv", "--output", out)
    assert read_submission(out).ids == sample_test.ids
    assert "take it" in gap("submit-check", out, "--against", workplace / "rows.tsv")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["halve", "delete", "folder"])
@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("members/random/fold-1/member/state.json", "predict"),
        ("members/prior/fold-0/job.json", "audit"),
        ("members/prior/fold-2/test.parquet", "compare"),
        ("stack/arrays.safetensors", "predict"),
        ("run.json", "compare"),
    ],
)
def test_a_damaged_run_is_refused_in_one_line_whose_command_mends_it(
    workplace, monkeypatch, capsys, file, command, kind
):
    place, out = workplace / "models" / "tiny-sample", workplace / "out.csv"
    arguments = {
        "predict": ("predict", "tiny-sample", "--input", workplace / "rows.tsv", "--output", out),
        "audit": ("audit", "tiny-sample", "--suite", "winogender"),
        "compare": ("compare", "tiny-sample", "--replicates", 100),
    }[command]
    submission = workplace / "submissions" / "tiny-sample.csv"
    whole = submission.read_bytes()
    submission.unlink()
    apply_damage(place / file, kind, random.Random(0))
    monkeypatch.setattr(sys, "argv", ["gap", *map(str, arguments)])
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("gap: ")]
    assert file in line
    mend = shlex.split(
        line[line.index("gap run ") :].replace("ITS_RECIPE.toml", str(workplace / "tiny.toml"))
    )
    gap(*mend[1:])
    assert submission.read_bytes() == whole
    if command == "predict":
        gap(*arguments)


@pytest.mark.slow
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_lost_timing_is_shown_as_unknown_and_stops_nothing(workplace, monkeypatch, kind):
    monkeypatch.setenv("COLUMNS", "200")
    apply_damage(workplace / "models/tiny-sample/members/prior/views.json", kind, random.Random(1))
    done = CliRunner().invoke(app, ["run", str(workplace / "tiny.toml"), "--data", "sample"])
    assert "6 of 6 folds were already" in done.stdout
    assert "damaged" not in done.output
    prior = next(line for line in done.stdout.splitlines() if line.split()[:1] == ["prior"])
    assert prior.split()[-1] == "-"


def test_score_agrees_with_the_run(workplace):
    table = json.loads(gap("run", workplace / "tiny.toml", "--data", "sample", "--json"))
    stack = next(row for row in table["sections"][1]["rows"] if row["name"] == "stack")
    scored = json.loads(
        gap(
            "score", workplace / "submissions" / "tiny-sample.csv", "--gold", workplace / "gold.tsv", "--json"
        )
    )
    assert scored["logloss"] == pytest.approx(stack["logloss"])
    assert scored["f1_overall"] == pytest.approx(stack["f1_overall"])
    assert "always A" in gap(
        "score", workplace / "submissions" / "tiny-sample.csv", "--gold", workplace / "gold.tsv"
    )


def test_compare_takes_a_run_and_a_file_and_writes_all_that_is_asked_for(workplace):
    page, folder = workplace / "page.html", workplace / "tables"
    sources = ("tiny-sample", workplace / "submissions" / "tiny-sample.csv")
    asked = ("--replicates", 100, "--flips", 5, "--html", page, "--csv", folder)
    printed = gap("compare", *sources, *asked)
    assert "the same answers as stack" in " ".join(printed.split())
    assert "counterfactual flips" in printed
    assert page.read_text().startswith("<!doctype html>")
    found = json.loads(
        gap("compare", *sources, "--gold", workplace / "gold.tsv", "--replicates", 100, "--json")
    )
    assert len((folder / "scores.csv").read_text().splitlines()) == 1 + len(found["scores"])


def test_all_members_of_a_run_take_the_switches_asked_for(workplace):
    asked = (
        "--augment",
        "swap_gender",
        "--average",
        "original",
        "--average",
        "swap_gender",
        "--name",
        "fair",
    )
    gap("run", workplace / "tiny.toml", "--data", "sample", *asked)
    (manifest,) = workplace.glob("models/fair*/run.json")
    members = json.loads(manifest.read_text())["recipe"]["members"]
    switches = {"augment": ["swap_gender"], "average": ["original", "swap_gender"]}
    assert members
    assert all(member["settings"].items() >= switches.items() for member in members)


def test_members_and_recipes_are_listed():
    assert "Webster et al. 2018" in gap("members")
    assert json.loads(gap("members", "--json"))["prior"]["needs"] == "nothing"


def test_a_member_s_settings_are_listed_with_range_default_and_published_value():
    printed = gap("members", "probert")
    assert "paper: Attree 2019" in printed
    assert "max_pieces = none\n    a whole number, at least 1, or none\n" in printed
    record = json.loads(gap("members", "probert", "--json"))
    assert record["settings"]["encoder"]["published"] == "bert-large-uncased"
    assert record["settings"]["seed"]["default"] == 0
    assert record["settings"]["augment"]["description"].startswith("Augmentations")
    assert "quickstart" in gap("recipes")


def test_data_status_names_licence_and_home():
    printed = gap("data", "status")
    assert "gap-test" in printed
    assert "Apache-2.0" in printed


class TestErrors:
    def test_a_bad_row_is_one_line_with_file_line_and_column(self, workplace):
        rows = (workplace / "rows.tsv").read_text().splitlines()
        cells = rows[3].split("\t")
        cells[3] = "99999"
        (workplace / "bad.tsv").write_text("\n".join([*rows[:3], "\t".join(cells), *rows[4:]]) + "\n")
        done = gap_fails(
            "predict", "tiny-sample", "--input", workplace / "bad.tsv", "--output", workplace / "no.csv"
        )
        assert done.returncode == 2
        assert done.stderr.startswith("gap: ")
        assert "bad.tsv, line 4, column Pronoun-offset" in done.stderr
        assert "Traceback" not in done.stderr
        assert not (workplace / "no.csv").exists()

    def test_quarantine_answers_the_good_rows_and_says_how_many_it_set_aside(self, workplace, monkeypatch):
        monkeypatch.chdir(workplace)
        rows = (workplace / "rows.tsv").read_text().splitlines()
        rows[3] = rows[3].replace("\t", " ", 1)
        (workplace / "bad.tsv").write_text("\n".join(rows) + "\n")
        out = workplace / "some.csv"
        command = [
            "predict",
            "tiny-sample",
            "--input",
            "bad.tsv",
            "--output",
            str(out),
            "--on-error",
            "quarantine",
        ]
        result = CliRunner().invoke(app, command, catch_exceptions=False)
        assert result.exit_code == 0
        assert "1 bad row" in result.output
        assert len(read_submission(out).ids) == len(rows) - 2
        assert (workplace / "bad.quarantine.tsv").exists()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                ["run", "quickstrat"],
                'no recipe is called "quickstrat"; did you mean quickstart? (or give a .toml file)',
            ),
            (
                ["run", "quickstart", "--folds", "2"],
                "recipe quickstart: folds: found 2, expected a whole number, at least 3",
            ),
            (["run", "quickstart", "--data", "nowhere"], "nowhere, which does not exist"),
            (["predict", "nothing", "--input", "x", "--output", "y"], 'no run is called "nothing"; '),
        ],
    )
    def test_mistakes_are_named(self, arguments, message):
        done = gap_fails(*arguments)
        assert done.returncode == 2
        assert message in done.stderr
        assert "Traceback" not in done.stderr

    def test_an_interrupted_command_says_that_it_goes_on_from_there(self, monkeypatch, capsys):
        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("gapstack.data.sources.status", interrupted)
        monkeypatch.setattr(sys, "argv", ["gap", "data", "status"])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 130
        assert "repeat the command" in capsys.readouterr().err

    def test_a_refused_submission_has_exit_status_1(self, workplace):
        lines = (workplace / "submissions" / "tiny-sample.csv").read_text().splitlines()
        (workplace / "short.csv").write_text("\n".join(lines[:-1]) + "\n")
        done = gap_fails("submit-check", workplace / "short.csv", "--against", workplace / "rows.tsv")
        assert done.returncode == 1
        assert "refuse it" in done.stdout


def test_audit_prints_the_report_and_keeps_answers_that_can_be_audited_again(workplace, gap_folder):
    folder = workplace / "audit"
    asked = ("--data", gap_folder, "--suite", "wsc273")
    printed = gap("audit", "tiny-sample", *asked, "--output", folder)
    for expected in (
        "Bias audit of run tiny-sample",
        "wsc273",
        "stack",
        "Not covered: bug",
        "never that it is not",
    ):
        assert expected in printed
    again = json.loads(gap("audit", folder / "answers" / "stack", *asked, "--json"))
    first = json.loads((folder / "audit.json").read_text())
    figures = [
        record["suites"]["wsc273"]["panels"]["wsc273.accuracy"]["rows"]["stack"] for record in (first, again)
    ]
    assert figures[0] == figures[1]


def test_audit_embeddings_prints_measures_before_and_after_and_keeps_them(tmp_path, gap_folder):
    glove = gap_folder / "vectors/glove.6B.50d.top5050.txt"
    asked = ("audit-embeddings", glove, "--data", gap_folder, "--limit", 2000, "--debias", "hard")
    printed = gap(*asked, "--output", tmp_path)
    for expected in (
        "as given",
        "hard",
        "GIPE",
        "RBF SVM",
        "Not measured: sembias",
        "definitional pairs: 9 of 10",
    ):
        assert expected in printed
    figures = json.loads((tmp_path / "embeddings.json").read_text())["figures"]
    assert figures == json.loads(gap(*asked, "--json"))["figures"]
    assert figures["hard"]["gipe"] < figures["as given"]["gipe"]


def _score(tmp_path, sample_test, **streams):
    """Run ``gap score`` on a good submission in a process of its own."""
    write_gap(tmp_path / "gold.tsv", sample_test)
    write_submission(tmp_path / "answers.csv", sample_test.ids, [[0.3, 0.3, 0.4]] * len(sample_test))
    command = [sys.executable, "-m", "gapstack", "score", "answers.csv", "--gold", "gold.tsv"]
    return subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, **streams)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_line(tmp_path, sample_test):
    with Path("/dev/full").open("w") as full, _score(tmp_path, sample_test, stdout=full) as running:
        said = running.stderr.read()
    assert running.returncode == 2
    assert said.splitlines() == [
        "gap: No space left on device; finished work is kept: free some space and repeat the command"
    ]


def test_whoever_reads_may_stop_reading(tmp_path, sample_test):
    with _score(tmp_path, sample_test, stdout=subprocess.PIPE) as running:
        running.stdout.close()
        assert running.stderr.read() == ""
    assert running.returncode == 1


def test_a_terminal_that_lacks_a_character_stops_nothing(tmp_path, sample_test):
    (tmp_path / "t\u00e9st.csv").write_text("ID,A,B,NEITHER\nx,1,0,0\n")
    write_gap(tmp_path / "gold.tsv", sample_test)
    done = subprocess.run(
        [sys.executable, "-m", "gapstack", "submit-check", "t\u00e9st.csv", "--against", "gold.tsv"],
        **{"cwd": tmp_path, "capture_output": True},
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 1
    assert rb"t\xe9st.csv: Kaggle would refuse it" in done.stdout
    assert b"Traceback" not in done.stderr


REFUSED_BY_THE_SYSTEM = {
    "a file where a folder should be": "answers.csv/below.csv",
    "a folder where a file should be": "folder",
    "a name too long": "x" * 300 + ".csv",
    "a disk that takes no more": "small.csv",
}


@pytest.mark.slow
@pytest.mark.parametrize("output", REFUSED_BY_THE_SYSTEM.values(), ids=REFUSED_BY_THE_SYSTEM)
def test_what_cannot_be_written_is_one_line_and_costs_nothing_computed(tmp_path, sample_train, output):
    write_gap(tmp_path / "gold.tsv", sample_train)
    (tmp_path / "folder").mkdir()
    for name in ("answers.csv", "others.csv"):
        write_submission(tmp_path / name, sample_train.ids, [[0.3, 0.3, 0.4]] * len(sample_train))
    command = [
        sys.executable,
        "-m",
        "gapstack",
        "stack",
        "answers.csv",
        "others.csv",
        "--gold",
        "gold.tsv",
    ]
    command += ["--stacker", "simplex", "--folds", "3", "--output", output]
    limit = 512 if output == "small.csv" else None

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        command,
        **{"cwd": tmp_path, "capture_output": True, "text": True},
        check=False,
        preexec_fn=limited,
    )
    assert done.returncode == 2, done.stderr
    assert "simplex" in done.stdout
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("gap: ")]
    assert "Traceback" not in done.stderr
    assert any(
        words in line
        for words in ("directory", "too long", "too large", "File exists", "folder is in the way")
    )


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "a.json"),
            "a.json: No space left on device; finished",
        ),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files; raise the limit"),
        (PermissionError(errno.EACCES, "Permission denied", "x\x1b[31m"), r"x\x1b[31m: Permission denied"),
        (MemoryError(), "out of memory"),
        (RecursionError(), "the input nests too deeply"),
        (
            RuntimeError("I/O error: No space left on device (os error 28)"),
            "No space left on device; finished",
        ),
        (DataError("found '\x1b[2J\u202e'"), r"found '\x1b[2J\u202e'"),
    ],
)
def test_what_goes_wrong_is_one_line(monkeypatch, capsys, problem, line):
    def fails(**_):
        raise problem

    monkeypatch.setattr("gapstack.cli.app", fails)
    monkeypatch.setattr("gapstack.cli._silence", lambda: None)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"gap: {line}")
    assert said.count("\n") == 1
    assert said[:-1].isprintable()
    monkeypatch.setenv("GAPSTACK_DEBUG", "1")
    with pytest.raises(type(problem)):
        main()


def test_a_bug_keeps_its_traceback(monkeypatch):
    def fails(**_):
        raise KeyError("bug")

    monkeypatch.setattr("gapstack.cli.app", fails)
    with pytest.raises(KeyError):
        main()


def test_ids_with_escape_sequences_do_not_reach_the_terminal(tmp_path, sample_test):
    write_gap(tmp_path / "gold.tsv", sample_test)
    (tmp_path / "bad.csv").write_text("ID,A,B,NEITHER\nx\x1b[31m\u202e,1,0,0\n")
    for command in (("score", "bad.csv", "--gold"), ("submit-check", "bad.csv", "--against")):
        done = subprocess.run(
            [sys.executable, "-m", "gapstack", *command, "gold.tsv"],
            **{"cwd": tmp_path, "capture_output": True, "text": True},
            check=False,
        )
        assert "\x1b" not in done.stdout + done.stderr
        assert "\u202e" not in done.stdout + done.stderr
        assert r"x\x1b[31m\u202e" in done.stdout + done.stderr


def test_a_dry_run_says_what_would_be_trained_and_what_is_missing_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    monkeypatch.setattr("gapstack.runs.estimate.is_available", lambda name: name in (None, "minilm"))
    printed = gap("run", "attree2019", "--dry-run", "--data", "sample")
    assert "grep_bert-large-uncased_42" in printed
    assert "missing: encoder bert-large-cased: neither a folder nor in the hub's cache" in printed
    record = json.loads(
        gap("run", "xuyang2019", "--encoder", "minilm", "--dry-run", "--data", "sample", "--json")
    )
    assert record["missing"] == []
    assert record["note"].startswith("Not as published: rates rise and fall once")
    assert not list(tmp_path.iterdir())


def test_a_team_s_recipe_on_another_encoder_says_what_is_no_longer_the_paper_s(
    tmp_path, monkeypatch, tiny_encoder_folder
):
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    options = ("--encoder", tiny_encoder_folder, "--data", "sample", "--folds", 3, "--epochs", 1)
    result = CliRunner().invoke(app, ["run", "xuyang2019", *map(str, options)], catch_exceptions=False)
    assert (
        "No longer the paper's: tiny (2 layers, 0 million parameters) in place of bert-large-uncased"
        in result.stderr
    )
    assert "layer -1 of 24 layers: now 2 of 2 (1 of 1 members)" in result.stderr
    assert (tmp_path / "submissions" / "xuyang2019-tiny-sample.csv").is_file()
