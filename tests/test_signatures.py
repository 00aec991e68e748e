"""Constructors: what they show, and that reading their source says what Python says."""

import inspect
import typing
from importlib import import_module

import pytest
from sklearn.base import clone

from gapstack.ensemble import STACKERS
from gapstack.kinds import Count
from gapstack.members import MEMBERS
from gapstack.members.member import Member
from gapstack.settings import SettingError
from gapstack.signatures import described, settings_of
from gapstack.training.plan import Schedule, TrainingPlan

ALL = [(registry, name) for registry in (MEMBERS, STACKERS) for name in registry]


@pytest.mark.parametrize(("registry", "name"), ALL, ids=[name for _, name in ALL])
def test_what_the_source_says_is_what_python_says(registry, name):
    kind = registry[name]
    signature = inspect.signature(kind)
    read = settings_of(registry.entry(name).target)
    hints = typing.get_type_hints(kind, include_extras=True)
    assert list(read) == list(signature.parameters)
    assert {key: setting.kind for key, setting in read.items()} == {key: hints[key] for key in read}
    assert sorted(read) == kind._get_param_names()
    defaults = registry.create(name).get_params()
    assert registry.create(name, **defaults).get_params() == defaults, "the defaults must be allowed values"


@pytest.mark.parametrize(("registry", "name"), ALL, ids=[name for _, name in ALL])
def test_a_constructor_names_every_setting_and_keeps_values_untouched(registry, name):
    kind = registry[name]
    parameters = inspect.signature(kind).parameters.values()
    assert all(one.kind is one.KEYWORD_ONLY and one.default is not one.empty for one in parameters)
    made = kind()
    assert clone(made).get_params() == made.get_params()
    first = next(iter(made.get_params()))
    value = object()
    assert made.set_params(**{first: value}).get_params()[first] is value


@pytest.mark.parametrize("name", MEMBERS)
def test_every_setting_is_described(name):
    assert set(MEMBERS.kinds(name)) <= set(described(MEMBERS[name])), (
        "a setting without a line in the docstring"
    )


@pytest.mark.parametrize("name", MEMBERS)
def test_published_values_are_allowed(name):
    module = vars(import_module(MEMBERS[name].__module__))
    for published in [value for key, value in module.items() if key.startswith("PUBLISHED")]:
        MEMBERS.check(name, published)


def test_fields_of_a_plan_are_read_with_the_dataclass_within():
    read = settings_of("gapstack.training.plan:TrainingPlan")
    assert list(read) == list(TrainingPlan.__dataclass_fields__)
    assert settings_of("gapstack.training:TrainingPlan") == read, "a package passes its modules' classes on"
    assert list(settings_of("gapstack.training.plan:Schedule")) == list(Schedule.__dataclass_fields__)


class Toy(Member):
    """Not ours: asked for its signature."""

    depth: Count = 3
    NOT_A_SETTING = 4

    def _fit(self, corpus):
        pass

    def _predict_proba(self, corpus):
        raise NotImplementedError


def test_settings_given_to_a_class_are_checked_when_it_is_fitted(sample_train):
    assert Toy(depth=4).fit(sample_train).depth == 4
    for wrong in (Toy(depth=0), Toy().set_params(depth="x"), Toy(augment=["sing"])):
        with pytest.raises(SettingError, match=r"Toy\.(depth|augment\.item 1): found"):
            wrong.fit(sample_train)
