"""One way to find things by name, and how other packages add members."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gapstack.anytext.adapter import ADAPTERS
from gapstack.audits import SUITES
from gapstack.data.augment import AUGMENTATIONS
from gapstack.data.extra import EXTRA
from gapstack.encoding.cluster_pieces import HEURISTICS
from gapstack.encoding.debias import DEBIASERS
from gapstack.ensemble import CALIBRATORS, STACKERS
from gapstack.errors import MemberError
from gapstack.features.blocks import BLOCKS
from gapstack.members import MEMBERS, create
from gapstack.registry import Entry, Registry, UnknownNameError, lazy
from gapstack.resolvers.formats import FORMATS
from gapstack.runs.executors import EXECUTORS
from gapstack.settings import SettingError

REGISTRIES = (
    *(MEMBERS, STACKERS, CALIBRATORS, BLOCKS, HEURISTICS, FORMATS, ADAPTERS, SUITES, EXTRA),
    *(DEBIASERS, EXECUTORS, AUGMENTATIONS),
)
THINGS: Registry[object] = Registry(
    "thing", {"ordered": Entry("collections:OrderedDict", "keeps its order"), "three": 3}, also=("two",)
)


def test_things_come_in_order_and_are_imported_when_asked_for():
    assert list(THINGS) == ["ordered", "three"]
    assert len(THINGS) == 2
    assert "ordered" in THINGS
    assert "four" not in THINGS
    assert THINGS["three"] == 3
    assert THINGS["ordered"].__name__ == "OrderedDict"
    assert THINGS.entry("ordered").about == "keeps its order"


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_registry_refuses_in_one_form_and_has_what_it_lists(registry):
    first = next(iter(registry))
    with pytest.raises(UnknownNameError) as refused:
        registry[f"{first}x"]
    assert str(refused.value).startswith(f'no {registry.kind} is called "{first}x"; did you mean ')
    assert first in str(refused.value)
    for name in registry:
        assert registry[name] is not None


def test_an_unknown_name_names_what_else_a_caller_knows():
    with pytest.raises(UnknownNameError) as refused:
        THINGS["zzz"]
    assert str(refused.value) == 'no thing is called "zzz"; there are: two, ordered, three'
    assert THINGS.get("zzz") is None


def test_a_lazy_package_has_the_names_it_lists_and_no_others():
    get = lazy("package", {"Ordered": "collections:OrderedDict"})
    assert get("Ordered").__name__ == "OrderedDict"
    with pytest.raises(AttributeError, match="module 'package' has no attribute 'other'"):
        get("other")


def test_settings_are_checked_when_one_is_made():
    with pytest.raises(SettingError) as refused:
        MEMBERS.create("surface", rounds="abc")
    assert str(refused.value) == 'member surface.rounds: found "abc", expected a whole number, at least 1'


MEMBER = '''
from collections.abc import Sequence

import numpy as np

from gapstack.members.member import Member
from gapstack.settings import Count, Fraction


class Certain(Member):
    """Says the same of every row.

    Parameters
    ----------
    share : float
        Probability of A.
    """

    share: Fraction = 0.5
    repeats: Sequence[Count] = (1,)

    def _fit(self, corpus):
        pass

    def _predict_proba(self, corpus):
        rest = (1 - self.share) / 2
        return np.tile([self.share, rest, rest], (len(corpus), 1))


class ByHand(Member):
    def __init__(self, *, depth: Count = 3):
        super().__init__()
        self.depth = depth

    def _fit(self, corpus):
        pass

    def _predict_proba(self, corpus):
        return np.full((len(corpus), 3), 1 / 3)
'''


@pytest.fixture
def package(tmp_path) -> Path:
    """An installed package that registers two members, one that cannot be loaded, and one whose name is ours."""
    (tmp_path / "tiny_package.py").write_text(MEMBER)
    (tmp_path / "broken_package.py").write_text("import a_library_that_is_not_there\n")
    info = tmp_path / "tiny_package-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-package\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(
        "[gapstack.members]\ncertain = tiny_package:Certain\nby_hand = tiny_package:ByHand\n"
        "broken = broken_package:Broken\nprior = broken_package:Prior\n"
    )
    return tmp_path


def in_a_process(script: str, *paths: Path) -> str:
    lines = [f"import sys; sys.path[:0] = {list(map(str, paths))!r}", textwrap.dedent(script)]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_another_package_adds_members(package):
    printed = in_a_process(
        """
        from gapstack.data.sources import sample
        from gapstack.errors import GapstackError
        from gapstack.members import MEMBERS, create, store
        from gapstack.cli.catalogue import member_record
        from gapstack.runs.recipe import Recipe

        rows = sample()["test"]
        print(list(MEMBERS)[-3:], MEMBERS.entry("certain").paper, MEMBERS.entry("prior").package == "")
        member = create("certain", share=0.8).fit(rows)
        print(member.predict_proba(rows[:1]).round(3).tolist(), create("by_hand", depth=4).depth)
        print(member_record("certain")["settings"]["share"])
        for name, settings in (("certain", {"share": 2}), ("certain", {"repeats": [0]}), ("by_hand", {"depth": "x"}),
                               ("certan", {}), ("broken", {})):
            try:
                Recipe.parse({"name": "r", "members": [{"name": name, "settings": settings}]}, "r.toml")
            except GapstackError as error:
                print(error)
        """,
        package,
    ).splitlines()
    assert printed == [
        "['certain', 'by_hand', 'broken'] package tiny-package 1.2 True",
        "[[0.8, 0.1, 0.1]] 4",
        "{'expected': 'a number, at least 0, at most 1', 'default': 0.5, 'description': 'Probability of A.'}",
        "r.toml, members 1 (certain): settings.share: found 2, expected a number, at least 0, at most 1",
        "r.toml, members 1 (certain): settings.repeats.item 1: found 0, expected greater than or equal to 1",
        'r.toml, members 1 (by_hand): settings.depth: found "x", expected a whole number, at least 1',
        'r.toml, members 1 (certan): no member is called "certan"; did you mean certain?',
        "r.toml, members 1 (broken): member broken of package tiny-package 1.2 cannot be loaded "
        "(broken_package:Broken): ModuleNotFoundError: No module named 'a_library_that_is_not_there'. "
        "Repair or uninstall that package",
    ]


def test_a_package_whose_member_cannot_be_loaded_hinders_no_other(package):
    printed = in_a_process(
        """
        from gapstack.members import MEMBERS, create
        print(create("prior").get_params(), len(MEMBERS))
        try:
            create("broken")
        except Exception as error:
            print(type(error).__name__, "tiny-package 1.2" in str(error))
        """,
        package,
    )
    assert printed.splitlines()[0] == f"{create('prior').get_params()} {len(MEMBERS) + 3}"
    assert printed.splitlines()[1] == f"{MemberError.__name__} True"
