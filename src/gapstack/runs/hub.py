"""Saved members and runs as repositories of the Hugging Face Hub: their files and a model card, ``README.md``."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from gapstack.errors import DataNotFoundError, RemoteError
from gapstack.files import write_text

CARD = "README.md"
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")
_NOT_SHARED = (".lock", "unfinished", "*.partial")


def is_repository(name: str) -> bool:
    """True for names of the form ``owner/name`` or ``owner/name@revision``."""
    return _REPOSITORY.fullmatch(name) is not None


def fetch(repository: str) -> Path:
    """Download a repository into the Hub's cache and return its folder; DataNotFoundError if that is impossible."""
    import httpx
    from huggingface_hub import snapshot_download

    name, _, revision = repository.partition("@")
    offline = os.environ.get("GAPSTACK_OFFLINE", "") not in {"", "0"}
    try:
        return Path(snapshot_download(name, revision=revision or None, local_files_only=offline))
    except (OSError, ValueError, httpx.HTTPError) as error:
        raise DataNotFoundError(
            f"{repository} is not a run, member or file here ({Path(repository).absolute()}), and the Hub has no "
            f"repository of this name ({_reason(error)})"
        ) from error


def push(folder: Path, repository: str, card: str, *, private: bool = False) -> str:
    """Replace the files of a repository by those of a saved member or a run, and return the commit's address.

    The repository is created if it does not exist; ``card`` is for a folder without a ``README.md``. Raises RemoteError
    if there is no token, or the Hub refuses.
    """
    import httpx
    from huggingface_hub import HfApi, get_token

    if get_token() is None:
        raise RemoteError("there is no token for the Hub; run: hf auth login, or set HF_TOKEN")
    with tempfile.TemporaryDirectory(prefix="gapstack-") as temporary:
        shared = Path(temporary) / "shared"
        shutil.copytree(folder, shared, ignore=shutil.ignore_patterns(*_NOT_SHARED))
        if not (shared / CARD).exists():
            write_text(shared / CARD, card)
        api = HfApi()
        try:
            api.create_repo(repository, private=private, exist_ok=True)
            commit = api.upload_folder(
                repo_id=repository,
                folder_path=shared,
                delete_patterns="*",
                commit_message=f"{folder.name}, by gap push",
            )
        except (OSError, ValueError, httpx.HTTPError) as error:
            raise RemoteError(f"the Hub refused {repository} ({_reason(error)})") from error
    return str(commit.commit_url)


def _reason(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
