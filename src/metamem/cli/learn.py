"""metamem learn: find a memory design, or parameters, for a domain, or go on with a run."""

import json as jsonlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from metamem.cli import options as o
from metamem.cli.conditions import USUAL, Conditions
from metamem.cli.parts import (
    agree_to_cost,
    allowance,
    check_domain,
    executor,
    existing_archive,
    given,
    home_option,
    model_roles,
)
from metamem.cli.progress import watcher
from metamem.cli.results import print_results
from metamem.cli.screen import print_json, remark, say, tell
from metamem.cli.spread import spread
from metamem.cli.stopped import Stopped
from metamem.core import registry
from metamem.core.errors import AllowanceSpent, UnknownName, UsageError
from metamem.core.ids import short
from metamem.core.needs import needs_of
from metamem.core.protocols import Domain
from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules
from metamem.promotion.under import Under
from metamem.report.headline import reservation
from metamem.runs.attribution import attributions
from metamem.runs.config import LearnConfig, learns
from metamem.runs.summary import Summary
from metamem.sandbox.isolation import choose
from metamem.store.archive import KILLED, state_now

UNFINISHED = ("created", "stopped", KILLED)

EXAMPLES = """[bold]Examples[/bold]

metamem learn toy --designs 6 [dim]# a minute, to see how it goes[/dim]

metamem learn alfworld --seed 1 --designs 150

metamem learn --run alfworld-s1-1 [dim]# go on where it stopped[/dim]

metamem learn alfworld --agent llm --proposer llm --designs 20 --max-money 5
  --model openai:gpt-5-nano/low --model meta=openai:gpt-5 [dim]# with models[/dim]

metamem learn alfworld --proposer handoff --designs 20 [dim]# a coding agent writes them[/dim]

metamem learn dials [dim]# parameters, in seconds[/dim]

metamem learn alfworld --parity alma --agent llm --proposer llm --model ... [dim]# as the paper[/dim]
"""
LOOK = {"code": "The code", "params": "The values"}


