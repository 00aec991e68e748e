"""."""
from pathlib import Path
def unmount_below(folder: Path) -> None:
    pass
