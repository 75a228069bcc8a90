"""What docs/service.md shows in Python works."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "service.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("METAMEM_MEMORY", str(tmp_path))
    for name in ("METAMEM_URL", "METAMEM_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert len(BLOCKS) == 2
    known: dict[str, object] = {}
    for block in BLOCKS:
        exec(block, known)
    said = capsys.readouterr().out
    assert "Ports are odd here." in said and "local/project/webshop" in said
    known["store"]._memories.close()
