"""metamem domains and agents: what there is to choose from."""

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.text import Text

from metamem.cli import options as o
from metamem.cli.designs import app as designs
from metamem.cli.follow import follow
from metamem.cli.parts import first_sentence
from metamem.cli.screen import out, print_json, print_table, say
from metamem.core import registry
from metamem.core.chat import ROLES
from metamem.core.errors import MetamemError
from metamem.core.types import SPLITS
from metamem.runs.parity import PARITIES
from metamem.search.learnables import learnable_of
from metamem.search.learnables.parameters import shown

__all__ = ["agents", "designs", "domains"]

LEARNS = {"code": "memory", "params": "parameters", "": ""}
domains = typer.Typer(invoke_without_command=True, help="What can be learned for.")


@domains.callback()
def domains_default(context: typer.Context, json: o.Json = False) -> None:
    if context.invoked_subcommand is None:
        list_domains(json)


@domains.command("list")
def list_domains(json: o.Json = False) -> None:
    """List the domains."""
    rows = []
    for name in registry.names("domains"):
        try:
            domain = registry.create("domains", name)
            rows.append({"name": name, "kind": domain.kind, "about": domain.describe()})
        except MetamemError as error:  # one broken plug-in must not hide the others
            why = f"cannot be used: {error.message} {error.hint}".strip()
            rows.append({"name": name, "kind": "", "about": why})
    if json:
        print_json(rows)
    else:
        print_table(
            ("domain", "learns", "about"),
            [(row["name"], LEARNS[row["kind"]], first_sentence(row["about"])) for row in rows],
        )


@domains.command("show")
def show_domain(
    name: Annotated[str, typer.Argument(autocompletion=o.complete_domains, show_default=False)],
    data: o.Data = "",
    json: o.Json = False,
) -> None:
    """Show one domain: its splits, its human designs, what always holds in it."""
    from metamem.cli.parts import check_domain, data_settings

    check_domain(name, data_settings(data))
    domain = registry.create("domains", name, **data_settings(data))
    about: dict[str, Any] = {
        "name": domain.name,
        "kind": domain.kind,
        "version": domain.version,
        **_of_kind(domain),
        "about": domain.describe(),
        "tasks": {split: len(domain.tasks(split)) for split in SPLITS},
        "human_designs": list(learnable_of(domain).seeds(domain, ROLES)),
        "invariants": list(domain.invariants()),
        "parity": {work: asdict(of[name]) for work, of in PARITIES.items() if name in of},
    }
    if json:
        print_json(about)
        return
    say(about["about"])
    say("")
    rows = [
        ("kind", about["kind"]),
        ("data version", about["version"]),
        *_facts_of_kind(about),
        *((f"tasks in {split}", str(count)) for split, count in about["tasks"].items()),
        ("human designs", ", ".join(about["human_designs"])),
    ]
    print_table(("fact", "value"), rows)
    if "parameters" in about:
        say("")
        print_table(
            ("parameter", "default", "what it may be", "where it holds"),
            [
                (name, shown(one["default"]), one["allowed"], one["only"])
                for name, one in about["parameters"].items()
            ],
            numeric=("default",),
        )
    say("")
    for sentence in about["invariants"]:
        say(f"- {sentence}")
    for work, settings in about["parity"].items():
        _show_parity(work, settings)


domains.command("follow")(follow)


def _of_kind(domain: Any) -> dict[str, Any]:
    if domain.kind == "code":
        return {"max_steps": domain.max_steps}
    return {
        "reward_range": list(domain.reward_range),
        "parameters": {
            name: {
                "allowed": str(parameter),
                "default": parameter.default,
                "only": str(parameter.only or ""),
            }
            for name, parameter in domain.space.parameters.items()
        },
    }


def _facts_of_kind(about: dict[str, Any]) -> list[tuple[str, str]]:
    if "parameters" not in about:
        return [("actions in an episode", f"at most {about['max_steps']}")]
    low, high = about["reward_range"]
    return [("rewards", f"from {low:g} to {high:g}")]


def _show_parity(work: str, settings: dict[str, Any]) -> None:
    say("")
    say(f"--parity {work} sets, where nothing else is given:")
    rows = [
        (part, ", ".join(f"{name} {_short(value)}" for name, value in settings[part].items()))
        for part in ("domain", "rules", "limits", "search", "budget")
    ]
    print_table(("part", "settings"), rows)
    say("What is not as there:")
    for sentence in settings["differs"]:
        say(f"- {sentence}")


def _short(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    return f"{value['name']} {value['settings']}"  # a part that is named


def _headline(agent: str) -> str:
    return (registry.factory("agents", agent).__doc__ or "").strip().split("\n")[0]


def agents(json: o.Json = False) -> None:
    """List the agents that can act."""
    rows = []
    for name in registry.names("agents"):
        try:
            about = _headline(name)
        except MetamemError as error:
            about = f"cannot be used: {error.message}"
        rows.append({"name": name, "about": about})
    if json:
        print_json(rows)
        return
    made_of = [(f"{name}:…", _headline(name)) for name in registry.OF_DATA["agents"]]
    print_table(("agent", "about"), [*((row["name"], row["about"]) for row in rows), *made_of])
    out().print(Text("Every result names the agent that produced it.", style="dim"))
