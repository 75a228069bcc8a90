"""metamem scopes and people: what memories belong to, and who may use them."""

from typing import Annotated, Any, cast

import typer

from metamem.cli.memory_options import HERE, There, when
from metamem.cli.screen import print_json, print_table, say
from metamem.cli.spread import spread
from metamem.service.access.people import Principal, PrincipalKind, TenantRole
from metamem.service.access.scopes import Membership, ScopeEntry
from metamem.service.defaults import whole
from metamem.service.words import ScopeRole, Visibility

scopes = typer.Typer(
    invoke_without_command=True, rich_markup_mode="rich", help="What memories belong to."
)
people = typer.Typer(
    invoke_without_command=True, rich_markup_mode="rich", help="Persons, agents and teams."
)
ScopeArgument = Annotated[
    str, typer.Argument(metavar="SCOPE", help="TENANT/KIND/NAME or KIND/NAME.", show_default=False)
]
Who = Annotated[str, typer.Argument(metavar="NAME", help="Of somebody.", show_default=False)]


@scopes.callback()
@spread()
def scopes_default(context: typer.Context, there: There = HERE) -> None:
    if context.invoked_subcommand is None:
        _list_scopes(there)


@scopes.command("list")
@spread()
def list_scopes(there: There = HERE) -> None:
    """List the scopes that you may use, with how much is kept in each."""
    _list_scopes(there)


def _list_scopes(there: There) -> None:
    with there.open() as service:
        found, counts = service.administration.scopes(), service.counts()
    if there.json:
        print_json({"scopes": [_plain(each.entry, each.rights) for each in found], **counts})
        return
    if not found:
        say("There is no scope yet: remembering something makes one.")
        return
    rows = [
        (
            str(each.entry.scope),
            each.entry.visibility,
            each.entry.owner,
            ", ".join(each.rights),
            str(counts["scopes"].get(str(each.entry.scope), {}).get("facts", "")),
        )
        for each in found
    ]
    print_table(("scope", "visibility", "owner", "you may", "facts"), rows, numeric=("facts",))


@scopes.command("add")
@spread()
def add_scope(
    scope: ScopeArgument,
    visibility: Annotated[
        str, typer.Option(metavar="HOW", help="private, shared or public.")
    ] = "private",
    there: There = HERE,
) -> None:
    """Make a scope that belongs to you."""
    with there.open(begins=True) as service:
        made = service.administration.add_scope(whole(scope, service), cast(Visibility, visibility))
    _show_scope(made, there)


@scopes.command("share")
@spread()
def share(
    scope: ScopeArgument,
    visibility: Annotated[
        str,
        typer.Argument(metavar="HOW", help="private, shared or public.", show_default=False),
    ],
    there: There = HERE,
) -> None:
    """Make a scope private, shared or public."""
    with there.open() as service:
        made = service.administration.share(whole(scope, service), cast(Visibility, visibility))
    _show_scope(made, there)


@scopes.command("members")
@spread()
def members(scope: ScopeArgument, there: There = HERE) -> None:
    """List who belongs to a scope."""
    with there.open() as service:
        _show_members(service.administration.members(whole(scope, service)), there)


@scopes.command(
    "grant", epilog="[bold]Example[/bold]\n\nmetamem scopes grant project/webshop ada writer\n"
)
@spread()
def grant(
    scope: ScopeArgument,
    name: Who,
    role: Annotated[
        str, typer.Argument(metavar="ROLE", help="reader, writer or manager.", show_default=False)
    ],
    there: There = HERE,
) -> None:
    """Let somebody use a scope."""
    with there.open() as service:
        place = whole(scope, service)
        _show_members(service.administration.grant(place, name, cast(ScopeRole, role)), there)


@scopes.command("ungrant")
@spread()
def ungrant(scope: ScopeArgument, name: Who, there: There = HERE) -> None:
    """Take somebody out of a scope."""
    with there.open() as service:
        _show_members(service.administration.ungrant(whole(scope, service), name), there)


@people.callback()
@spread()
def people_default(context: typer.Context, there: There = HERE) -> None:
    if context.invoked_subcommand is None:
        _list_people(there)


@people.command("list")
@spread()
def list_people(there: There = HERE) -> None:
    """List everybody of the tenant."""
    _list_people(there)


def _list_people(there: There) -> None:
    with there.open() as service:
        _show_people(service.administration.people(), there)


@people.command("add")
@spread()
def add_person(
    name: Who,
    kind: Annotated[str, typer.Option(metavar="KIND", help="person, agent or team.")] = "person",
    role: Annotated[str, typer.Option(metavar="ROLE", help="member, admin, auditor.")] = "member",
    there: There = HERE,
) -> None:
    """Add a person, an agent or a team."""
    with there.open(begins=True) as service:
        made = service.administration.add_person(
            name, cast(PrincipalKind, kind), cast(TenantRole, role)
        )
    _show_people([made], there)


@people.command("role")
@spread()
def set_role(
    name: Who,
    role: Annotated[
        str, typer.Argument(metavar="ROLE", help="member, admin, auditor.", show_default=False)
    ],
    there: There = HERE,
) -> None:
    """Say what somebody is in the tenant as a whole."""
    with there.open() as service:
        _show_people([service.administration.set_role(name, cast(TenantRole, role))], there)


@people.command("disable")
@spread()
def disable(name: Who, there: There = HERE) -> None:
    """From now on they can do nothing, with none of their keys."""
    with there.open() as service:
        _show_people([service.administration.disable(name)], there)


@people.command("enable")
@spread()
def enable(name: Who, there: There = HERE) -> None:
    """Let somebody in again who was disabled."""
    with there.open() as service:
        _show_people([service.administration.enable(name)], there)


@people.command("team")
@spread()
def set_team(
    name: Who,
    members: Annotated[
        list[str], typer.Argument(metavar="MEMBER...", help="Who belongs to it from now on.")
    ],
    there: There = HERE,
) -> None:
    """Say who belongs to a team from now on."""
    with there.open() as service:
        _show_people([service.administration.set_team(name, members)], there)


def _plain(entry: ScopeEntry, rights: tuple[str, ...]) -> dict[str, Any]:
    return {
        "scope": str(entry.scope),
        "visibility": entry.visibility,
        "owner": entry.owner,
        "made_at": entry.made_at,
        "settings": dict(entry.settings),
        "rights": list(rights),
    }


def _show_scope(entry: ScopeEntry, there: There) -> None:
    if there.json:
        print_json(_plain(entry, ()))
    else:
        say(f"{entry.scope} is {entry.visibility}" + (f", of {entry.owner}" if entry.owner else ""))


def _show_members(found: list[Membership], there: There) -> None:
    if there.json:
        print_json(found)
    elif found:
        rows = [(each.name, each.kind, each.role, each.granted_by, when(each.at)) for each in found]
        print_table(("name", "kind", "role", "granted by", "at (UTC)"), rows)
    else:
        say("It has no members besides its owner.")


def _show_people(found: list[Principal], there: There) -> None:
    if there.json:
        print_json(found)
        return
    rows = [
        (
            each.name,
            each.kind,
            each.role,
            "disabled" if each.disabled_at else "",
            ", ".join(each.members),
        )
        for each in found
    ]
    if rows:
        print_table(("name", "kind", "role", "state", "members"), rows)
    else:
        say("Nobody is entered yet.")
