"""Whatever a value holds that the rules let through, a sed script with it only changes text."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.foundry.tools.body import holds
from metamem.foundry.tools.operations import Code, NotATool
from metamem.foundry.tools.sedscript import sed_rules
from metamem.foundry.words import Hole, Pieces

H = Hole("h")
SCRIPTS = [
    ("s/a/", H, "/"),
    ("s/", H, "/b/g"),
    ("s|a|", H, "|;s/b/", H, "/"),
    ("2a ", H),
    ("/", H, "/d"),
    (H, "d"),
    ("1,", H, "s#a#", H, "#;p"),
    ("/^a/i \\   ", H, "x"),
]


def filled(parts: tuple[str | Hole, ...], value: str) -> str:
    return "".join(value if isinstance(part, Hole) else part for part in parts)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(SCRIPTS), st.text("ab/|#\\\n;ewrR1 &}{!,$", max_size=12))
def test_no_value_that_is_taken_makes_sed_run_read_or_write(
    parts: tuple[str | Hole, ...], value: str
) -> None:
    code = Code()
    (rules,) = sed_rules(code.coded(Pieces(parts))).values()
    if not all(holds(rule, value) for rule in rules):
        return
    done = subprocess.run(
        ["sed", "--sandbox", "-e", filled(parts, value)],
        input=b"a\nb\n", capture_output=True, check=False,
    )  # fmt: skip
    assert b"sandbox" not in done.stderr


def test_control_without_the_rules_it_does() -> None:
    script = filled(SCRIPTS[0], "x/;1e id;s/x/x")
    done = subprocess.run(
        ["sed", "--sandbox", "-e", script], input=b"a\n", capture_output=True, check=False
    )
    assert b"sandbox" in done.stderr


def test_every_place_of_a_value_gives_its_rule() -> None:
    code = Code()
    script = code.coded(Pieces(("s/a/", H, "/;s|b|", H, "|;", H, "d")))
    assert sed_rules(script) == {script[4]: {"inside of /", "inside of |", "number"}}
    with pytest.raises(NotATool, match="backslash"):
        sed_rules(code.coded(Pieces(("s/a\\", H, "/b/"))))
