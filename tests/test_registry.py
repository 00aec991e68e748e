"""One way to find things by name, and how other packages add members."""

import re
import sys

import pytest

from gapstack.audits import SUITES
from gapstack.cli.catalogue import member_record
from gapstack.data.augment import AUGMENTATIONS
from gapstack.data.extra import EXTRA
from gapstack.ensemble import CALIBRATORS, STACKERS
from gapstack.errors import GapstackError
from gapstack.features import BLOCKS
from gapstack.members import MEMBERS, create
from gapstack.papers.debiasers import DEBIASERS
from gapstack.registry import Entry, Registry, UnknownNameError
from gapstack.resolvers.formats import FORMATS
from gapstack.resolvers.live import ADAPTERS
from gapstack.runs.recipe import Recipe

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


class ByHand(Certain):
    def __init__(self, *, depth: Count = 3):
        super().__init__()
        self.depth = depth
'''
ENTRIES = """[gapstack.members]
certain = tiny_package:Certain
by_hand = tiny_package:ByHand
broken = broken_package:Broken
prior = broken_package:Prior
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package that registers two members, one that cannot be loaded, and one whose name is ours."""
    (tmp_path / "tiny_package.py").write_text(MEMBER)
    (tmp_path / "broken_package.py").write_text("import a_library_that_is_not_there\n")
    info = tmp_path / "tiny_package-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-package\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(tmp_path)
    assert MEMBERS
    monkeypatch.delitem(MEMBERS.__dict__, "_entries")  # looked up before; restored afterwards
    yield
    sys.modules.pop("tiny_package", None)


def test_another_package_adds_members(installed, sample_test):
    assert list(MEMBERS)[-3:] == ["certain", "by_hand", "broken"]
    assert MEMBERS.entry("certain").paper == "package tiny-package 1.2"
    assert MEMBERS.entry("prior").package == ""
    member = create("certain", share=0.8).fit(sample_test)
    assert member.predict_proba(sample_test[:1])[0] == pytest.approx([0.8, 0.1, 0.1])
    assert create("by_hand", depth=4).depth == 4
    share = member_record("certain")["settings"]["share"]
    assert (share["expected"], share["default"]) == ("a number, at least 0, at most 1", 0.5)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("certain", {"share": 2}, "settings.share: found 2"),
        ("certain", {"repeats": [0]}, "settings.repeats.item 1: found 0"),
        ("by_hand", {"depth": "x"}, 'settings.depth: found "x", expected a whole number, at least 1'),
        ("certan", {}, "did you mean certain?"),
        ("broken", {}, "broken of package tiny-package 1.2 cannot be loaded"),
    ],
)
def test_mistakes_with_members_of_another_package_are_named(installed, name, settings, message):
    with pytest.raises(GapstackError, match=re.escape(message)):
        Recipe.parse({"name": "r", "members": [{"name": name, "settings": settings}]}, "r.toml")
