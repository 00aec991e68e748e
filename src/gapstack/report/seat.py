"""SEAT beside WEAT as one table: tests down, spaces of word vectors and representations of sentences across."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gapstack.audit.seat import REPRESENTATIONS, TEMPLATES, TESTS, SentenceAudit
from gapstack.files import write_json, write_text
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.scoring.pairs import holm

WIDTH = 140
_LEVEL = 0.05


def sentences_table(found: SentenceAudit) -> Table:
    """One row for each test; an effect is starred where its p-value, corrected over the column, is below .05."""
    spaces = {f"space{number}": name for number, name in enumerate(found.spaces)}
    columns = [
        *(
            column
            for number, key in enumerate(spaces, 1)
            for column in (Column(key, f"WEAT {number}"), Column(f"{key}_p", "p"))
        ),
        *(
            column
            for key in REPRESENTATIONS
            for column in (
                Column(key, key),
                Column(f"{key}_p", "p"),
                Column(f"{key}_p_words", "words"),
            )
        ),
    ]
    rows: dict[str, dict[str, Cell]] = {number: {} for number in found.tests}
    for key, name in spaces.items():
        words = {number: by_space[name] for number, by_space in found.words.items() if name in by_space}
        corrected = _corrected({number: one.p for number, one in words.items()})
        for number, one in words.items():
            rows[number] |= {key: _effect(one.effect, corrected[number]), f"{key}_p": _p(one.p)}
    for key in REPRESENTATIONS:
        tests = {number: by_key[key] for number, by_key in found.tests.items()}
        corrected = _corrected({number: test.association.p for number, test in tests.items()})
        for number, test in tests.items():
            rows[number] |= {
                key: _effect(test.association.effect, corrected[number]),
                f"{key}_p": _p(test.association.p),
                f"{key}_p_words": _p(test.p_words),
            }
    sections = [
        Section(
            title,
            [(f"{n}: {TESTS[n].title}", cells) for n, cells in rows.items() if TESTS[n].gender == gender],
        )
        for title, gender in (("gender", True), ("other associations, for comparison", False))
    ]
    return Table(
        columns,
        [section for section in sections if section.rows],
        title=f"Association tests (Caliskan et al. 2017) of sentences (SEAT, May et al. 2019): {found.encoder}, "
        f"{'last layer' if found.layer == -1 else f'layer {found.layer}'}",
        caption=(
            f"{''.join(f'WEAT {number}: {name}. ' for number, name in enumerate(found.spaces, 1))}"
            "Effect sizes d in standard deviations, and one-sided p by partitions of the targets. "
            f"{found.sentences:,} sentences: each word in {' '.join(TEMPLATES).replace('{}', '_')} SEAT compares "
            "their first piece, the mean of their pieces, or the word's own pieces. p is by sentences, as in the "
            "paper, which takes those of a word as independent; words: p where whole words are exchanged. "
            f"* p < {_LEVEL:g} after Holm's correction over the column; - where a space lacks most words of a set. "
            f"Seed {found.seed}."
        ),
        name_title="test: targets: attributes",
    )


def sentences_json(found: SentenceAudit) -> dict[str, Any]:
    """Unrounded figures, for ``json.dumps``."""
    return {
        "encoder": found.encoder,
        "layer": found.layer,
        "seed": found.seed,
        "sentences": found.sentences,
        "templates": list(TEMPLATES),
        "tests": {
            number: {
                "title": TESTS[number].title,
                "sets": list(TESTS[number].sets),
                "gender": TESTS[number].gender,
                "words": {name: one._asdict() for name, one in found.words[number].items()},
                "sentences": {
                    key: one.association._asdict() | {"p_words": one.p_words} for key, one in by_key.items()
                },
            }
            for number, by_key in found.tests.items()
        },
        "refused": list(found.refused),
    }


def write_sentences(found: SentenceAudit, folder: Path) -> list[Path]:
    """Write ``sentences.txt`` and ``sentences.json`` to ``folder``; give their paths."""
    paths = [Path(folder) / "sentences.txt", Path(folder) / "sentences.json"]
    write_text(paths[0], sentences_table(found).text(WIDTH))
    write_json(paths[1], sentences_json(found))
    return paths


def _corrected(p: dict[str, float]) -> dict[str, float]:
    return dict(zip(p, holm(np.array(list(p.values()))).tolist(), strict=True))


def _effect(value: float, corrected: float) -> str:
    return f"{value:+.2f}{'*' if corrected < _LEVEL else ' '}"


def _p(value: float) -> str:
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
