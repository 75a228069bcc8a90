"""metamem experiment: hypotheses about memory in a domain, tested in an order."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from metamem.cli import options as o
from metamem.cli.conditions import USUAL, Conditions
from metamem.cli.parts import existing_archive, given
from metamem.cli.progress import watcher
from metamem.cli.screen import print_json, print_table, remark, say, tell
from metamem.cli.spread import spread
from metamem.cli.stopped import Stopped
from metamem.core import registry
from metamem.core.figures import Scale, chance
from metamem.evaluation.jobs import Spec
from metamem.runs.experiments import Experiment, Terms, experiments
from metamem.runs.experiments.records import found as named

EXAMPLES = """[bold]Examples[/bold]

metamem experiment coding --hypothesis H1 --plan [dim]# what would be played, and what it could show[/dim]

metamem experiment coding --hypothesis H1 [dim]# does memory help?[/dim]

metamem experiment coding --hypothesis H2 [dim]# does it gather what helps?[/dim]

metamem experiment show [dim]# all results and refusals[/dim]
"""
REFUSED = 1  # the exit code where nothing was played
RUN = "run"


class _Shortened(TyperGroup):
    """What is no command is the domain of the command `run`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = args[0] in self.commands or args[0].startswith("-")
        return super().resolve_command(ctx, args if known else [RUN, *args])


app = typer.Typer(
    cls=_Shortened,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Test hypotheses about memory in a domain, each opening the next.",
    epilog=EXAMPLES,
)


@app.command(RUN)
@spread(without=["rollout", "collect", "experience", "collected_by", "protocol", "parity"])
def run(
    domain: o.LearnedDomain,
    hypothesis: Annotated[
        str,
        typer.Option(
            metavar="H1|H2|H3",
            help="H1: does memory help? H2: does it gather what helps, over time? H3: does a search find"
            " what people did not?",
            show_default=False,
        ),
    ],
    design: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DESIGN",
            help="Whose memory it is about; may be given again. Default: H1, the best human design on"
            " valid and the learned one; H2, those that passed H1; H3, the best human one of H1.",
        ),
    ] = None,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Tell what would be played and what it could show; no more."),
    ] = False,
    pilot: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            help="H1: choose the best human design by N tasks of valid. Default: 40",
        ),
    ] = None,
    assumed: Annotated[
        float | None,
        typer.Option(
            metavar="SD",
            help="The spread of gains from task to task, assumed until there is a pilot, as a share of"
            " the range of rewards. Default: 0.5",
        ),
    ] = None,
    effect: Annotated[
        float | None,
        typer.Option(
            metavar="GAIN", help="The effect that one would like to see, likewise. Default: 0.1"
        ),
    ] = None,
    designs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="H3: how many designs to search. Default: 12"),
    ] = None,
    searched: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=2, help="H3: tasks of each split that the search plays. Default: 40"
        ),
    ] = None,
    proposer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", autocompletion=o.complete_proposers, help="H3: who writes designs."
        ),
    ] = None,
    hints: Annotated[
        bool, typer.Option("--hints", help="H3: tell whoever writes designs about the domain.")
    ] = False,
    override: Annotated[
        bool,
        typer.Option(
            "--override",
            help="Play although the hypothesis before has not passed. That is kept with the result,"
            " which then opens no other.",
        ),
    ] = False,
    played: Conditions = USUAL,
    json: o.Json = False,
) -> None:
    """Test a hypothesis in a domain. `metamem experiment DOMAIN ...` is short for it.

    What will be played, and what it could show, is told before. A hypothesis is refused unless the one
    before it has passed under the same conditions. Results and refusals are kept. After Ctrl-C or worse
    the same command goes on.
    """
    settings = played.settings(domain)
    from metamem.experiments import experiment

    terms = Terms(
        designs=tuple(design or ()),
        hints=hints,
        override=override,
        **given(
            pilot=pilot,
            spread=assumed,
            effect=effect,
            budget=designs,
            searched=searched,
            proposer=_spec(proposer),
        ),
    )
    try:
        with watcher(played.quiet) as progress:
            found = experiment(
                domain,
                hypothesis,
                terms=terms,
                only_plan=plan,
                progress=progress,
                tell=None if played.quiet else remark,
                **settings,
            )
    except KeyboardInterrupt:
        raise Stopped("with the same command") from None
    if json:
        print_json(found.to_json())
    elif not plan:
        _show(found)
    elif found.state == "refused":  # nothing of a plan is kept, so there is nothing to look up
        say(f"It would be refused: {found.reason}.")
    if found.state == "refused":
        raise typer.Exit(REFUSED)


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[EXPERIMENT]", help="Its id, or how that ends.", show_default=False
        ),
    ] = "",
    home: o.Home = None,
    json: o.Json = False,
) -> None:
    """Show what came of experiments, refusals too: all in a table, or one with its figures."""
    with existing_archive(home) as archive:
        known = experiments(archive)
    if name:
        one = named(known, name)
        if json:
            print_json(one.to_json())
        else:
            _show(one)
        return
    if json:
        print_json([each.to_json() for each in known])
        return
    if not known:
        say("No experiment yet. Start with: metamem experiment coding --hypothesis H1")
        return
    rows = [(each.id, each.state, _day(each), each.reason) for each in known]
    print_table(("experiment", "state", "ended", "what came of it"), rows)


def _spec(proposer: str | None) -> Spec | None:
    if proposer is None:
        return None
    registry.factory("proposers", proposer)
    return Spec(proposer)


def _day(found: Experiment) -> str:
    return found.ended[:16].replace("T", " ")


def _show(found: Experiment) -> None:
    scale = Scale(*found.result.get("reward_range", (0.0, 1.0)))
    say(f"{found.plan.domain}, {found.plan.hypothesis}: {found.plan.asks}")
    if found.overridden:
        say(f"Played although it should have been refused: {found.overridden}.")
    for power in found.power:
        say(power.told(scale))
    _show_candidates(found.result.get("candidates", ()), scale)
    for warning in found.warnings:
        remark(f"warning: {warning}")
    say(
        f"{found.state.capitalize()}: {found.reason}." if found.reason else found.state.capitalize()
    )
    tell(f"The experiment: metamem experiment show {found.id}")


def _show_candidates(candidates: Sequence[Any], scale: Scale) -> None:
    """One row a memory, whatever was measured of it."""
    rows = []
    for each in candidates:
        compared, trend = each.get("comparison"), each.get("trend")
        if compared:
            gain = scale.gain_span(compared["low"], compared["high"])
            figures = (scale.gain(compared["gain"]), gain, chance(compared["p_permutation"]))
        else:
            kept = "rise" in trend  # older records have the slope of a place
            rise = scale.gain_span(trend["low"], trend["high"]) if kept else ""
            figures = (scale.gain(each["rise"]), rise, chance(trend["p"]))
        rows.append((each["name"], *figures, "yes" if each["passed"] else "no"))
    if rows:
        what = "rise" if "trend" in candidates[0] else "gain"
        print_table(
            ("memory", f"{what}{scale.unit_of_gains}", "95 % interval", "p", "passed"),
            rows,
            numeric=(f"{what}{scale.unit_of_gains}", "95 % interval", "p"),
        )
