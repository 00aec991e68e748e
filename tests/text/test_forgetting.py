"""A reader of endless text can have everything forgotten that was remembered of rows and texts."""

from gapstack.cache import Memory, forget_all, remembered


def test_forgotten_values_are_computed_again():
    calls = []

    @remembered(8)
    def length(text):
        calls.append(text)
        return len(text)

    memory: Memory[int] = Memory(8)

    def fetch():
        return memory.fetch(["key"], lambda rows: [calls.append("key") or 1])

    assert [length("ab"), length("ab"), *fetch(), *fetch()] == [2, 2, 1, 1]
    assert calls == ["ab", "key"]
    forget_all()
    assert [length("ab"), *fetch()] == [2, 1]
    assert calls == ["ab", "key", "ab", "key"]
