"""The report: whole, honest, self-contained, and safe whatever learned code and games say."""

import os

import pytest

from metamem.core.errors import UnknownName, UsageError
from metamem.report.page import render_report, write_report
from metamem.report.place import report_path
from metamem.store.sqlite import SqliteArchive
from tests.report.filled import CONFIG, RUN, Filler
from tests.report.page import Page

HOSTILE = (
    "\"'></script></style></svg><script>alert(1)</script><img src=x onerror=alert(1)>"
    "<!-- <![CDATA[ {{ 7 * 7 }} {% raw %} &lt; \\ \u202e"
)


@pytest.fixture
def archive(tmp_path):
    with SqliteArchive(tmp_path / "archive.db") as opened:
        yield opened


def test_tells_the_result_and_everything_behind_it(archive):
    filler = Filler(archive)
    page = Page(render_report(archive, filler.run()))
    assert not page.problems
    for words in (
        "beats the best human design on tasks it never saw",
        "the best human design there, success_retrieval (50.0 %): +40.0 points on 40 tasks",
        "random recombination",
        "A task that memory won",
        "A task that memory lost",
        "It was asked once, before the first action",
        "doors and things.",  # what the docstring says it stores
        "promoted by auto:gate",
        "metamem learn toy --seed 0 --designs 9",
        "12 reads by this run",
        "trajectory_retrieval failed in 1 cases",
        "Warning: a warning",
    ):
        assert words in page.text, words
    titles = [attrs["aria-label"] for tag, attrs in page.elements if tag == "svg"]
    assert [title.split(".")[0] for title in titles] == [
        "Gains with intervals",
        "Differences by task",
        "Differences by task",
        "Score over designs",
        "Family tree",
    ]
    for line in filler.learned.source.splitlines():
        assert line in page.text


def test_test_comes_before_shift_however_the_archive_keeps_them(archive):
    text = Page(render_report(archive, Filler(archive).run())).text
    assert text.index("test: 40 tasks") < text.index("shift: 40 tasks")


def test_says_so_where_nothing_was_proven(archive):
    page = Page(render_report(archive, Filler(archive, learned_wins=5).run()))
    assert "was not proven better than the best human design" in page.text
    assert "beats the best human design on" not in page.text


def test_an_unfinished_run_shows_what_there_is(archive):
    page = Page(render_report(archive, Filler(archive).run(finished=False)))
    assert not page.problems
    assert "This run has not finished: it is stopped" in page.text
    assert "Family tree" in page.text


def test_a_run_that_has_only_begun(archive):
    archive.create_run("new", CONFIG.to_json())
    assert "it is created" in Page(render_report(archive, "new")).text


def test_needs_nothing_from_outside(archive):
    source = render_report(archive, Filler(archive).run())
    page = Page(source)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "video", "base"}
    for _, attributes in page.elements:
        assert not {"src", "srcset", "xlink:href", "background"} & attributes.keys()
        assert (attributes.get("href") or "#").startswith("#")
    assert "url(" not in source and "@import" not in source


def test_hostile_text_stays_text(archive):
    page = Page(render_report(archive, Filler(archive, HOSTILE).run()))
    assert not page.problems
    tags = [tag for tag, _ in page.elements]
    assert "script" not in tags and "img" not in tags
    assert tags.count("style") == 1
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")]
    assert page.text.count("<script>alert(1)</script>") > 20  # shown, everywhere it was put
    assert "{{ 7 * 7 }}" in page.text
    assert "\u202e" not in page.text and "\\u202e" in page.text  # it cannot turn code around


def test_text_that_utf8_cannot_hold(archive, tmp_path):
    path = tmp_path / "report.html"
    write_report(archive, Filler(archive, "\ud800 odd").run(), path)
    assert "\\ud800 odd" in path.read_text(encoding="utf-8")


def test_is_the_same_twice(archive):
    run = Filler(archive).run()
    assert render_report(archive, run) == render_report(archive, run)


def test_is_written_whole_or_not_at_all(archive, tmp_path):
    run = Filler(archive).run()
    path = tmp_path / "deep" / "report.html"
    write_report(archive, run, path)
    before = path.read_bytes()
    assert before.startswith(b"<!doctype html>") and before.rstrip().endswith(b"</html>")
    with pytest.raises(UnknownName):
        write_report(archive, "nothing", path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["report.html"]  # noqa: PTH208 - hidden drafts count


def test_a_place_that_cannot_be_written_is_refused(archive, tmp_path):
    run = Filler(archive).run()
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match="cannot be written"):
        write_report(archive, run, tmp_path / "file" / "report.html")


def test_no_run_name_leads_out_of_the_folder(tmp_path):
    assert report_path(tmp_path, RUN) == tmp_path / "reports" / f"{RUN}.html"
    for name in ("../../etc/passwd", "a/b", ".hidden", "", "x" * 500, "a\nb"):
        assert report_path(tmp_path, name).parent == tmp_path / "reports"