# A run needs all tasks, and all that was collected: its gate and its report rest on them.
@spread(without=["tasks", "experience", "collected_by"])
def learn(
    domain: o.LearnedDomain = "",
    run: o.Run = "",
    designs: o.Budgeted = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", min=0.001, help="Stop searching after S seconds.")
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            metavar="R",
            min=1,
            help="Rounds of collection, each with an equal share of the budget: after each the"
            " collection tasks are played again with the best memory so far. Default: 1",
        ),
    ] = None,
    selector: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=o.complete_selectors,
            help="Who chooses parents: alma, clade, greedy, niches, pareto, uniform."
            " Default: niches; for parameters greedy, the one best",
        ),
    ] = None,
    proposer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=o.complete_proposers,
            help="Who writes designs: recombine, random, llm (a model), handoff (any coding agent);"
            " for parameters adaptive, annealing, cmaes, crossover, gaussian, sample, tpe."
            " Default: recombine; for parameters gaussian, or what the domain suggests",
        ),
    ] = None,
    begin: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="NAME",
            help="Begin with a design that comes along, beside the human ones, and have it to beat:"
            " `learned` is the one that was learned for the domain. May be given again.",
            show_default=False,
        ),
    ] = None,
    knowledge: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="An index whose pieces are laid beside each request, with --proposer handoff."
            " See: metamem knowledge list",
        ),
    ] = "",
    no_control: Annotated[
        bool, typer.Option("--no-control", help="Leave out the control, a blind search.")
    ] = False,
    no_racing: Annotated[
        bool, typer.Option("--no-racing", help="Play hopeless designs to the end, too.")
    ] = False,
    no_hints: Annotated[
        bool, typer.Option("--no-hints", help="Tell whoever writes designs nothing of the domain.")
    ] = False,
    explain: Annotated[
        bool | None,
        typer.Option(
            "--explain/--no-explain",
            help="Take the learned design apart in the end: what each part is worth. Default: only"
            " where that asks no model.",
            show_default=False,
        ),
    ] = None,
    allow_built_in: Annotated[
        bool,
        typer.Option(
            "--allow-built-in",
            help="Also promote what does as well with no experience: knowledge, not memory.",
        ),
    ] = False,
    played: Conditions = USUAL,
    yes: o.Yes = False,
    json: o.Json = False,
) -> None:
    """Learn a memory design (or parameters) for a domain, and prove whether it helps.

    Designs are proposed, tried in the jail, evaluated on train and kept in the archive. The best
    go before the promotion gate on valid; test and shift are read once, for the table at the end.
    Stop with Ctrl-C whenever you like: the run goes on where it stopped.

    A domain of parameters, such as dials, says so: there sets of values are learned, in the same way.
    """
    from metamem.api import learn as learn_design
    from metamem.runs.settings import learn_config

    published, home = played.preset(domain), played.home
    rules, world = played.rules(published), played.world(published)
    somebody = needs_of("proposers", proposer).somebody if proposer else ""
    settings = {**published.search, **given(limits=published.limits or None)} | given(
        **played.players(),
        selector=_spec("selectors", selector),
        proposer=_proposer(proposer, knowledge, no_hints),
        control=False if no_control else None,
        racing=False if no_racing else None,
        hints=False if no_hints else None,
        explain=explain,
        rounds=rounds,
        begin=_begin(begin or [], domain) or None,
        allow_built_in=True if allow_built_in else None,
        models=model_roles(played.model) or None,
        batch=1 if somebody else None,  # then each request sees what came of the one before
    )
    budget = given(designs=designs, seconds=seconds) or dict(published.budget)
    known, jailed = _known_runs(home), True
    if run in known:
        jailed = bool(known[run]["agent"]["name"])  # where nobody acts, no code is learned
        _same_settings(run, known[run], domain, world, settings, rules, budget)
        settings = budget = rules = {}
    elif run and not domain:
        listed = ", ".join(known) or "none yet"
        raise UnknownName(f"no run called {run!r}", hint=f"known: {listed}; or name a domain")
    elif domain:
        if run:
            o.check_run_name(run)
        check_domain(domain, world)
        settings["domain_settings"] = world
        settings["rules"] = Rules(**rules)
        made: Domain = registry.create("domains", domain, **world)
        jailed = made.kind == "code"
        _tell_readiness(made, settings["rules"])
        config = learn_config(
            None, domain, "", {**settings, **budget}
        )  # refuses who cannot work there
        if not run:
            _tell_unfinished(home, config)
        agree_to_cost(domain, {**settings, **budget}, yes)

    if jailed:
        choose(settings.get("isolation", "auto"))  # refused before anything is written
    if somebody:
        remark(somebody)

    try:
        with watcher(played.quiet) as progress:
            result = learn_design(
                domain,
                run=run,
                home=home,
                executor=executor(played.workers),
                progress=progress,
                allowance=allowance(played.max_tokens, played.max_money),
                **settings,
                **budget,
            )
    except AllowanceSpent as spent:
        started = [name for name in _known_runs(home) if name not in known]
        name = run or (started[-1] if started else "")
        raise AllowanceSpent(
            spent.message,
            hint=f"go on with more: metamem learn --run {name} --max-tokens N --max-money USD"
            f"{home_option(home)}",
        ) from None
    except KeyboardInterrupt:
        started = [name for name in _known_runs(home) if name not in known]
        name = run or (started[-1] if started else "")
        again = f"with: metamem learn --run {name}{home_option(home)}" if name else ""
        raise Stopped(again) from None
    path, under = _report(home, result.run_id), _under(home, result.run_id)
    if json:
        found = {"run": result.run_id, "report": str(path), "learned_under": under}
        print_json({**found, **result.summary.to_json()})
    else:
        kind = result.learned.kind if result.learned else "code"
        _show(result.run_id, result.summary, LOOK[kind], path, home_option(home), under)


def _tell_readiness(domain: Domain, rules: Rules) -> None:
    from metamem.runs.readiness import readiness

    if warning := readiness(domain, rules):
        remark(f"warning: {warning}")


def _tell_unfinished(home: Path | None, config: LearnConfig) -> None:
    """The very same was begun before, and could go on: what begins now is another run."""
    from metamem.api import home_folder

    if not (home_folder(home) / "archive.db").is_file():
        return
    wanted = jsonlib.loads(jsonlib.dumps(config.to_json()))  # as it is stored
    with existing_archive(home) as archive:
        left = [
            each.id
            for each in archive.runs()
            if each.config == wanted and state_now(archive, each) in UNFINISHED
        ]
    if left:
        remark(
            f"{left[-1]} has the same settings and is not finished; this is a new run. To go on with it"
            f" instead: metamem learn --run {left[-1]}{home_option(home)}"
        )


