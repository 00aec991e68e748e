"""Run the campaign, print what was tried and what failed, and exit with 1 if anything did.

``python scripts/campaign`` tries all parts, ``python scripts/campaign kills --count 200 --seed 1`` one of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # run by path; its parts and the tests' encoder are imported by name
sys.path.append(str(ROOT / "src"))  # where gapstack is not installed
# before anything computes: forked children must not wait for threads that only their parent has
os.environ |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

from scripts.campaign import children  # noqa: E402
from scripts.campaign.disk import unmount_below  # noqa: E402
from scripts.campaign.parts import PARTS  # noqa: E402
from scripts.campaign.tries import Report, carry_out, table  # noqa: E402


def main() -> None:
    """Parse the arguments and carry the parts out."""
    options = _options()
    chosen = options.parts or list(PARTS)
    if unknown := [name for name in chosen if name not in PARTS]:
        raise SystemExit(f"no part is called {unknown[0]!r}; there are: {', '.join(PARTS)}")
    children.warm()
    reports: list[Report] = []
    folder = Path(tempfile.mkdtemp(prefix="campaign-", dir=options.place))
    try:
        for name in chosen:
            (folder / name).mkdir()
            part = PARTS[name](folder / name, options.seed, large=options.full)
            size = "full" if options.full else "short" if options.short else "usual"
            tries = options.count or getattr(part, size)
            if not tries:
                continue
            print(f"{name}: {tries:,} tries below {part.place}", file=sys.stderr)
            reports.append(
                carry_out(part, tries=tries, first=options.first, only=options.only, jobs=options.jobs)
            )
            print(table(reports[-1:]), file=sys.stderr)
    finally:
        unmount_below(folder)
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    failed = any(report.failures for report in reports)
    if options.json:
        print(json.dumps({"parts": [report.json() for report in reports], "failed": failed}, indent=2))
    else:
        print(table(reports))
    raise SystemExit(int(failed))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python scripts/campaign", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--count", type=int, help="tries of each part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--first", type=int, default=0, metavar="NUMBER", help="attempt to begin with: long parts in pieces"
    )
    parser.add_argument(
        "--only", type=int, metavar="NUMBER", help="this attempt alone, as a failure names it"
    )
    parser.add_argument("--full", action="store_true", help="the figures of the README")
    parser.add_argument("--short", action="store_true", help="what the tests run")
    parser.add_argument("--jobs", type=int, default=1, help="attempts at once")
    parser.add_argument("--place", type=Path, help="folder to work below; default: a temporary one")
    parser.add_argument("--keep", action="store_true", help="leave the folders of failed attempts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    return parser.parse_args()


if __name__ == "__main__":
    main()
