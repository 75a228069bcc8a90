"""From what the ledger decided to what is in use: the repository, the table of deployments, the skills.

The ledger is the truth. `settle` looks at what it says, and makes the rest agree with it: what was approved is
deployed, what was undone is withdrawn, and what was in use before it is in use again. Whatever interrupts it,
doing it again ends in the same, and nothing is done twice: a commit that is there is not made again, and the
table says that a tool is in use only once its files are in place.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from metamem.core.errors import UnknownName, UsageError
from metamem.core.ids import content_id, short
from metamem.foundry.acts import note
from metamem.foundry.tools import deployments, skills, store
from metamem.foundry.tools.deployments import Deployed, Deployment
from metamem.foundry.tools.repository import Change, files_of
from metamem.foundry.tools.site import Site, subject_of
from metamem.foundry.tools.store import Kept, State
from metamem.promotion.ledger import AUTOMATON
from metamem.store.records import PromotionRecord

WATCH = f"{AUTOMATON}watch"  # takes tools out of use that turned bad
CHANGED = "its program is not the one that was approved"


@dataclass(frozen=True, slots=True)
class Settled:
    """What was brought into line with the ledger."""

    what: Literal["deployed", "withdrawn", "disabled"]
    name: str
    tool: str
    commit: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Slot:
    """One tool: what the ledger says of it, and what is there."""

    slot: str
    name: str
    history: Sequence[PromotionRecord]
    wanted: Kept | None
    by: str  # who put it into use
    open: Deployment | None
    skilled: bool  # there may be files of it for agents to read

    def ended(self, tool: str) -> PromotionRecord | None:
        """The decision that took a version out of use, if there was one."""
        undone = [e for e in self.history if e.decision == "undone" and e.subject.id == tool]
        return undone[-1] if undone else None


def settle(site: Site, *, at: int, folders: Sequence[Path] = ()) -> list[Settled]:
    """Bring what is in use into line with the ledger. `folders` are further ones of the project that
    get a skill."""
    names = _names(site)
    if not names:
        return []
    there = set(site.repository.names()) if site.repository.folder.exists() else set()
    looked = [_look(site, slot, name) for slot, name in names.items()]
    due = [each.slot for each in looked if _differs(each, there)]
    _note_states(site, looked)
    if not due and not site.repository.unfinished():
        return []
    done: list[Settled] = []
    with site.repository.alone():
        for slot in due:  # looked at again: another process may have done it meanwhile
            done += _settled(site, _look(site, slot, names[slot]), at, folders)
    _note_states(site, [_look(site, slot, names[slot]) for slot in due])
    return done


def disable(
    site: Site, slot: str, tool: str, *, why: str, evidence: dict[str, float] | None = None, at: int
) -> list[Settled]:
    """Take a tool out of use because it turned bad. `why` and `evidence` hold figures alone: they stay
    in the ledger for good."""
    about = subject_of(slot, tool)
    with suppress(UsageError):  # somebody was first: what they decided is carried out all the same
        site.ledger.undo(about, site.place, by=WATCH, reason=why, evidence=evidence or {})
    return settle(site, at=at)


def verify(site: Site, *, at: int) -> list[Settled]:
    """Disable every tool whose program is not the one that was approved."""
    with site.database.reading() as execute:
        in_use = deployments.deployed(execute, site.number)
    done: list[Settled] = []
    for each in in_use:
        if approved_program(site, each) is None:
            done += disable(site, each.kept.slot, each.kept.id, why=CHANGED, at=at)
    return done


def recommitted(site: Site) -> None:
    """What is in use, in a repository that begins anew."""
    with site.database.reading() as execute:
        in_use = deployments.deployed(execute, site.number)
    if not in_use:
        return
    with site.repository.alone():
        for each in in_use:
            files = files_of(each.kept, skills.skill_text(each.kept))
            message = f"Keep {each.name} in use\n\ntool: {each.kept.id}\n"
            commit = site.repository.commit(Change(each.name, files, message))
            with site.database.writing(durable=True) as execute:
                deployments.move(execute, each.deployment.number, commit)


def approved_program(site: Site, deployed: Deployed) -> str | None:
    """The program of a tool as it lies in the repository; None where somebody changed it."""
    found = site.repository.program(deployed.name)
    tool = deployed.kept.tool
    return found if found is not None and content_id(tool.name, found) == tool.id else None


def _settled(site: Site, here: _Slot, at: int, folders: Sequence[Path]) -> list[Settled]:
    done: list[Settled] = []
    wanted = here.wanted
    if here.open is not None and (wanted is None or wanted.id != here.open.tool):
        done.append(_withdrawn(site, here, here.open, at))
    if wanted is None:
        skills.remove(site.database, site.number, here.slot)
        if site.repository.committed(here.name) is not None:
            site.repository.commit(Change(here.name, None, _farewell(here)))
    elif here.open is None or wanted.id != here.open.tool:
        files = files_of(wanted, skills.skill_text(wanted))
        commit = site.repository.commit(Change(here.name, files, _greeting(here, wanted)))
        if site.skills:
            with site.database.reading() as execute:
                homes = skills.folders_for(execute, site.number, site.scope, folders)
            skills.write(site.database, site.number, wanted, homes)
        with site.database.writing(durable=True) as execute:
            deployments.begin(execute, site.number, here.slot, wanted.id, commit, here.by, at)
            note(execute, site.number, "deployed", wanted.id, f"{here.name}: {commit}", at)
        done.append(Settled("deployed", here.name, wanted.id, commit))
    return done


def _withdrawn(site: Site, here: _Slot, open_now: Deployment, at: int) -> Settled:
    """First the table says that it is out of use: whoever asks from now on is refused."""
    ended = here.ended(open_now.tool)
    disabled = ended is not None and ended.decided_by == WATCH
    what: Literal["disabled", "withdrawn"] = "disabled" if disabled else "withdrawn"
    instead = f"{short(here.wanted.id)} in its place" if here.wanted is not None else "erased"
    why = ended.reason if ended is not None else instead
    with site.database.writing(durable=True) as execute:
        deployments.end(execute, site.number, here.slot, why, at)
        note(execute, site.number, what, open_now.tool, f"{here.name}: {why}", at)
    return Settled(what, here.name, open_now.tool, why=why)


def _names(site: Site) -> dict[str, str]:
    with site.database.reading() as execute:
        return dict(
            execute(
                "SELECT slot, name FROM tool_slots WHERE scope = ? ORDER BY slot", (site.number,)
            )
        )


def _look(site: Site, slot: str, name: str) -> _Slot:
    history = site.ledger.history(subject_of(slot), site.place)
    in_use = site.ledger.standing(subject_of(slot), site.place).in_use
    with site.database.reading() as execute:
        wanted = None
        if in_use is not None:
            try:
                wanted = store.tool_of(execute, site.number, in_use.subject.id)
            except UnknownName:
                wanted = None  # it was erased
        rows = deployments.deployments(execute, site.number, slot)
        skilled = bool(skills.written(execute, site.number, slot))
    opened = next((each for each in rows if each.ended_at is None), None)
    return _Slot(slot, name, history, wanted, in_use.decided_by if in_use else "", opened, skilled)


def _differs(here: _Slot, there: set[str]) -> bool:
    in_use = here.open.tool if here.open is not None else None
    wanted = here.wanted.id if here.wanted is not None else None
    return in_use != wanted or (wanted is None and (here.skilled or here.name in there))


def _note_states(site: Site, looked: Sequence[_Slot]) -> None:
    """How each version stands, as the ledger has it."""
    found: dict[str, State] = {}
    for here in looked:
        for entry in here.history:
            state = _state(entry)
            found[entry.subject.id] = state
    with site.database.reading() as execute:
        rows = execute("SELECT id, state FROM tools WHERE scope = ?", (site.number,))
    changed = {tool: found[tool] for tool, state in rows if found.get(tool, state) != state}
    if changed:
        with site.database.writing() as execute:
            for tool, state in changed.items():
                store.set_state(execute, site.number, tool, state)


def _state(entry: PromotionRecord) -> State:
    if entry.decision == "promoted":
        return "waits"
    if entry.decision == "undone":
        return "disabled" if entry.decided_by == WATCH else "undone"
    return entry.decision


def _greeting(here: _Slot, wanted: Kept) -> str:
    """What the commit of a deployment says: ids and figures, as the ledger has them."""
    before = here.open is not None and here.ended(here.open.tool) is not None
    evidence = next(
        (
            e.evidence
            for e in reversed(here.history)
            if e.subject.id == wanted.id and e.decision == "promoted"
        ),
        {},
    )
    told = ", ".join(
        f"{name} {value}" for name, value in sorted(evidence.items()) if name != "workflow"
    )
    return (
        f"{'Restore' if before else 'Deploy'} {here.name}\n\n"
        f"tool: {wanted.id}\nworkflow: {wanted.kept_as}\nevidence: {told}\napproved by: {here.by}\n"
    )


def _farewell(here: _Slot) -> str:
    undone = [entry for entry in here.history if entry.decision == "undone"]
    last = undone[-1] if undone else None
    why = f"tool: {last.subject.id}\nby: {last.decided_by}\nwhy: {last.reason}\n" if last else ""
    return f"Withdraw {here.name}\n\n{why}"
