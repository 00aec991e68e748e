"""Write the answers of the installed model of running text for GAP next to the code that reads them.

    GAPSTACK_CACHE=$(mktemp -d) python scripts/record_shares.py

Run it after the model, or the code that answers, has changed; an empty cache has no answers of the code before. Without
it every machine reads these 4,454 texts once, which takes minutes.
"""

from functools import reduce
from operator import add

from gapstack.data import gap_data
from gapstack.resolvers.shares import RECORDED, record

if __name__ == "__main__":
    splits = [gap_data.gap_split(name) for name in gap_data.SPLITS]
    record(reduce(add, [rows.unlabelled() for rows in splits]))
    print(f"{RECORDED}: {RECORDED.stat().st_size:,} bytes")
