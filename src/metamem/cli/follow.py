"""metamem domains follow: which agent follows advice in a domain."""

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from metamem.cli import options as o
from metamem.cli.parts import check_domain, data_settings
from metamem.cli.screen import print_json, print_table, remark, say
from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.core.protocols import WorldDomain
from metamem.core.types import Task
from metamem.evaluation.following import FOLLOWED, Following, fittest, following, why_not

RARE = 0.05  # of no advice: about one success among twenty episodes


def follow(
    name: Annotated[str, typer.Argument(autocompletion=o.complete_domains, show_default=False)],
    data: o.Data = "",
    tasks: Annotated[
        int, typer.Option(metavar="N", min=2, help="How many tasks of train are played.")
    ] = 12,
    agents: Annotated[
        str, typer.Option(metavar="A,B,...", help="Who acts. Default: every agent that can here")
    ] = "",
    json: o.Json = False,
) -> None:
    """Which agent follows advice here: each with none, another task's, and the oracle's.

    Plays a few tasks of train, with no memory, and tells which agent the domain should name.
    """
    check_domain(name, data_settings(data))
    domain: WorldDomain = registry.create("domains", name, **data_settings(data))
    if domain.kind != "code":
        raise UsageError(
            f"nobody acts in {name}, so there is no advice to follow: it learns parameters",
            hint=f"metamem domains show {name}",
        )
    played = _planned(domain, tasks)
    chosen = [agent.strip() for agent in agents.split(",") if agent.strip()]
    found, others = asyncio.run(_measure(domain, played, chosen or registry.names("agents")))
    if not found:
        raise UsageError(f"no agent can act in {name}", hint=_listed(others))
    fit = fittest(found, domain.agent)
    if json:
        print_json(
            {
                "domain": name,
                "tasks": len(played),
                "named": domain.agent,
                "fittest": fit.agent,
                "agents": [asdict(one) for one in found],
                "cannot_act": others,
            }
        )
        return
    say(f"{name}: mean reward on {len(played)} tasks of train, by the advice that is given")
    print_table(
        ("agent", "none", "another task's", "the oracle's"),
        [(f.agent, f"{f.none:.3f}", f"{f.stranger:.3f}", f"{f.oracle:.3f}") for f in found],
        numeric=("none", "another task's", "the oracle's"),
    )
    if others:
        remark(f"Not played: {_listed(others)}.")
    say(_verdict(fit, found, others, domain.agent))
    if fit.none < RARE:
        say(
            f"Without advice {fit.agent} hardly ever succeeds ({fit.none:.3f}), so memories see few"
            " successes to learn from: more tasks of train, more steps or easier tasks help."
        )


def _planned(domain: WorldDomain, count: int) -> list[Task]:
    """The first tasks that the oracle has advice for; agents cannot be told apart by the others."""
    found: list[Task] = []
    for task in domain.tasks("train"):
        if domain.oracle(task):
            found.append(task)
        if len(found) == count:
            break
    if len(found) < 2:
        raise UsageError(
            f"the oracle has advice for {len(found)} tasks of train; it takes two to see who follows",
            hint="let oracle(task) tell the way: admissible actions, word for word, a line each",
        )
    return found


async def _measure(
    domain: WorldDomain, tasks: list[Task], agents: list[str]
) -> tuple[list[Following], dict[str, str]]:
    found, others = [], {}
    for agent in agents:
        reason = await why_not(domain, agent, tasks[0])
        if reason:
            others[agent] = reason
        else:
            remark(f"playing with {agent} …")
            found.append(await following(domain, agent, tasks))
    return sorted(found, key=lambda f: -f.oracle), others


def _listed(others: dict[str, str]) -> str:
    return "; ".join(f"{agent} ({reason})" for agent, reason in others.items())


def _verdict(fit: Following, found: list[Following], others: dict[str, str], named: str) -> str:
    if fit.oracle < FOLLOWED:
        return (
            f"No agent gets far with the oracle's advice; {fit.agent} gets {fit.oracle:.3f}. Let the"
            " oracle tell the way in admissible actions, word for word, a line each, and see that"
            " max_steps allows for it."
        )
    if fit.oracle - fit.none < 1 - FOLLOWED:
        return (
            f"{fit.agent} needs no advice here ({fit.none:.3f} without): there is little that a"
            " memory could add."
        )
    if fit.agent == named:
        return f"{named}, which the domain names, follows advice here."
    now = {one.agent: f"does not ({one.oracle:.3f})" for one in found} | dict.fromkeys(
        others, "cannot act"
    )
    if named not in now:
        return f"{fit.agent} follows advice here; {named}, which the domain names, was not played."
    return (
        f'Name {fit.agent} in the domain (agent = "{fit.agent}"), or give --agent {fit.agent}: it'
        f" follows advice here; {named}, which the domain names, {now[named]}."
    )
