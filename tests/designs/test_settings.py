"""Designs that can be set: other settings are another source, and nothing but plain values gets in."""

import pytest

from metamem.core.errors import UsageError
from metamem.core.types import Design
from metamem.designs.inside import load as loaded
from metamem.designs.library import load, names
from metamem.designs.settings import settings_domain, settings_of, with_settings

SOURCE = '''
from dataclasses import dataclass

from metamem.designs import Memory

SETTINGS_DOMAIN = "lamps"


@dataclass(frozen=True)
class Settings:
    often: int = 3
    how: str = "loudly"
    on: bool = False


SETTINGS = Settings()


class Lamp(Memory):
    """What it was set to."""

    async def retrieve(self, query):
        return repr(SETTINGS)

    async def update(self, experience):
        pass
'''
LAMP = Design(SOURCE, name="lamp")


def now(design: Design) -> str:
    import sys

    loaded(design.source)
    return repr(sys.modules["design"].SETTINGS)


def test_a_design_runs_with_what_it_is_set_to() -> None:
    assert settings_domain(LAMP) == "lamps" and settings_of(LAMP) == ("often", "how", "on")
    made = with_settings(LAMP, {"on": True, "how": 'it\'s "so"\\'})
    assert made.name == "lamp" and made.id != LAMP.id
    assert now(made) == "Settings(often=3, how='it\\'s \"so\"\\\\', on=True)"
    again = with_settings(made, {"often": 5})
    assert again.id == with_settings(LAMP, {"often": 5}).id
    assert now(again) == "Settings(often=5, how='loudly', on=False)"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"color": 1}, "no setting 'color'"),
        ({"on": ["x"]}, "on must be a plain value"),
        ({"often": float("nan")}, "often must be a plain value"),
        ({"often": None}, "often must be a plain value"),
    ],
)
def test_what_is_no_setting_is_refused(values: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        with_settings(LAMP, values)


def test_designs_without_settings_cannot_be_set() -> None:
    plain = load("no_memory")
    assert settings_domain(plain) == "" and settings_of(plain) == ()
    with pytest.raises(UsageError, match="cannot be set"):
        with_settings(plain, {})


def test_of_the_human_designs_observational_memory_can_be_set() -> None:
    assert [name for name in names() if settings_domain(load(name))] == ["observational"]
