"""Take the documentation's screenshots: ``python scripts/screenshots.py`` (needs Chromium and playwright).

Writes ``docs/images/``: an annotated chapter, the demo, and the comparison page of a run on the embedded sample.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
PORT = 8791
CHAPTER = (
    "Emma Woodhouse lived with her father. Miss Taylor had been her governess for sixteen years. When Mr. Weston asked "
    "Miss Taylor to marry him, she said yes. Emma was glad for her, but her father was not: he disliked every change."
)


def gap(*arguments: str) -> None:
    """Run a command."""
    subprocess.run([sys.executable, "-m", "gapstack", *arguments], check=True, stdout=subprocess.DEVNULL)


def picture(browser: Browser, address: str, name: str, height: int, wait: str) -> None:
    """Store a picture of a page once an element is there."""
    page = browser.new_page(viewport={"width": 1200, "height": height})
    page.goto(address)
    page.wait_for_selector(wait, timeout=300_000)
    page.screenshot(path=IMAGES / f"{name}.png")
    page.close()


def wait_for(address: str) -> None:
    """Wait up to five minutes for a server, since a busy machine is slow."""
    for _ in range(600):
        try:
            urlopen(address).close()
            return
        except URLError:
            time.sleep(0.5)
    raise TimeoutError(f"{address} does not answer")


def main() -> None:
    """Write all pictures."""
    IMAGES.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp())
    (folder / "chapter.txt").write_text(CHAPTER, encoding="utf-8")
    gap("annotate", str(folder / "chapter.txt"), "--output", str(folder / "chapter.html"))
    gap("run", "quickstart", "--data", "sample")
    systems = [f"quickstart-sample:{name}" for name in ("stack", "surface", "frozen_cues", "parallelism")]
    gap("compare", *systems, "--html", str(folder / "comparison.html"))
    demo = [sys.executable, "-m", "gapstack", "demo", "--port", str(PORT), "--no-browser"]
    server = subprocess.Popen(demo, stdout=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{PORT}")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            picture(browser, (folder / "chapter.html").as_uri(), "annotated", 420, "mark, .mention")
            picture(browser, (folder / "comparison.html").as_uri(), "comparison", 670, "table")
            picture(browser, f"http://127.0.0.1:{PORT}", "demo", 780, "mark, .mention")
            browser.close()
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
