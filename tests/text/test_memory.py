from hypothesis import given
from hypothesis import strategies as st

from gapstack.text.memory import Memory


@given(st.lists(st.lists(st.integers(0, 9), max_size=12), max_size=6), st.integers(1, 12))
def test_values_are_right_and_computed_once_while_there_is_room(calls, most):
    memory, computed = Memory(most), []

    def square(keys):
        def compute(positions):
            computed.extend(keys[p] for p in positions)
            return [keys[p] ** 2 for p in positions]

        return compute

    for keys in calls:
        before = len(computed)
        assert memory.fetch(keys, square(keys)) == [key**2 for key in keys]
        fresh = computed[before:]
        assert len(fresh) == len(set(fresh)), "a value was computed twice in one call"
    if most >= 10:
        assert len(computed) == len(set(computed)), "a remembered value was computed again"


def test_what_was_remembered_last_outlives_what_was_remembered_first():
    memory, asked = Memory(4), []

    def compute(keys):
        return memory.fetch(keys, lambda positions: asked.extend(keys[p] for p in positions) or positions)

    compute("abc")
    compute("de")  # one too many
    asked.clear()
    compute("bcde")
    assert asked == []
    compute("a")
    assert asked == ["a"]
    compute("fghijk")  # more than there is room for
    assert len(memory._values) == 4


def test_what_was_forgotten_is_computed_again():
    memory = Memory(5)
    memory.fetch("ab", lambda positions: positions)
    memory.forget()
    assert memory.fetch("ba", lambda positions: [7 for _ in positions]) == [7, 7]


def test_what_was_asked_for_outlives_what_nobody_asked_for():
    memory, computed = Memory(2), []
    for key in "abacab":
        memory.fetch([key], lambda positions, key=key: computed.append(key) or positions)
    assert computed == ["a", "b", "c", "b"]
