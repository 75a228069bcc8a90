"""Arguments and options that several commands share, each described once."""

import re
from pathlib import Path
from typing import Annotated

import typer

from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.core.types import SPLITS

_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def _names(kind: str) -> list[str]:
    return registry.names(kind)


def complete_domains(incomplete: str) -> list[str]:
    return [name for name in _names("domains") if name.startswith(incomplete)]


def complete_agents(incomplete: str) -> list[str]:
    return [name for name in _names("agents") if name.startswith(incomplete)]


def complete_selectors(incomplete: str) -> list[str]:
    return [name for name in _names("selectors") if name.startswith(incomplete)]


def complete_proposers(incomplete: str) -> list[str]:
    return [name for name in _names("proposers") if name.startswith(incomplete)]


def complete_splits(incomplete: str) -> list[str]:
    return [name for name in SPLITS if name.startswith(incomplete)]


def complete_designs(incomplete: str) -> list[str]:
    from metamem.designs.library import names

    return [name for name in names() if name.startswith(incomplete)]


Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        envvar="METAMEM_HOME",
        help="Where the archive and the reports live. Default: ./metamem-home",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Processes that play. Default: one per core."),
]

LearnedDomain = Annotated[
    str,
    typer.Argument(
        metavar="DOMAIN",
        autocompletion=complete_domains,
        help="What to learn for; may be left out to go on with a run.",
    ),
]


def _told(context: typer.Context, parameter: typer.CallbackParam, run: str) -> str:
    """An empty name is a variable that was not set, and no wish for a new run."""
    source = context.get_parameter_source(parameter.name or "")
    if not run and source is not None and source.name == "COMMANDLINE":
        raise UsageError("an empty name cannot name a run", hint="leave --run out for a new run")
    return run


def check_run_name(name: str) -> None:
    if not _RUN_NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a run",
            hint="use letters, digits, . _ and -, a letter or digit first, 100 of them at most",
        )


Run = Annotated[
    str,
    typer.Option(metavar="NAME", callback=_told, help="The run's name; a known one goes on."),
]
Budgeted = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Stop after N proposals. Where no model writes them, copies of known designs do not count, up to N of them. Default: 150",
    ),
]
Domain = Annotated[
    str, typer.Option(metavar="NAME", autocompletion=complete_domains, help="Which domain.")
]
Data = Annotated[
    str,
    typer.Option(metavar="PATH", help="The domain's data, such as the folder of ALFWorld games."),
]
Setting = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="A setting of the domain, such as train=100. May be given several times.",
    ),
]
Split = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        autocompletion=complete_splits,
        help="train, valid, test or shift. Reads of test and shift are entered in a ledger.",
    ),
]
AgentName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        autocompletion=complete_agents,
        help="Who acts. Default: the one that the domain names.",
    ),
]
AgentSetting = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="A setting of the agent that --agent names, such as examples=6. May be given several"
        " times.",
    ),
]
Collector = Annotated[
    str | None,
    typer.Option(
        metavar="AGENT",
        autocompletion=complete_agents,
        help="Who plays what memories learn from. Default: the agent that acts; another one where"
        " that wins too little to learn from, as a small model does.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="The same seed gives the same result. Default: 0"),
]
Rollout = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="frozen (ALMA's batched): every repeat starts from one state; streaming"
        " (sequential): memory learns as it goes.",
    ),
]
Repeats = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="How often each task is played. Default: 1")
]
Collect = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="How many tasks memory learns from first. Default: all"),
]
Tasks = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Play only N tasks, the same ones every time; kept apart from whole evaluations.",
    ),
]
Experience = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="What memory is given of what was collected: whole, none, or scrambled (the same texts,"
        " with what came back dealt out anew). Default: whole",
    ),
]
CollectedBy = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DESIGN",
        help="Play the collection tasks again with this memory, and learn from all episodes; given"
        " several times, round by round.",
    ),
]
AdviceTokens = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="How long advice may be, in tokens. Default: 4000"),
]
Ask = Annotated[
    str | None,
    typer.Option(
        metavar="WHEN",
        help="When memory is asked: once, before the first action; every:N, again after every N"
        " actions; when, again when what the design waits for has come, at most ten times in an"
        " episode (when:N: at most N). Default: once",
    ),
]
MaxSteps = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Actions in an episode. Default: the domain's own"),
]
Parity = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="alma: the original ALMA's sizes, steps, repeats, selection and time-outs in this"
        " domain; what else is given wins. See: metamem domains show NAME",
    ),
]
TasksFrom = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="split: learn from train; alma: from one half of the split, as the paper did.",
    ),
]
OldTasksFrom = Annotated[str | None, typer.Option("--protocol", metavar="NAME", hidden=True)]
Model = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="ROLE=NAME",
        help="The model of a role (agent, memory, meta, embed), such as"
        " agent=openai:gpt-5-nano/low or memory=local:PATH.gguf; may be given several times."
        " See: metamem models",
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="The most tokens that models may use. Default: no limit"),
]
MaxMoney = Annotated[
    float | None,
    typer.Option(metavar="USD", min=0, help="The most dollars that models may cost."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before models are paid.")]
