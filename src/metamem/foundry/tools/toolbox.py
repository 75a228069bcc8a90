"""Deployed tools as callers see them: whoever may write a scope may use its tools, and every use is audited."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metamem.core.access import Caller, Scope
from metamem.core.aside import aside
from metamem.core.errors import UnknownName
from metamem.foundry.tools import deployments, running, runs
from metamem.foundry.tools.deployments import Deployed
from metamem.foundry.tools.running import Ran
from metamem.foundry.tools.site import Site, site_of, tools_archive, tools_database
from metamem.service.access.acting import allow
from metamem.service.database import now_ms
from metamem.service.service import MemoryService
from metamem.service.sight import scope_number
from metamem.store import Archive


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool that a caller may use."""

    scope: Scope
    deployed: Deployed

    @property
    def name(self) -> str:
        """Among other tools: no name of theirs begins so."""
        return runs.PREFIX + self.deployed.name


class Toolbox:
    """Open for as long as it is used."""

    def __init__(self, service: MemoryService) -> None:
        self._service = service
        self._database = tools_database(service.folder)
        self._archive: Archive | None = None  # opened when a tool is used

    def offered(self, caller: Caller, scopes: Sequence[str]) -> list[Offered]:
        """The tools in use in those of the scopes that the caller may write; a name once."""
        found: dict[str, Offered] = {}
        for scope in map(Scope.parse, scopes):
            if not caller.may_write(scope):
                continue
            with self._database.reading() as execute:
                number = scope_number(execute, scope)
                in_use = deployments.deployed(execute, number) if number is not None else []
            for each in in_use:
                found.setdefault(each.name, Offered(scope, each))
        return list(found.values())

    def mark(self) -> tuple[int, int]:
        """Another one whenever what is in use anywhere has changed."""
        with self._database.reading() as execute:
            ((newest, ended),) = execute(
                "SELECT COALESCE(MAX(number), 0), COUNT(ended_at) FROM tool_deployments"
            )
        return int(newest), int(ended)

    def find(self, caller: Caller, scopes: Sequence[str], name: str) -> Offered:
        """One of them, by its name in any writing."""
        offered = self.offered(caller, scopes)
        for each in offered:
            if name in runs.names_of(each.deployed.name):
                return each
        for scope in map(Scope.parse, scopes):
            gone = self._gone(scope, name) if caller.may_write(scope) else None
            if gone is not None:
                raise UnknownName(
                    f"the tool {gone.name} is out of use: {gone.deployment.why}",
                    hint="do its steps by hand; metamem tools lists what there is",
                )
        known = ", ".join(each.deployed.name for each in offered)
        raise UnknownName(
            f"no tool called {name!r} is in use here",
            hint=f"there are: {known}"
            if known
            else "metamem promotions pending lists those that wait",
        )

    def _gone(self, scope: Scope, name: str) -> Deployed | None:
        """A tool of that name that was in use."""
        with self._database.reading() as execute:
            number = scope_number(execute, scope)
            ended = deployments.ended(execute, number) if number is not None else []
        return next((each for each in ended if name in runs.names_of(each.name)), None)

    async def run(
        self,
        caller: Caller,
        offered: Offered,
        folder: Path,
        values: Mapping[str, Any] | None = None,
        words: Sequence[str] = (),
    ) -> Ran:
        """Use a tool in the tree of a folder, which must be one of the tool's own project."""
        name, scope = offered.deployed.name, str(offered.scope)
        with self._service.acts.acting(caller, "run_tool", [scope], name):
            allow(caller, "write", [scope])
            site = await aside(self.site, offered.scope)
            return await running.run(site, name, folder, values, words, at=now_ms())

    def site(self, scope: Scope | str) -> Site:
        if self._archive is None:
            self._archive = tools_archive(self._service.folder)
        return site_of(self._service.folder, self._database, self._archive, scope)

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()
        self._database.close()
