"""Parse the embedded sample and put the parses into the package, so that its cues need no parser.

    python scripts/parse_sample.py [--parser NAME]

Run it whenever the sample or the project's own parser changes.
"""

import argparse

from spacy.tokens import DocBin

from gapstack.data import gap_data
from gapstack.language.parses import ATTRIBUTES, SHIPPED_PARSES, find_parser


def main() -> None:
    """Parse both parts of the sample and write one file."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--parser", help="spaCy pipeline, by folder or package name")
    nlp = find_parser(options.parse_args().parser).load()
    texts = sorted({text for part in gap_data.sample().values() for text in part.texts})
    DocBin(attrs=ATTRIBUTES, docs=nlp.pipe(texts)).to_disk(SHIPPED_PARSES)
    print(f"{len(texts)} texts parsed by {nlp.meta['name']} {nlp.meta['version']} to {SHIPPED_PARSES}")


if __name__ == "__main__":
    main()
