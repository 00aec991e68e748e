"""Saved members and runs as repositories of the Hugging Face Hub.

A repository holds the files of a saved member's or a run's folder as they are, and a model card, ``README.md``. None of
them is pickle, and all but the card are checked by the digests of their records when they are read.
"""

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
    """Whether a name has the form of a repository's: ``owner/name``, or ``owner/name@revision``."""
    return _REPOSITORY.fullmatch(name) is not None


def fetch(repository: str) -> Path:
    """Download a repository into the Hub's cache, what is there already excepted, and give its folder.

    With ``GAPSTACK_OFFLINE`` set, only the cache is looked into.

    Raises
    ------
    DataNotFoundError
        If it is neither in the cache nor to be had.
    """
    import httpx
    from huggingface_hub import snapshot_download

    name, _, revision = repository.partition("@")
    offline = os.environ.get("GAPSTACK_OFFLINE", "") not in {"", "0"}
    try:
        return Path(snapshot_download(name, revision=revision or None, local_files_only=offline))
    except (OSError, ValueError, httpx.HTTPError) as error:
        raise DataNotFoundError(
            f"{repository} is no run, member or file here ({Path(repository).absolute()}), and the Hub does not give a "
            f"repository of this name ({_reason(error)})"
        ) from error


def push(folder: Path, repository: str, card: str, *, private: bool = False) -> str:
    """Make the Hub's repository hold this folder and nothing else, in one commit; give the address of the commit.

    Parameters
    ----------
    folder : Path
        Of a saved member or a run. Its own ``README.md``, if it has one, is the card.
    repository : str
        ``owner/name``; it is made if there is none.
    card : str
        Model card in the Hub's Markdown, for a folder without.
    private : bool
        Whether a repository that is made is private.

    Raises
    ------
    RemoteError
        If there is no token, or the Hub refuses.
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
            raise RemoteError(f"the Hub does not take {repository} ({_reason(error)})") from error
    return str(commit.commit_url)


def _reason(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
