"""Quotations end where their marks or their paragraphs do."""

import pytest

from gapstack.running_text.quotations import quotations


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ('"Yes," he said. "No."', ["Yes,", "No."]),
        ("\u201cYes,\u201d he said.", ["Yes,"]),
        ("``Yes'' she said", ["Yes"]),
        ('"No end\n\nHe left. "Yes."', ["No end", "Yes."]),
        ('"No end\r\n\r\nHe left. "Yes."', ["No end", "Yes."]),
        ("\u201cOne \u201cTwo\u201d", ["One ", "Two"]),
        ("it's nobody's", []),
        ("", []),
    ],
)
def test_quotations(text, inside):
    assert [text[slice(*span)] for span in quotations(text)] == inside
