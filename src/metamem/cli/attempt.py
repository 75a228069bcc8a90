"""One part of metamem tried out: the program of a process that `metamem doctor` starts for each.

Little is imported before it is needed, since there are some twenty such processes.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from metamem.cli.findings import Finding, fault
from metamem.core import extras, registry
from metamem.core.errors import JailUnavailable, MetamemError, NotInstalled, UsageError
from metamem.core.protocols import Trial as Scoring
from metamem.core.system import die_with

DEFAULT_EMBEDDER = "auto"
_NEEDED = ("jail", "embedder")  # nothing is learned without; there is one of each
_EMBEDDERS = ("use", "minilm")  # extras that are embedders: to import them would show little


@dataclass(frozen=True, slots=True)
class Trial:
    """What is to be tried: a kind of part, and which one of that kind."""

    kind: str
    name: str

    @property
    def what(self) -> str:
        return self.kind if self.kind in _NEEDED else f"{self.kind} {self.name}"

    @property
    def advice(self) -> str:
        """What to do where it does not even say what is wrong with it."""
        if self.name in extras.EXTRAS:
            return extras.broken(self.name, "").hint
        return "install metamem, or the package that brings this, anew"

    def result(self) -> Finding:
        """Carry it out, in this process."""
        try:
            return Finding(self.what, "ok", _TRIALS[self.kind](self.name))
        except NotInstalled as error:
            return Finding(self.what, "note", error.message, f"optional: {error.hint}")
        except (JailUnavailable, UsageError) as error:
            # A world may lack the jail, or settings that only a person can give: not its fault.
            return fault(self.what, "missing" if self.kind in _NEEDED else "note", error)
        except MetamemError as error:
            return fault(self.what, "broken", error)
        except Exception as error:  # the part is anybody's code
            return Finding(self.what, "broken", extras.reason(error), self.advice)


def _domain(name: str) -> str:
    if name in extras.EXTRAS:
        extras.load(name)
    settings = getattr(registry.factory("domains", name), "trial", {})
    domain = registry.create("domains", name, **settings)
    try:
        task = domain.tasks("train")[0]
        if domain.kind == "code":
            world = domain.world(task, 0)
            world.reset()
            world.close()
        else:
            values = domain.space.defaults()
            asyncio.run(domain.score(values, task, Scoring(seed=0)))
    except UsageError as error:  # the settings were the domain's own
        raise MetamemError(error.message, hint=error.hint) from error
    sentence, stop, _ = domain.describe().partition(". ")
    return f"{sentence}." if stop else sentence


def _agent(name: str) -> str:
    registry.create("agents", name)
    return (registry.factory("agents", name).__doc__ or "").strip().split("\n")[0]


def _jail(isolation: str) -> str:
    from metamem.core.types import Query
    from metamem.designs.jailed import Jail
    from metamem.designs.library import NO_MEMORY, load
    from metamem.models.embedders import open_embedder
    from metamem.sandbox.isolation import describe

    async def start() -> None:
        async with Jail(isolation=isolation) as jail:
            memory = await jail.open(load(NO_MEMORY), seed=0, embedder=open_embedder("hashed"))
            await memory.retrieve(Query("anything"))
            await memory.close()

    asyncio.run(start())
    return describe()


def _embedder(name: str) -> str:
    from metamem.models import describe
    from metamem.models.embedders import served, try_out, usable

    if served(name) is None:  # one behind an API is not asked: that may cost money
        asyncio.run(try_out(name, "a text"))
    if name != DEFAULT_EMBEDDER:
        return usable(name)
    if "fallback" in describe():
        raise NotInstalled(describe(), hint="install wordllama with its weights for a better one")
    return describe()


def _extra(name: str) -> str:
    if name in _EMBEDDERS:
        extras.require(name)
        return _embedder(name)
    extras.load(name)
    return "installed, and loads"


_TRIALS: Mapping[str, Callable[[str], str]] = {
    "domain": _domain,
    "agent": _agent,
    "jail": _jail,
    "embedder": _embedder,
    "extra": _extra,
}


def main() -> None:
    kind, name, parent = sys.argv[1:]
    if not die_with(int(parent)):
        return
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a package prints is no finding
    replies.write(json.dumps(asdict(Trial(kind, name).result())))
    replies.close()


if __name__ == "__main__":
    main()
