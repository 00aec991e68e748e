from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Span
from gapstack.members import create

ROWS = {
    "initial": "|She| was glad when |Zoe| met |Ann| in the rain that night.",
    "medial": "|Zoe| met |Ann| in the rain when |she| left that night.",
    "final": "When |Zoe| and |Ann| met, the rain fell on |her| that night.",
}


def row(place: str) -> Example:
    """A row whose pronoun stands where ``place`` says, and whose names are not in alphabetical order."""
    parts = ROWS[place].split("|")
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    spans = [Span(starts[i], starts[i + 1]) for i in (1, 3, 5)]
    pronoun = next(
        span for i, span in zip((1, 3, 5), spans, strict=True) if parts[i].lower() in {"she", "her"}
    )
    a, b = (span for span in spans if span != pronoun)
    return Example(place, "".join(parts), pronoun, a, b)


@pytest.mark.parametrize("place", ROWS)
def test_the_text_keeps_its_order_and_its_tail_wherever_the_pronoun_stands(
    place, tiny_encoder, tiny_encoder_folder
):
    example = row(place)
    rows = Corpus([example, replace(example, id="exchanged", a=example.b, b=example.a)])
    batch = (
        create("sequence", encoder=str(tiny_encoder_folder))
        ._data(rows, tiny_encoder, None)
        .batch(np.arange(2))
    )
    plain = tiny_encoder.tokenizer(example.text)["input_ids"]
    for number, read in enumerate(rows):
        assert batch["ids"][number].tolist() == plain
        told = [
            "".join(tiny_encoder.tokenizer.convert_ids_to_tokens(plain[start:end])).replace("##", "")
            for start, end in batch["mentions"][number].tolist()
        ]
        assert told == [text.lower() for text in (read.pronoun_text, read.a_text, read.b_text)]
