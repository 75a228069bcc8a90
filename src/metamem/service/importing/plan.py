"""What an import would read, before it does: sessions by project, with their dates."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from metamem.core.errors import MetamemError
from metamem.service.importing.claude import SUB_AGENT
from metamem.service.importing.keeping import Keeper, Kept
from metamem.service.importing.places import Places, excluded
from metamem.service.importing.sources import Peek, Source, peek, sources


@dataclass(frozen=True, slots=True)
class ProjectPlan:
    """The sessions of one project."""

    folder: str  # empty where it is not known
    sessions: int  # without files of sub-agents, which are read for their calls alone
    bytes: int
    first: int
    last: int
    excluded: bool
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    host: str
    projects: tuple[ProjectPlan, ...]
    unreadable: int

    def chosen(self) -> list[Source]:
        """What is read when the user agrees."""
        return [source for project in self._read() for source in project.sources]

    @property
    def sessions(self) -> int:
        """How many that are."""
        return sum(project.sessions for project in self._read())

    def _read(self) -> list[ProjectPlan]:
        return [p for p in self.projects if p.folder and not p.excluded]


@dataclass(frozen=True, slots=True)
class Imported:
    sessions: int = 0
    stored: int = 0
    known: int = 0
    erased: int = 0  # lines that stay so
    refused: int = 0
    rewound: int = 0
    damaged: int = 0
    calls: int = 0  # of tools
    facts: int = 0  # made by rule, beside the lines
    scopes: tuple[str, ...] = ()  # of which something was read
    failed: tuple[str, ...] = ()  # files, and why


def planned(
    host: str,
    places: Places,
    *,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    again: Sequence[str] = (),
    since: int = 0,
    environment: Mapping[str, str] = os.environ,
) -> Plan:
    """What there is of a host. `only`, `without` and `again` (what is left out no longer) are folders or
    patterns of them."""
    patterns = [each for each in (*places.exclusions(), *without) if each not in again]
    folders = places.folders()
    found: dict[str, list[Peek]] = {}
    unreadable = 0
    for source in sources(host, environment):
        try:
            seen = peek(source, folders)
        except (MetamemError, OSError):
            unreadable += 1
            continue
        if seen.last >= since:
            found.setdefault(seen.folder, []).append(seen)
    projects = []
    for folder, peeks in sorted(found.items()):
        left_out = excluded(folder, patterns) or (bool(only) and not excluded(folder, only))
        projects.append(
            ProjectPlan(
                folder,
                sum(not each.source.path.name.startswith(SUB_AGENT) for each in peeks),
                sum(each.bytes for each in peeks),
                min(each.first or each.last for each in peeks),
                max(each.last for each in peeks),
                left_out,
                tuple(each.source for each in peeks),
            )
        )
    return Plan(host, tuple(projects), unreadable)


def carried_out(
    chosen: Sequence[Source], keeper: Keeper, progress: Callable[[int, int], None]
) -> Imported:
    """Read all that was chosen. A source that cannot be read does not stop the others."""
    done = Imported()
    for number, (source, kept) in enumerate(_kept(chosen, keeper), start=1):
        if isinstance(kept, str):
            done = replace(done, failed=(*done.failed, f"{source.path}: {kept}"))
        else:
            done = replace(
                done,
                sessions=done.sessions + (not source.path.name.startswith(SUB_AGENT)),
                stored=done.stored + kept.stored,
                known=done.known + kept.known,
                erased=done.erased + kept.erased,
                refused=done.refused + kept.refused,
                rewound=done.rewound + kept.rewound,
                damaged=done.damaged + kept.damaged,
                calls=done.calls + kept.calls,
                facts=done.facts + kept.facts,
                scopes=tuple(sorted({*done.scopes, *([kept.scope] if kept.scope else [])})),
            )
        progress(number, len(chosen))
    return done


def _kept(chosen: Sequence[Source], keeper: Keeper) -> Iterator[tuple[Source, Kept | str]]:
    for source in chosen:
        try:
            yield source, keeper.keep(source)
        except MetamemError as error:
            yield source, error.message
        except OSError as error:
            yield source, error.strerror or str(error)
