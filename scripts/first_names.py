"""Write the first names that suggest a person's gender, from the US Social Security names.

Public domain. A name is listed if at least 5,000 people born in 1880 to 2018 had it and 95% of them were recorded with
one sex; the most frequent come first.

    python scripts/first_names.py
"""

import argparse
from pathlib import Path

from gapstack.data import Gender
from gapstack.data.gender import COMMON_FIRST_NAMES, first_names
from gapstack.files import write_text

BEARERS = 5000


def main(argv: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=COMMON_FIRST_NAMES)
    args = parser.parse_args(argv)
    genders = first_names(BEARERS).genders
    lines = [
        f"{gender}\t{' '.join(name for name, its in genders.items() if its is gender)}\n"
        for gender in (Gender.FEMININE, Gender.MASCULINE)
    ]
    write_text(args.output, "".join(lines))


if __name__ == "__main__":
    main()
