"""The command line itself: errors as one line, exit status, streams, names."""

import errno
import os
import random
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from gapstack import create
from gapstack.cli import app, main
from gapstack.cli.common import complete_members, complete_recipe, complete_run, completion
from gapstack.data.gap_files import read_submission, write_gap, write_submission
from gapstack.errors import DataError
from tests.commands import gap, refused
from tests.damage import apply_damage

ROOT = Path(__file__).resolve().parents[2]
GROUPS = typer.main.get_command(app).commands
COMMANDS = {name: one for name, one in GROUPS.items() if not hasattr(one, "commands")} | {
    f"{group} {name}": one
    for group, commands in GROUPS.items()
    for name, one in getattr(commands, "commands", {}).items()
}


def process(*arguments: str, **options) -> subprocess.CompletedProcess:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "gapstack", *arguments]
    return subprocess.run(command, check=False, stderr=subprocess.PIPE, **options)


def test_version_help_and_shell_completion(workplace):
    assert gap("--version").startswith("gapstack ")
    assert "leaderboard" in gap("show", "-h")
    assert complete_run("tiny-s") == ["tiny-sample"]
    assert complete_run("tiny-sample:") == ["tiny-sample:prior", "tiny-sample:random", "tiny-sample:stack"]
    assert complete_recipe("quick") == ["quickstart"]
    assert completion("gapstack.audits:SUITES")("winog") == ["winogender", "winogrande"]
    context = SimpleNamespace(params={"recipe": "tiny.toml"})
    assert complete_members(context, "") == ["prior", "random"]
    assert complete_members(context, "prior,ra") == ["prior,random"]


@pytest.mark.parametrize("words", COMMANDS)
def test_help_has_examples_that_the_command_takes_and_no_python_types(words):
    text = gap(*words.split(), "-h")
    lines = [line.strip() for line in text.partition("Examples:")[2].splitlines() if line.strip()]
    assert lines
    for line in lines:
        assert line.startswith(f"gap {words}")
        command = COMMANDS[words]
        arguments = shlex.split(line.partition(" < ")[0])[1 + len(words.split()) :]
        command.make_parser(typer.Context(command)).parse_args(arguments)
    assert not re.search(r"<(bool|int|float|str|list|path|file)", text, re.IGNORECASE)


INSTALL = next(  # the README's command
    command for command in (ROOT / "README.md").read_text().split("`") if command.endswith("'.[train]'")
)
WITHOUT_EXTRAS = """
from importlib.machinery import PathFinder

find = PathFinder.find_spec
OF_TRAINING = {"accelerate", "huggingface_hub", "pyarrow", "torch", "transformers"}


def find_others(name, path=None, target=None):
    return None if name.partition(".")[0] in OF_TRAINING else find(name, path, target)


PathFinder.find_spec = find_others
"""


@pytest.fixture(scope="session")
def plain_installation(tmp_path_factory) -> dict[str, str]:
    """The environment of processes, and of their workers, in which the libraries for training are not installed."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "sitecustomize.py").write_text(WITHOUT_EXTRAS)
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


@pytest.mark.parametrize(
    ("arguments", "status", "printed"),
    [
        (("ask", "Kate told Mary that she should leave."), 0, "she at 20: "),
        (("run", "quickstart", "--data", "sample"), 2, INSTALL),
        (("recipes",), 0, "quickstart"),
        (("annotate", "text.txt", "--output", "out.jsonl", "--workers", "2"), 0, "1 linked"),
        (("encoders", "check", "minilm"), 2, INSTALL),
        (("reproduce", "rudinger2018"), 2, INSTALL),
    ],
    ids=lambda words: " ".join(words[:2]) if isinstance(words, tuple) else None,
)
def test_commands_without_the_libraries_for_training_work_or_say_how_to_install_them(
    arguments, status, printed, plain_installation, tmp_path
):
    (tmp_path / "text.txt").write_text("Kate told Mary that she should leave.")
    done = process(*arguments, stdout=subprocess.PIPE, text=True, env=plain_installation, cwd=tmp_path)
    assert done.returncode == status
    assert printed in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*.partial"))


AND_THEN_LIST_MODULES = """
import atexit
import sys

