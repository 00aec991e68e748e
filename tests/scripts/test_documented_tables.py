"""Tables of documents are those that their commands print."""

import pytest

from scripts import documented_tables
from scripts.documented_tables import DOCUMENTS, documented, rewrite

REPORT = """- a note

**First**

| system | F1 |
| --- | ---: |
| a | 1.0 |

**Second: of two**

ours:

| system | F1 |
| --- | ---: |
| a | 2.0 |

the paper:

| system | F1 |
| --- | ---: |
| a | **3.0** |

A caption.

**Third**
"""
CHEAP = ("gap audit-sentences", "gap audit-embeddings")


def test_a_table_is_replaced_by_the_one_of_its_command(tmp_path):
    document = tmp_path / "page.md"
    document.write_text("before\n<!-- table: gap it | Second -->\nold\n<!-- end of table -->\nafter\n")
    rewrite(document, {"gap it": REPORT}.__getitem__)
    rows = "| system | F1 |\n| --- | ---: |\n| *ours* | |\n| a | 2.0 |\n| *the paper* | |\n| a | **3.0** |\n"
    (table,) = documented(document)
    assert table == ("gap it", "Second", rows)
    assert document.read_text().startswith("before\n")
    assert document.read_text().endswith("<!-- end of table -->\nafter\n")


TABLES = [(page, table) for page in sorted(DOCUMENTS.rglob("*.md")) for table in documented(page)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "table"), [pytest.param(*each, id=f"{each[0].stem}: {each[1].title}") for each in TABLES]
)
def test_documented_tables_are_up_to_date(page, table, gap_folder):
    if not table.command.startswith(CHEAP):
        pytest.skip("the command takes longer than a minute")
    report = documented_tables.report(table.command)
    assert table.lines == documented_tables.table_of(report, table.title), f"run the script on {page}"
