"""Parameters are called as the call calls them, or by the kind of thing that they are."""

import itertools
from collections.abc import Sequence

import pytest

from metamem.foundry.workflows.antiunify import generalise

VERSIONS = ("1.2.0", "1.3.0", "2.0.0-rc1")
NOTES = ("New colours", "Faster start", "A search box")


def names(*commands: Sequence[str]) -> list[str]:
    """The parameters of commands that were done with other values each time."""
    rows = [[[{"command": command}] for command in row] for row in zip(*commands, strict=True)]
    found = generalise(rows)
    assert found is not None
    return [parameter.name for parameter in found.parameters]


@pytest.mark.parametrize(
    ("command", "values", "name"),
    [
        ("git tag v{}", VERSIONS, "version"),
        ("python tools/notes.py {}", VERSIONS, "version"),
        ("python note.py --title '{}'", NOTES, "title"),
        ("git commit -m '{}'", NOTES, "message"),
        ("report --until {}", ("2024-11-30", "2025-01-02", "2026-12-13"), "until"),
        ("report {}", ("2024-11-30", "2025-01-02", "2026-12-13"), "date"),
        ("sed -i 's/^colour = .*/colour = \"{}\"/' settings.toml", ("red", "blue", "green"), "colour"),
        ("LEVEL={} make table", ("low", "middle", "high"), "level"),
        ("python add.py {}", ("rates", "totals", "tax"), "name"),
    ],
)  # fmt: skip
def test_a_value_is_called_what_it_is(command: str, values: Sequence[str], name: str) -> None:
    found = names([command.format(value) for value in values])
    assert found == [name]


def test_what_an_edit_takes_away_is_the_old_one() -> None:
    rows = [
        [[{"file_path": "a.toml", "new_string": f'version = "{new}"', "old_string": f'version = "{old}"'}]]
        for old, new in itertools.pairwise(VERSIONS)
    ]  # fmt: skip
    found = generalise(rows)
    assert found is not None
    assert [parameter.name for parameter in found.parameters] == ["version", "old_version"]


def test_no_two_are_called_the_same() -> None:
    found = names(
        [f"bump {a} {b}" for a, b in zip(VERSIONS, ("7.0.1", "7.0.3", "8.1.0"), strict=True)]
    )
    assert found == ["version", "version2"]
