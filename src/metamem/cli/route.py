"""metamem route: which agent or model gets which task, learned from what came of it."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metamem.cli import memory_options as m
from metamem.cli.memory_options import HERE, There, when
from metamem.cli.screen import print_json, print_table, remark, say
from metamem.cli.spread import spread
from metamem.core.amounts import many
from metamem.core.errors import UsageError
from metamem.core.ids import short
from metamem.service.administers import Connected
from metamem.service.defaults import Defaults
from metamem.service.routing.words import (
    COST_WEIGHT,
    LATENCY_WEIGHT,
    ROUTER,
    Believed,
    Contender,
)

if TYPE_CHECKING:  # loaded when a command needs it
    from metamem.evaluation.offpolicy import Estimate

EXAMPLES = """[bold]Examples[/bold]

metamem route choose "repair the failing test" --arm small,cost=0.02 --arm large,cost=0.4

metamem route reward d0190... --success 1 --cost 0.03 --latency 41

metamem route explain d0190...

metamem route evaluate [dim]# is it better than one arm for all tasks?[/dim]

metamem route evaluate --log decisions.jsonl [dim]# of another system[/dim]

metamem route watch [dim]# did settings that are watched hurt?[/dim]
"""
DOUBTED = "*"
app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Which agent or model gets which task, learned from what came of it.",
    epilog=EXAMPLES,
)
Decision = Annotated[
    str, typer.Argument(metavar="DECISION", help="As `choose` named it.", show_default=False)
]
RouterName = Annotated[
    str, typer.Option("--router", metavar="NAME", help="Which router of the scope.")
]
_COST = typer.Option(metavar="N", min=0, help="What a unit of cost takes off a success.")
_LATENCY = typer.Option(metavar="N", min=0, help="What a second takes off a success.")


@app.command()
@spread()
def choose(
    task: Annotated[str, typer.Argument(help="What is to be done.", show_default=False)],
    arm: Annotated[
        list[str],
        typer.Option(
            metavar="NAME[,KEY=N...]",
            help="Who may get it, and what is believed of it beforehand: success, cost, latency. Given"
            " once for each.",
        ),
    ],
    seen: Annotated[str, typer.Option(help="What is seen at its beginning.")] = "",
    tag: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="What else is known of the task.")
    ] = None,
    cost_weight: Annotated[float, _COST] = COST_WEIGHT,
    latency_weight: Annotated[float, _LATENCY] = LATENCY_WEIGHT,
    router: RouterName = ROUTER,
    scope: m.ScopeName = "",
    there: There = HERE,
) -> None:
    """Draw one of the arms for a task. What came of it, tell with: metamem route reward"""
    arms = [contender(text) for text in arm]
    tags = dict(_pair(text) for text in tag or ())
    with there.open() as service:
        place = Defaults(service, Path.cwd()).written(scope)
        found = service.route(
            place,
            task,
            arms,
            seen=seen,
            tags=tags,
            router=router,
            cost_weight=cost_weight,
            latency_weight=latency_weight,
        )
    if there.json:
        print_json(found)
        return
    say(found.arm)
    remark(found.why)
    remark(f"The decision: {found.decision}")


@app.command()
@spread()
def reward(
    decision: Decision,
    success: Annotated[float, typer.Option(min=0, max=1, help="From 0 to 1.")],
    cost: Annotated[float, typer.Option(min=0, help="In the unit of all arms.")] = 0.0,
    latency: Annotated[float, typer.Option(min=0, help="Seconds that it took.")] = 0.0,
    there: There = HERE,
) -> None:
    """Tell what came of a decision: the router learns from it. The first word counts."""
    from metamem.routing.words import Outcome

    with there.open() as service:
        found = service.reward(decision, Outcome(success, cost, latency))
    if there.json:
        print_json(found)
    else:
        say(f"told of {found.arm}" if found.new else "just that was told before")


@app.command()
@spread()
def explain(decision: Decision, there: There = HERE) -> None:
    """Say why a task went where it went, and what came of it."""
    with there.open() as service:
        found = service.why_route(decision)
    if there.json:
        print_json(found)
        return
    say(f"{found.task}")
    say(f"decision {found.number} of {found.router} in {found.scope}, {when(found.made_at)}")
    say(found.why)
    _show_arms(found.arms)
    if found.success is not None:
        say(f"success {found.success:g}, cost {found.cost:g}, {found.latency:g} s")
    else:
        remark("what came of it is not known yet")


@app.command()
@spread()
def status(router: RouterName = ROUTER, scope: m.ScopeName = "", there: There = HERE) -> None:
    """Show what a router decided and what came back, by arm, and which settings it runs with."""
    with there.open() as service:
        found = service.routing(_read(service, scope), router)
    if there.json:
        print_json(found)
        return
    say(
        f"{found.router} in {found.scope}: {many(found.decisions, 'decision')},"
        f" {found.outcomes} with an outcome"
    )
    if found.arms:
        columns = ("arm", "drawn", "outcomes", "success")
        rows = [
            (a.arm, str(a.drawn), str(a.outcomes), "" if a.success is None else f"{a.success:.3f}")
            for a in found.arms
        ]
        print_table(columns, rows, numeric=columns[1:])
    say(f"settings from {found.settings_from}: {_settings(found.settings)}")
    if len(found.routers) > 1:
        say(f"routers of the scope: {', '.join(found.routers)}")
    if found.watch:
        say(found.watch)
    if found.warning:
        remark(f"warning: {found.warning}")


@app.command()
@spread()
def watch(there: There = HERE) -> None:
    """Look at settings that are watched, and undo those that are proven to hurt.

    A server does it by itself, every minute, and the daemon of attached agents every hour.
    """
    from metamem.service.routing.watching import watch_once

    looked = watch_once(there.folder())
    warning = looked.warning()
    if there.json:
        print_json({"watched": looked.found, "warning": warning})
        return
    if not looked.found:
        say("no settings that are watched are in use")
    for each in looked.found:
        gain = "" if each.gain is None else f" (so far {each.gain:+.3f} by {each.pairs} pairs)"
        say(f"{short(each.parameters)} in {each.place}, {each.state}: {each.told}{gain}")
    if warning:
        remark(f"warning: {warning}")


@app.command()
@spread()
def evaluate(
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="Decisions of another system, with their odds."),
    ] = None,
    cost_weight: Annotated[float | None, _COST] = None,
    latency_weight: Annotated[float | None, _LATENCY] = None,
    router: RouterName = ROUTER,
    scope: m.ScopeName = "",
    there: There = HERE,
) -> None:
    """Say what the learned policy and every arm alone would have been worth, by the log alone.

    The earlier half is learned from, the later half judges. Needs the propensities of all decisions.
    Cost and latency weigh as at the router's newest decision, or in a log of another system as by default.
    """
    if log is not None:
        from metamem.routing import Settings
        from metamem.service.routing.judging import judge_file

        settings = Settings().weighing(cost_weight, latency_weight)
        judged: Any = judge_file(log, settings)
        costs = (settings.cost_weight, settings.latency_weight)
    else:
        with there.open() as service:
            judged = service.judge_routing(
                _read(service, scope),
                router,
                cost_weight=cost_weight,
                latency_weight=latency_weight,
            )
        costs = (judged.cost_weight, judged.latency_weight)
    if there.json:
        print_json({**asdict(judged), "cost_weight": costs[0], "latency_weight": costs[1]})
        return
    say(
        f"learned from {judged.learned_from} decisions, judged by the {judged.judged_by} after them;"
        f" worth is success less {costs[0]:g} × cost and {costs[1]:g} × latency; 95 % intervals"
    )
    columns = ("policy", "doubly robust", "snips", "ips", "worth decisions")
    rows = [
        (v.policy, _figure(v.robust), _figure(v.snips), _figure(v.ips), f"{v.robust.effective:.0f}")
        for v in judged.policies
    ]
    print_table(columns, rows, numeric=columns[1:])
    if any(estimate.note for v in judged.policies for estimate in (v.robust, v.snips, v.ips)):
        remark(
            f"{DOUBTED} rests on few decisions, or on such as all say the same: not to be trusted"
        )
    say(judged.reason)


def contender(text: str) -> Contender:
    """An arm as it is typed: NAME, or NAME,success=0.6,cost=0.02."""
    name, *told = [part.strip() for part in text.split(",")]
    known = {}
    for part in told:
        key, value = _pair(part)
        if key not in ("success", "cost", "latency"):
            raise UsageError(
                f"of an arm nothing is believed as {key!r}", hint="success, cost, latency"
            )
        try:
            known[key] = float(value)
        except ValueError:
            raise UsageError(f"{key} of {name} must be a number, not {value!r}") from None
    return Contender(name, **known)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"{text!r} is no NAME=VALUE")
    return name.strip(), value.strip()


def _read(service: Connected, scope: str) -> str:
    found = Defaults(service, Path.cwd()).read([scope] if scope else [])
    if not found:
        raise UsageError(
            "nothing was routed for this folder yet",
            hint='metamem route choose "…" --arm A --arm B begins',
        )
    return found[0]


def _show_arms(arms: Sequence[Believed]) -> None:
    columns = ("arm", "propensity", "worth", "±", "success", "cost", "seconds", "outcomes")
    rows = [
        (
            a.arm,
            f"{a.propensity:.3f}",
            f"{a.worth:.3f}",
            f"{a.spread:.3f}",
            f"{a.success:.3f}",
            f"{a.cost:.3g}",
            f"{a.latency:.3g}",
            str(a.seen),
        )
        for a in arms
    ]
    print_table(columns, rows, numeric=columns[1:])


def _settings(values: Any) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in values.items())


def _figure(found: "Estimate") -> str:
    """An interval that cannot be believed is marked; that of a single decision would say nothing."""
    if found.effective < 2:
        return f"{found.value:.3f} {DOUBTED}"
    shown = f"{found.value:.3f} ({found.low:.3f} … {found.high:.3f})"
    return f"{shown} {DOUBTED}" if found.note else shown
