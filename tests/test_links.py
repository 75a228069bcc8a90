"""Whatever a page links to is there: the file, and the heading in it."""

import re
from pathlib import Path

import pytest

from tests.test_project import ROOT

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def prose(page: Path) -> str:
    return FENCED.sub("", page.read_text())


def anchors(page: Path) -> set[str]:
    """Of its headings, as pages are shown on the web."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} +(.+)$", prose(page), re.MULTILINE):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
        if found[name]:
            found[f"{name}-{found[name]}"] = 0
    return set(found)


def broken(page: Path) -> list[str]:
    wrong = []
    for link in LINK.findall(prose(page)):
        place, _, anchor = link.partition("#")
        if "://" in place:
            continue
        to = page.parent / place if place else page
        if not to.exists() or (anchor and anchor not in anchors(to)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    assert not broken(page)


def test_what_leads_nowhere_is_seen(tmp_path):
    (tmp_path / "b.md").write_text("# Two words: `code`\n\n```\n# no heading\n```\n")
    page = tmp_path / "a.md"
    page.write_text(
        "# Here\n[1](b.md) [2](b.md#two-words-code) [3](#here) [4](https://example.org/x#y)\n"
        "[5](c.md) [6](b.md#no-heading) [7](#there)\n"
    )
    assert broken(page) == ["c.md", "b.md#no-heading", "#there"]
