"""The pictures of README, made from a finished run: what the terminal said and how the report looks.

    make learn && python -m bench.pictures

The run is `make learn`'s unless another is named. The report is photographed with Chromium, where
there is one on the PATH.
"""

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from metamem.api import home_folder
from metamem.report.place import report_path

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDTH = 112  # letters
PAGE = (1100, 1400)  # pixels
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_COMMENTS = re.compile(r"<!--.*?-->", re.DOTALL)
_WEB_FONTS = re.compile(r"@font-face\s*{[^}]*}")  # a picture asks nothing of the network


def terminal(run: str, typed: str) -> str:
    """What going on with a finished run prints: its end, as an SVG."""
    ended = subprocess.run(
        [sys.executable, "-m", "metamem.cli.main", "learn", "--run", run, "--quiet"],
        env={**os.environ, "COLUMNS": str(WIDTH), "FORCE_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text.assemble(("$ ", "dim"), (typed, "bold")))
    console.print(Text.from_ansi(ended.stdout.rstrip()))
    svg = console.export_svg(title="metamem", theme=MONOKAI, unique_id="metamem")
    return _COMMENTS.sub("", _WEB_FONTS.sub("", svg))


def photograph(page: Path, picture: Path) -> None:
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"no browser to photograph the report with: install one of {', '.join(BROWSERS)}")
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                browser,
                "--headless",
                "--no-sandbox",  # it opens nothing but our own page, which has no script
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                f"--user-data-dir={profile}",
                f"--window-size={PAGE[0]},{PAGE[1]}",
                f"--screenshot={picture}",
                page.absolute().as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", default="alfworld-s0-1", help="a finished run")
    parser.add_argument("--typed", default="make learn", help="the command shown above it")
    asked = parser.parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    (IMAGES / "learn.svg").write_text(terminal(asked.run, asked.typed), encoding="utf-8")
    photograph(report_path(home_folder(), asked.run), IMAGES / "report.png")
    for name in ("learn.svg", "report.png"):
        print(f"{IMAGES / name}: {(IMAGES / name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
