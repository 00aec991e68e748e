"""Growth is told from sizes and times, and every work can be done."""

import pytest

from benchmarks.linear import main, plot, ratios


@pytest.mark.parametrize(
    ("times", "expected"), [([1, 2, 4], [1, 1]), ([1, 4, 16], [2, 2]), ([3, 4, 4], [2 / 3, 0.5])]
)
def test_ratio_of_a_doubling(times, expected):
    assert ratios([10, 20, 40], times) == pytest.approx(expected)


def test_plot_has_a_frame_for_each_work():
    drawn = plot({"rows": ([10, 20, 40], [1.0, 2.0, 4.0]), "words": ([5, 10, 20], [1.0, 1.5, 2.5])})
    assert "40 rows: 4.0 s" in drawn
    assert "20 words: 2.5 s" in drawn
    assert drawn.count("<circle") == 6


@pytest.mark.slow
def test_smoke_run(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path))
    main(["--doublings", "1", "--scale", "0.1", "--repeats", "1", "--plot", str(tmp_path / "linear.svg")])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    assert sum("ratio" in line for line in lines) == 4
    assert (tmp_path / "linear.svg").read_text().startswith("<svg")
