"""What was learned under other settings than its place has is told, waits, and needs a word more."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.domains.dials import DialsDomain
from metamem.promotion import AGREED, Bounds, Ledger, Under
from metamem.promotion.parameters import change, in_use, propose_bounds
from metamem.promotion.under import learned_under
from metamem.store import Place, PromotionRecord, open_archive
from tests.report.filled import ToyDomain

HERE = Place("domain", "dials")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_archive(tmp_path / "archive.db") as archive:
        yield Ledger(archive)


def under(**settings: object) -> Under:
    return learned_under("dials", settings, registry.create("domains", "dials", **settings))


def changed(ledger: Ledger, level: float, **settings: object) -> PromotionRecord:
    return change(ledger, {"gain": level}, HERE, reason="", evidence=under(**settings).evidence())


def test_what_differs_from_the_domains_own_settings_is_told() -> None:
    found = under(seed=0, effect=0.5)
    assert found.differs and found.told == "effect = 0.5 (not 1.0)"
    assert found.settings == {"effect": 0.5, "seed": 0}
    assert found.data == DialsDomain(effect=0.5).version
    assert Under.of(found.evidence()) == found
    assert not under(seed=0, effect=1).differs and not under().differs
    assert Under.of({"gain": 0.1}) == Under()  # learned in no domain, or before this was kept


def test_a_setting_without_a_value_of_its_own_differs() -> None:
    made = DialsDomain()
    found = learned_under(f"{__name__}:needing", {"data": "mine"}, made)
    assert found.told == "data = mine"


def test_settings_that_say_whose_data_it_is_do_not_count() -> None:
    class Somebodys(ToyDomain):
        whose = ("data",)

    found = learned_under(f"{__name__}:needing", {"data": "mine"}, Somebodys())
    assert not found.differs and found.settings == {}


def needing(data: str) -> DialsDomain:
    return DialsDomain()


def test_bounds_are_approved_for_the_domains_own_settings_alone(ledger: Ledger) -> None:
    bounds = Bounds({"gain": (0.0, 1.0)})
    propose_bounds(ledger, bounds, HERE, by="operations")
    ledger.approve(bounds.subject, HERE, by="Ada")
    assert changed(ledger, 0.5, effect=0.5).waits
    assert in_use(ledger, HERE) is None
    assert not changed(ledger, 0.6).waits
    assert in_use(ledger, HERE) == {"gain": 0.6}


def test_approval_needs_the_word_of_whoever_knows(ledger: Ledger) -> None:
    entry = changed(ledger, 0.5, effect=0.5)
    with pytest.raises(UsageError, match=r"effect = 0\.5 \(not 1\.0\)") as refused:
        ledger.approve(entry.subject, HERE, by="Ada")
    assert "--settings-differ" in (refused.value.hint or "")
    assert in_use(ledger, HERE) is None
    approval = ledger.approve(entry.subject, HERE, by="Ada", evidence={AGREED: True})
    assert in_use(ledger, HERE) == {"gain": 0.5}
    assert approval.evidence == {AGREED: True}


def test_the_same_values_learned_again_as_they_are_used_need_none(ledger: Ledger) -> None:
    changed(ledger, 0.5, effect=0.5)
    entry = changed(ledger, 0.5)
    ledger.approve(entry.subject, HERE, by="Ada")
    assert in_use(ledger, HERE) == {"gain": 0.5}
