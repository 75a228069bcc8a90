"""metamem promotions bounds: inside which parameters may change themselves."""

import getpass
import json as formats
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from metamem.cli import options as o
from metamem.cli.decided import ROUTING
from metamem.cli.parts import check_domain, existing_archive, home_option
from metamem.cli.screen import remark, say, tell
from metamem.core import registry
from metamem.core.access import Scope
from metamem.core.errors import UsageError
from metamem.core.ids import short
from metamem.core.space import Choice, Parameter, Space
from metamem.promotion.ledger import Ledger
from metamem.promotion.parameters import Bounds, propose_bounds
from metamem.store.records import Place

_FORM = "NAME=LOW..HIGH, or NAME=A|B for what is no number"


def bounds(
    domain: Annotated[str, typer.Argument(autocompletion=o.complete_domains, show_default=False)],
    within: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=LOW..HIGH",
            help="What a parameter may become by itself; NAME=A|B for what is no number. Given once for each.",
        ),
    ],
    scope: Annotated[
        str, typer.Option(metavar="SCOPE", help="For what is learned for a scope alone.")
    ] = "",
    by: Annotated[str, typer.Option(metavar="NAME", help="Who asks. Default: you.")] = "",
    home: o.Home = None,
) -> None:
    """Ask for bounds inside which learned parameters go into use at once. They wait for approval, as all does.

    The newest that were approved hold. What is not named stays as it is, or waits for a person.
    """
    check_domain(domain, {})
    made = registry.create("domains", domain)
    if made.kind != "params":
        raise UsageError(f"{domain} has no parameters: designs always wait for a person")
    asked = read_bounds(within, made.space)
    place = Place("scope", str(Scope.parse(scope))) if scope else Place("domain", made.name)
    with existing_archive(home) as archive:  # where runs look for them
        ledger = Ledger(archive)
        now = ledger.standing(asked.subject, place).in_use
        if now is not None and now.subject == asked.subject:
            say(f"the bounds {short(asked.subject.id)} hold in {place} already")
            return
        propose_bounds(ledger, asked, place, by=by or getpass.getuser())
    say(f"the bounds {short(asked.subject.id)} wait for approval in {place}")
    if made.name != ROUTING:  # its settings are watched in use
        remark(
            f"what goes into use inside them stays until somebody undoes it: nothing that {made.name} does"
            " in use tells whether it hurts"
        )
    tell(
        "Put into use with: metamem promotions approve"
        f" {short(asked.subject.id)}{home_option(home)}"
    )


def read_bounds(within: Sequence[str], space: Space) -> Bounds:
    """As they are typed. Ends and choices must be values of their parameters."""
    ranges: dict[str, tuple[float, float]] = {}
    choices: dict[str, tuple[Any, ...]] = {}
    for text in within:
        name, equals, said = (part.strip() for part in text.partition("="))
        parameter = space.parameters.get(name)
        if not equals or parameter is None:
            known = ", ".join(space.parameters)
            raise UsageError(f"{text!r} names no parameter", hint=f"{_FORM}; known: {known}")
        if name in ranges or name in choices:
            raise UsageError(f"the bounds of {name!r} are given twice")
        if isinstance(parameter, Choice):
            choices[name] = tuple(_option(name, each, parameter) for each in said.split("|"))
            continue
        low, dots, high = said.partition("..")
        if not dots:
            raise UsageError(f"{text!r} is no range", hint=_FORM)
        ranges[name] = (_end(name, low, parameter), _end(name, high, parameter))
    return Bounds(ranges, choices)


def _end(name: str, text: str, parameter: Parameter) -> float:
    try:
        value = formats.loads(text)
    except ValueError:
        value = text.strip()
    if problem := parameter.problem(value):
        raise UsageError(f"{name!r} {problem}", hint=_FORM)
    return float(value)


def _option(name: str, text: str, parameter: Choice) -> Any:
    """The option that is called so, whatever its type; switches are true and false."""
    said = text.strip()
    for option in parameter.options:
        if said in (str(option), formats.dumps(option)):
            return option
    raise UsageError(f"{name!r} {parameter.problem(said)}", hint=_FORM)