def _spec(kind: str, name: str | None) -> Spec | None:
    if name is None:
        return None
    registry.factory(kind, name)
    return Spec(name)


def _proposer(name: str | None, knowledge: str, no_hints: bool) -> Spec | None:
    """Who writes designs; with what lies beside the requests, where that was asked for."""
    spec = _spec("proposers", name)
    if not knowledge:
        return spec
    if spec is None or spec.name != "handoff":
        raise UsageError("--knowledge is for those who are handed requests: --proposer handoff")
    if no_hints:
        raise UsageError("--knowledge tells of the domain, and --no-hints forbids that")
    registry.factory("shelves", "knowledge")(knowledge, [])  # refused early where there is none
    return replace(spec, settings={"knowledge": knowledge})


def _known_runs(home: Path | None) -> dict[str, Mapping[str, Any]]:
    from metamem.api import home_folder

    if not (home_folder(home) / "archive.db").is_file():
        return {}
    with existing_archive(home) as archive:
        return {run.id: run.config for run in archive.runs() if learns(run)}


def _same_settings(
    run: str,
    config: Mapping[str, Any],
    domain: str,
    world: Mapping[str, Any],
    settings: Mapping[str, Any],
    rules: Mapping[str, Any],
    budget: Mapping[str, Any],
) -> None:
    """A run never changes its settings: saying the same again is fine, anything else is not."""
    from metamem.runs.config import LearnConfig

    stored = LearnConfig.from_json(config)
    domain, world = registry.spelled_out("domains", domain, world)
    wanted = replace(
        stored,
        **settings,
        domain=Spec(domain or stored.domain.name, {**stored.domain.settings, **world}),
        rules=replace(stored.rules, **rules),
        budget=replace(stored.budget, **budget),
    )
    if wanted == stored:
        return
    old, new = stored.to_json(), wanted.to_json()
    name = next(name for name in old if old[name] != new[name])
    raise UsageError(
        f"the run {run!r} is there already, with another {name}",
        hint=f"go on with: metamem learn --run {run}; or give the new run another name",
    )


def _report(home: Path | None, run_id: str) -> Path:
    from metamem.api import home_folder
    from metamem.report.page import write_report
    from metamem.report.place import report_path

    path = report_path(home_folder(home), run_id)
    with existing_archive(home) as archive:
        write_report(archive, run_id, path)
    return path


def _under(home: Path | None, run_id: str) -> Under:
    with existing_archive(home) as archive:
        decided = archive.promotions(run_id)
    return Under.of(decided[0].evidence) if decided else Under()


def _show(run_id: str, summary: Summary, look: str, report: Path, there: str, under: Under) -> None:
    """`look` says what of the design there is to see, `there` is what commands need to find the
    same archive."""
    for split, rows in summary.tables.items():
        print_results(
            f"{split}: {rows[0].tasks} tasks that the search never saw", rows, summary.scale
        )
        say("")
    for each in summary.rounds:
        say(each.told(summary.scale))
    for warning in summary.search.warnings if summary.search else ():
        remark(f"warning: {warning}")
    if summary.decision is not None:
        say(f"The gate: {summary.decision.reason}.")
    for found in attributions(summary):
        say(found.told(summary.scale))
    if reserved := reservation(summary):
        say(reserved)
    if summary.learned and summary.promoted:
        if under.differs:
            say(f"Learned under {under.told}: proven for those settings, not for the domain's own.")
        tell(f"To put it into use: metamem promotions approve {short(summary.learned)}{there}")
    tell(f"The report: {report}")
    if summary.learned:
        tell(f"{look}: metamem archive show {short(summary.learned)}{there}")
    tell(f"The run: metamem runs show {run_id}{there}")


def _begin(names: list[str], domain: str) -> tuple[str, ...]:
    """The designs by their whole names; refused here where there is none."""
    from metamem.designs.library import LEARNED, load

    whole = [f"{LEARNED}/{domain}" if name == LEARNED else name for name in names]
    return tuple(load(name).name for name in dict.fromkeys(whole))