from gapstack.cli import main
atexit.register(lambda: print(*sys.modules))
main()
"""


@pytest.mark.parametrize(
    ("arguments", "unused"),
    [
        (("--help",), {"numpy", "pandas", "sklearn", "scipy"}),
        (("members",), {"numpy", "pandas", "sklearn", "scipy"}),
        (("members", "probert"), {"numpy", "pandas", "sklearn", "scipy"}),
        (("recipes",), {"numpy", "pandas", "sklearn", "scipy"}),
        (("compare", "first.csv", "second.csv", "--gold", "gold.tsv", "--replicates", "100"), {"lightgbm"}),
    ],
)
def test_a_command_imports_only_what_it_uses(arguments, unused, tmp_path, sample_test):
    write_gap(tmp_path / "gold.tsv", sample_test)
    for number, name in enumerate(("first.csv", "second.csv")):
        probabilities = np.random.default_rng(number).dirichlet([1, 1, 1], len(sample_test))
        write_submission(tmp_path / name, sample_test.ids, probabilities)
    command = [sys.executable, "-c", AND_THEN_LIST_MODULES, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    imported = set(done.stdout.splitlines()[-1].split())
    assert "gapstack.cli" in imported
    assert not imported & {"torch", "transformers", "spacy", *unused}


def test_commands_are_listed_in_groups():
    text = gap("-h")
    groups = ["Ask about any text", "Run and predict", "Score and compare", "Audit", "Data", "Papers"]
    places = [text.index(f" {group} ") for group in groups]
    assert places == sorted(places)
    assert " Commands " not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run quickstrat", 'no recipe is called "quickstrat"; did you mean quickstart?'),
        ("run quickstart --folds 2", "recipe quickstart: folds: found 2"),
        ("run quickstart --data nowhere", "data folder nowhere"),
        ("predict nothing --input pyproject.toml --output y", 'no run or folder is called "nothing"; '),
        ("predict defalt --input pyproject.toml --output y", "did you mean default?"),
        ("resolve gapstak out.jsonl", "did you mean gapstack?"),
        ("predict quickstart --input missing.tsv --output y", "no such file: missing.tsv"),
        ("compare missing.csv", "no such file: missing.csv"),
        ("score pyproject.tml", "did you mean pyproject.toml?"),
        ("stack README.md README.md --output nowhere/stacked.csv", "no such folder: nowhere"),
        ("audit default --html nowhere/page.html", "no such folder: nowhere"),
    ],
)
def test_mistakes_are_named(arguments, message):
    assert message in refused(*arguments.split())


def test_a_label_set_is_checked_with_the_options():
    result = CliRunner().invoke(app, ["compare", "default", "--labels", "offical"])
    assert result.exit_code == 2
    assert "did you mean official?" in " ".join(result.output.replace("│", " ").split())


def test_a_bad_row_is_an_error_or_set_aside(workplace):
    rows = (workplace / "rows.tsv").read_text().splitlines()
    cells = rows[3].split("\t")
    cells[3] = "99999"
    (workplace / "bad.tsv").write_text("\n".join([*rows[:3], "\t".join(cells), *rows[4:]]) + "\n")
    command = ["predict", "tiny-sample", "--input", "bad.tsv", "--output", "out.csv"]
    assert "bad.tsv, line 4, column Pronoun-offset" in refused(*command)
    assert not Path("out.csv").exists()
    result = CliRunner().invoke(app, [*command, "--on-error", "quarantine"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "1 bad row" in result.output
    assert len(read_submission(Path("out.csv")).ids) == len(rows) - 2
    assert Path("bad.quarantine.tsv").exists()


def test_an_interrupted_command_can_be_repeated(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("gapstack.data.sources.status", interrupted)
    monkeypatch.setattr(sys, "argv", ["gap", "data", "status"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 130
    assert "repeat the command" in capsys.readouterr().err


@pytest.mark.parametrize("variable", ["GAPSTACK_CACHE", "GAPSTACK_HOME"])
def test_the_variable_that_moves_a_path_is_named(monkeypatch, capsys, tmp_path, variable):
    def fails(**_):
        raise OSError(errno.EROFS, "Read-only file system", str(tmp_path / "models" / "x"))

    monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr("gapstack.cli.app", fails)
    monkeypatch.setattr("gapstack.cli._silence", lambda: None)
    with pytest.raises(SystemExit):
        main()
    assert f"Read-only file system; {variable} sets another folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "a.json"), "a.json: No space left on device; fin"),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files; raise the limit"),
        (PermissionError(errno.EACCES, "Permission denied", "x\x1b[31m"), r"x\x1b[31m: Permission denied"),
        (MemoryError(), "out of memory"),
        (RecursionError(), "the input nests too deeply"),
        (RuntimeError("I/O error: No space left on device (os error 28)"), "No space left on device; fin"),
        (DataError("found '\x1b[2J\u202e'"), r"found '\x1b[2J\u202e'"),
        (KeyError("a bug keeps its traceback"), None),
    ],
)
def test_an_error_is_one_line(monkeypatch, capsys, problem, line):
    def fails(**_):
        raise problem

    monkeypatch.setattr("gapstack.cli.app", fails)
    monkeypatch.setattr("gapstack.cli._silence", lambda: None)
    if line is not None:
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        printed = capsys.readouterr().err
        assert printed.startswith(f"gap: {line}")
        assert printed.count("\n") == 1
        assert printed[:-1].isprintable()
        monkeypatch.setenv("GAPSTACK_DEBUG", "1")
    with pytest.raises(type(problem)):
        main()


@pytest.fixture
def answers(tmp_path, sample_test, monkeypatch):
    """The words that score a good submission."""
    monkeypatch.chdir(tmp_path)
    write_gap(tmp_path / "gold.tsv", sample_test)
    write_submission(tmp_path / "answers.csv", sample_test.ids, [[0.3, 0.3, 0.4]] * len(sample_test))
    return ("score", "answers.csv", "--gold", "gold.tsv")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_line(answers):
    with Path("/dev/full").open("w") as full:
        done = process(*answers, stdout=full, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "gap: No space left on device; finished work is kept: free some space and repeat the command\n"
    )


def test_the_reader_of_a_pipe_may_stop(answers):
    reading, writing = os.pipe()
    os.close(reading)
    done = process(*answers, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_characters_that_a_terminal_lacks_or_obeys_are_escaped(answers):
    Path("t\u00e9st.csv").write_text("ID,A,B,NEITHER\nx\x1b[31m\u202e,1,0,0\n")
    assert r"x\x1b[31m\u202e" in refused("score", "t\u00e9st.csv", "--gold", "gold.tsv")
    check = ("submit-check", "t\u00e9st.csv", "--against", "gold.tsv")
    done = process(*check, stdout=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (1, b"")
    assert rb"t\xe9st.csv: Kaggle would refuse it" in done.stdout
    assert b"\x1b" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("output", ["folder", "x" * 300 + ".csv", "small.csv"])
def test_output_that_cannot_be_written_is_refused_before_any_work(answers, output):
    Path("folder").mkdir()

    def limited() -> None:
        if output == "small.csv":
            resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))

    command = ("stack", "answers.csv", "answers.csv", *answers[2:], "--stacker", "simplex", "--folds", "3")
    done = process(*command, "--output", output, preexec_fn=limited, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 2, done.stderr
    assert not done.stdout
    assert done.stderr.count("─ Error ─") + done.stderr.count("gap: ") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "command", "kind"),
    [
        ("members/random/fold-1/member/state.json", "predict", "halve"),
        ("members/prior/fold-0/job.json", "audit", "folder"),
        ("members/prior/fold-2/test.parquet", "compare", "halve"),
        ("stack/arrays.safetensors", "predict", "delete"),
        ("run.json", "compare", "halve"),
    ],
)
def test_a_damaged_run_is_refused_with_the_command_that_repairs_it(workplace, file, command, kind):
    arguments = {
        "predict": ("predict", "tiny-sample", "--input", "rows.tsv", "--output", "out.csv"),
        "audit": ("audit", "tiny-sample", "--suite", "winogender"),
        "compare": ("compare", "tiny-sample", "--replicates", 100),
    }[command]
    submission = workplace / "submissions" / "tiny-sample.csv"
    whole = submission.read_bytes()
    submission.unlink()
    apply_damage(workplace / "models" / "tiny-sample" / file, kind, random.Random(0))
    line = refused(*arguments)
    assert file in line
    repair = shlex.split(line[line.index("gap run ") :].replace(" RECIPE", " tiny.toml"))
    gap(*repair[1:])
    assert submission.read_bytes() == whole
    if command == "predict":
        gap(*arguments)


@pytest.mark.parametrize(
    "command",
    [
        "predict damaged --input rows.tsv --output out.csv",
        "ask Kate-left-when-she-slept. --model damaged",
        "annotate text.txt --model damaged --output out.html",
        "compare damaged --gold rows.tsv",
        "audit damaged --suite winogender",
        "push damaged owner/name",
    ],
)
def test_a_saved_member_whose_record_is_not_utf_8_is_one_error(command, tmp_path, monkeypatch, sample_test):
    monkeypatch.chdir(tmp_path)
    write_gap(tmp_path / "rows.tsv", sample_test)
    (tmp_path / "text.txt").write_text("Kate left when she slept.")
    create("prior").fit(sample_test).save(tmp_path / "damaged")
    record = tmp_path / "damaged" / "member.json"
    record.write_bytes(record.read_bytes().replace(b"prior", b"pri\xffr"))
    assert re.search(r"damaged/member\.json: not a valid record", refused(*command.split()))
