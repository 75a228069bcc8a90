"""The example of docs/access.md does what it says."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "access.md"


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, object] = {}
    code = code.replace("ada.recall(", "found = ada.recall(")
    exec(compile(code, str(PAGE), "exec"), names)
    assert names["found"].items == ()  # type: ignore[attr-defined]
