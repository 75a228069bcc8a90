"""The domain and the proposer that docs/parameters.md shows, put to use."""

import re
from pathlib import Path

import pytest

import metamem
from metamem.core import registry
from metamem.core.protocols import Domain
from metamem.domains.conformance import ParamsConformance
from metamem.evaluation.jobs import Spec

PAGE = Path(__file__).parents[2] / "docs" / "parameters.md"
BREAD, _, PROPOSER = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
DOMAIN = "bread.py:BreadDomain"


@pytest.fixture(autouse=True)
def at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bread.py").write_text(BREAD, encoding="utf-8")
    (tmp_path / "mine.py").write_text(PROPOSER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


class TestBread(ParamsConformance):
    def make(self) -> Domain:
        domain: Domain = registry.create("domains", DOMAIN)
        return domain


@pytest.mark.parametrize("proposer", ["gaussian", "mine.py:OneAtATime"])
def test_a_better_oven_is_found_and_promoted(tmp_path: Path, proposer: str) -> None:
    found = metamem.learn(
        DOMAIN, home=tmp_path, executor=Spec("inline"), proposer=Spec(proposer), control=False
    )
    assert found.promoted and found.learned is not None
    values = registry.create("domains", DOMAIN).space.read(found.learned)
    assert abs(values["degrees"] - 230) < 25 and values["shelf"] == "middle"


@pytest.mark.slow
def test_workers_elsewhere_and_a_run_that_goes_on_find_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = {"home": tmp_path / "home", "control": False, "executor": Spec("local", {"workers": 1})}
    first = metamem.learn(DOMAIN, designs=3, run="one", **about)
    with metamem.api.open_home(tmp_path / "home") as archive:
        (run,) = archive.runs()
        assert run.config["domain"]["name"] == f"{tmp_path}/bread.py:BreadDomain"
    again = metamem.learn(DOMAIN, run="one", **about)
    assert again.learned == first.learned
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert metamem.learn("../bread.py:BreadDomain", designs=3, **about).learned == first.learned


def test_what_is_learned_does_not_depend_on_where_the_files_lie(tmp_path: Path) -> None:
    def journal(folder: Path) -> list[tuple[object, ...]]:
        proposer = Spec(f"{folder}/mine.py:OneAtATime")
        metamem.learn(
            f"{folder}/bread.py:BreadDomain",
            home=folder / "home",
            executor=Spec("inline"),
            proposer=proposer,
            designs=4,
            control=False,
            run="one",
        )
        with metamem.api.open_home(folder / "home") as archive:
            return [(p.design_id, p.proposer, p.note, p.estimate) for p in archive.proposals("one")]

    other = tmp_path / "other"
    other.mkdir()
    for name in ("bread.py", "mine.py"):
        (other / name).write_text((tmp_path / name).read_text(encoding="utf-8"), encoding="utf-8")
    assert journal(tmp_path) == journal(other)
