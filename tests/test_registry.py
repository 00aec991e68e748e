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
from gapstack.encoding.debias import DEBIASERS
from gapstack.ensemble import CALIBRATORS, STACKERS
from gapstack.features.blocks import BLOCKS
from gapstack.members import MEMBERS
from gapstack.registry import Entry, Registry, UnknownNameError
from gapstack.resolvers.formats import FORMATS

REGISTRIES = (
    *(MEMBERS, STACKERS, CALIBRATORS, BLOCKS, FORMATS, ADAPTERS, SUITES, EXTRA),
    DEBIASERS,
    AUGMENTATIONS,
)
THINGS: Registry[object] = Registry(
    "thing", {"ordered": Entry("collections:OrderedDict", "keeps its order"), "three": 3}, also=("two",)
)


def test_things_come_in_order_and_are_imported_when_asked_for():
    assert list(THINGS) == ["ordered", "three"]
    assert THINGS["three"] == 3
    assert THINGS["ordered"].__name__ == "OrderedDict"
    assert THINGS.entry("ordered").about == "keeps its order"
    with pytest.raises(UnknownNameError, match="there are: two, ordered, three"):
        THINGS["zzz"]


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_registry_refuses_in_one_form_and_has_what_it_lists(registry):
    first = next(iter(registry))
    with pytest.raises(UnknownNameError) as refused:
        registry[f"{first}x"]
    assert str(refused.value).startswith(f'no {registry.kind} is called "{first}x"; did you mean ')
    assert first in str(refused.value)
    for name in registry:
        assert registry[name] is not None


MEMBER = '''
from collections.abc import Sequence

import numpy as np

from gapstack.members.member import Member
from gapstack.settings import Count, Fraction


class Certain(Member):
    """Says the same of every row."""

    share: Fraction = 0.5
    """Probability of A."""
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


def in_a_process(script: str, path: Path) -> str:
    script = f"import sys; sys.path[:0] = [{str(path)!r}]\n{textwrap.dedent(script)}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_another_package_adds_members(package):
    printed = in_a_process(
        """
        from gapstack.data.sources import sample
        from gapstack.errors import GapstackError
        from gapstack.members import MEMBERS, create
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
    assert printed[:3] == [
        "['certain', 'by_hand', 'broken'] package tiny-package 1.2 True",
        "[[0.8, 0.1, 0.1]] 4",
        "{'expected': 'a number, at least 0, at most 1', 'default': 0.5, 'description': 'Probability of A.'}",
    ]
    for line, keyword in zip(
        printed[3:],
        (
            "settings.share: found 2",
            "settings.repeats.item 1: found 0",
            'settings.depth: found "x", expected a whole number, at least 1',
            "did you mean certain?",
            "broken of package tiny-package 1.2 cannot be loaded",
        ),
        strict=True,
    ):
        assert keyword in line
