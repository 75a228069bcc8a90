"""The one format of rows: what is documented is taken, everything else refused with its line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from metamem.core.errors import DataError
from metamem.core.types import SPLITS
from metamem.domains.coding.domain import CodingDomain
from metamem.domains.coding.rows import KEYS, read_rows
from tests.cli.conftest import metamem  # noqa: F401

PAGE = Path(__file__).parents[3] / "docs" / "coding.md"
BROKEN = "def gcd(a, b):\n    return a if b == 0 else gcd(a % b, b)\n"
FIXED = BROKEN.replace("gcd(a % b, b)", "gcd(b, a % b)")
TESTS = """from gcd import gcd


def test_gcd():
    assert gcd(12, 18) == 6


class TestEdges:
    def test_zero(self):
        assert gcd(5, 0) == 5
"""


def row(**changes: Any) -> dict[str, Any]:
    whole = {
        "id": "gcd-1",
        "issue": "The greatest common divisor of 12 and 18 never comes.",
        "split": "train",
        "files": {"gcd.py": BROKEN, "tests/test_gcd.py": TESTS},
        "fail_to_pass": ["tests/test_gcd.py::test_gcd"],
        "pass_to_pass": ["tests/test_gcd.py::TestEdges::test_zero"],
        "fix": {"gcd.py": FIXED},
    }
    return {key: value for key, value in (whole | changes).items() if value is not None}


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    file = folder / "tasks.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def test_a_row_of_the_format_is_a_task_in_its_split(tmp_path: Path) -> None:
    file = written(tmp_path, *(row(id=f"gcd-{split}", split=split) for split in SPLITS))
    domain = CodingDomain(str(file), cache="off")
    for split in SPLITS:
        (task,) = domain.tasks(split)
        assert task.goal == row()["issue"] and "gcd" not in task.id
        assert "gcd(b, a % b)" in domain.oracle(task)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fial_to_pass": ["a.py::b"]}, r"line 2: unknown key 'fial_to_pass'"),
        ({"statement": "It hangs."}, r"line 2: unknown key 'statement'"),
        ({"split": "exam"}, r"line 2, task odd: no split called 'exam'"),
        ({"split": None}, r"line 2: no split is named"),
        ({"id": None}, r"line 2: id or instance_id is missing"),
        ({"id": "gcd-1"}, r"line 2: the id 'gcd-1' is also on line 1"),
        ({"issue": None}, r"line 2: issue or problem_statement is missing"),
        ({"issue": 5}, r"line 2: issue must be a text"),
        ({"fail_to_pass": []}, r"line 2: fail_to_pass or FAIL_TO_PASS is missing"),
        ({"fail_to_pass": ["test_gcd"]}, r"line 2: fail_to_pass must be a list of path::test"),
        ({"fail_to_pass": ["tests/test_gcd.py::test_gdc"]}, r"line 2, task odd: .*gdc is not defined"),
        ({"pass_to_pass": ["tests/test_gcd.py::TestEdges::test_one"]}, r"line 2, .*one is not defined"),
        ({"pass_to_pass": ["tests/test_lcm.py::test_one"]}, r"line 2, .*there is no tests/test_lcm.py"),
        ({"visible": ["tests/test_gcd.py::test_zero"]}, r"line 2, task odd: .*not in fail_to_pass"),
        ({"fix": "--- a/gcd.py"}, r"line 2: fix must be an object of path: whole text"),
        ({"patch": "--- a/gcd.py"}, r"line 2, task odd: one of fix and patch is enough"),
        ({"files": None}, r"line 2, task odd: files, a folder, or a repo"),
        ({"files": None, "folder": "nowhere"}, r"line 2, task odd: there is no folder"),
        ({"files": None, "repo": "a/b"}, r"line 2, task odd: no clone of 'a/b'"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_refused_with_its_line(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    file = written(tmp_path, row(), row(**{"id": "odd", **changes}))
    with pytest.raises(DataError) as refused:
        CodingDomain(str(file), cache="off").tasks("train")
    assert re.search(said, refused.value.message), refused.value.message
    assert refused.value.message.startswith("tasks.jsonl, ")


def test_tests_of_a_folder_are_looked_up_too_and_imported_ones_believed(tmp_path: Path) -> None:
    project = tmp_path / "gcd"
    (project / "tests").mkdir(parents=True)
    (project / "gcd.py").write_text(BROKEN)
    (project / "tests" / "test_gcd.py").write_text("from shared import test_gcd\n")
    from_folder = {"files": None, "folder": "gcd", "pass_to_pass": None}
    (found,) = read_rows(written(tmp_path, row(**from_folder)))
    assert found.data["folder"] == str(project)
    with pytest.raises(DataError, match=r"line 1, task gcd-1: .*is not defined"):
        read_rows(written(tmp_path, row(**from_folder, fail_to_pass=["tests/test_gcd.py::test_x"])))


def test_the_command_line_tells_the_line_and_no_traceback(tmp_path: Path, metamem) -> None:  # noqa: F811
    file = written(tmp_path, row(), row(id="odd", fixx={"gcd.py": FIXED}))
    said = metamem("learn", "coding", "--data", file, "--home", tmp_path / "home")
    assert said.code == 3
    assert "line 2: unknown key 'fixx'" in said.err and "did you mean 'fix'?" in said.err


def test_the_row_of_the_page_is_a_row(tmp_path: Path) -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (found,) = read_rows(written(tmp_path, json.loads(example)))
    assert found.id == "gcd-1" and found.split == "train"


def test_every_key_is_documented() -> None:
    page = PAGE.read_text(encoding="utf-8")
    table = page[page.index("### Rows") : page.index("### Settings")]
    assert not [key for key in KEYS if f"`{key}`" not in table]


def test_rows_of_a_project_come_in_their_order_where_each_has_a_memory_of_its_own(
    tmp_path: Path,
) -> None:
    rows = [
        row(id=f"bug-{n}", issue=f"issue {n}", split="shift", project="ab"[n % 2]) for n in range(8)
    ]
    written(tmp_path, *rows)
    tasks = CodingDomain(data=str(tmp_path), memory="project").tasks("shift")
    assert [task.goal for task in tasks] == [f"issue {n}" for n in range(8)]
    assert [task.group for task in tasks] == ["a", "b"] * 4
    shared = CodingDomain(data=str(tmp_path)).tasks("shift")
    assert {task.id for task in shared} == {task.id for task in tasks}
    assert not any(task.group for task in shared)
