from benchmarks.novel import b_cubed, character


def test_names_are_characters_whatever_is_before_them():
    assert character("My dear _Emma_") == character("Miss\nWoodhouse") == "Emma"
    assert character("poor Mrs. Weston") == "Mrs. Weston"
    assert character("the young man") is None


def test_b_cubed_of_a_split_and_of_a_merged_character():
    assert b_cubed([("Emma", 1), ("Emma", 1), ("Emma", 2), ("Emma", 2)]) == (1, 0.5)
    assert b_cubed([("Emma", 1), ("Harriet", 1)]) == (0.5, 1)
