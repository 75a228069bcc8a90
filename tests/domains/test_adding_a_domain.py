"""The domain that docs/adding-a-domain.md shows, installed as a plug-in and put to use."""

import re
import sys
from pathlib import Path

import pytest

import metamem
from metamem.core import registry
from metamem.core.protocols import Domain
from metamem.domains.conformance import DomainConformance
from metamem.evaluation.jobs import Spec

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-domain.md"
SOURCE = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]


@pytest.fixture(autouse=True)
def plugged_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lamps.py").write_text(SOURCE, encoding="utf-8")
    info = tmp_path / "lamps-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lamps\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[metamem.domains]\nlamps = lamps:LampDomain\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "lamps", raising=False)


def test_it_is_short() -> None:
    assert len(SOURCE.splitlines()) < 80


class TestLamps(DomainConformance):
    def make(self) -> Domain:
        domain: Domain = registry.create("domains", "lamps")
        return domain


def test_memory_helps_there(tmp_path: Path) -> None:
    without, recalling = metamem.evaluate(
        ["no_memory", "success_retrieval"], "lamps", home=tmp_path, executor=Spec("inline")
    )
    assert recalling.reward > without.reward + 0.3
