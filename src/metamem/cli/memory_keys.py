"""metamem keys and audit: who is let in by a server, and who did what."""

from typing import Annotated

import typer

from metamem.cli.memory_options import HERE, There, when
from metamem.cli.screen import print_json, print_table, remark, say, tell
from metamem.cli.spread import spread
from metamem.service.access.keys import NewKey
from metamem.service.defaults import full
from metamem.service.typed_time import moment

keys = typer.Typer(
    invoke_without_command=True, rich_markup_mode="rich", help="API keys for a server's clients."
)
KeyId = Annotated[str, typer.Argument(metavar="ID", help="A key's id.", show_default=False)]


@keys.callback()
@spread()
def keys_default(context: typer.Context, there: There = HERE) -> None:
    if context.invoked_subcommand is None:
        _list_keys(there)


@keys.command("list")
@spread()
def list_keys(there: There = HERE) -> None:
    """List your keys; all of them for an admin."""
    _list_keys(there)


def _list_keys(there: There) -> None:
    with there.open() as service:
        found = service.administration.keys()
    if there.json:
        print_json(found)
        return
    if not found:
        say("There is no key yet. Make one with: metamem keys make")
        return
    rows = [
        (
            key.id,
            key.who,
            ", ".join(key.rights),
            "revoked" if key.revoked_at else when(key.expires_at)[:10] or "never",
            when(key.last_used_at)[:10],
            " ".join(key.scopes) or "all",
            key.label,
        )
        for key in found
    ]
    print_table(("key", "of", "may", "ends", "last used", "scopes", "label"), rows)


@keys.command(
    "make",
    epilog="[bold]Examples[/bold]\n\nmetamem keys make --label laptop\n\n"
    "metamem keys make --for ci --right read --in project/webshop --expires 2027-01-01\n",
)
@spread()
def make_key(
    whose: Annotated[str, typer.Option("--for", metavar="NAME", help="Default: yourself")] = "",
    label: Annotated[str, typer.Option(metavar="WORDS", help="What it is for.")] = "",
    right: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RIGHT", help="read, write, manage; several times. Default: first two"
        ),
    ] = None,
    within: Annotated[
        list[str] | None,
        typer.Option(
            "--in", metavar="SCOPE", help="Only these scopes; may be given several times."
        ),
    ] = None,
    expires: Annotated[str, typer.Option(metavar="DATE", help="Default: never")] = "",
    per_minute: Annotated[
        int, typer.Option(min=0, metavar="N", help="Requests a minute; 0 for any number.")
    ] = 600,
    most_facts: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Facts in all. Default: any number")
    ] = None,
    there: There = HERE,
) -> None:
    """Make a key. Its secret is shown this once."""
    with there.open(begins=True) as service:
        me = service.administration.me()
        scopes = [str(full(scope, me)) for scope in within or []]
        made = service.administration.make_key(
            whose,
            label=label,
            rights=right or ("read", "write"),
            scopes=scopes,
            per_minute=per_minute,
            most_facts=most_facts,
            expires_at=moment(expires),
        )
    for scope in scopes:
        if scope not in (*me.reads, *me.writes, *me.manages):
            remark(f"{scope} is not there, or not for you to see: `metamem scopes` lists yours")
    _show_secret(made, there)


@keys.command("rotate")
@spread()
def rotate_key(
    key_id: KeyId,
    overlap_hours: Annotated[
        float, typer.Option(min=0, metavar="HOURS", help="How long the old one stays valid.")
    ] = 24.0,
    there: There = HERE,
) -> None:
    """Make a key in the place of another, which ends after the overlap."""
    with there.open() as service:
        made = service.administration.rotate_key(key_id, int(overlap_hours * 3_600_000))
    _show_secret(made, there)


@keys.command("revoke")
@spread()
def revoke_key(key_id: KeyId, there: There = HERE) -> None:
    """End a key now."""
    with there.open() as service:
        key = service.administration.revoke_key(key_id)
    if there.json:
        print_json(key)
    else:
        say(f"The key {key.id} opens nothing any more.")


@spread()
def audit(
    after: Annotated[int, typer.Option(metavar="N", help="Where the last page ended.")] = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="Entries.")] = 100,
    there: There = HERE,
) -> None:
    """List who did what, oldest first. Reads are entered half a second late."""
    with there.open() as service:
        found = service.administration.audit(after, limit)
    if there.json:
        print_json(found)
        return
    rows = [
        (
            str(each.seq),
            when(each.entry.at),
            each.entry.who,
            each.entry.key,
            each.entry.verb,
            each.entry.outcome,
            each.entry.target,
            each.entry.scope,
        )
        for each in found
    ]
    columns = ("entry", "at (UTC)", "who", "key", "verb", "outcome", "of", "scope")
    if rows:
        print_table(columns, rows)
    else:
        say("There are no entries.")


def _show_secret(made: NewKey, there: There) -> None:
    if there.json:
        print_json({"key": made.key, "secret": made.secret})
        return
    tell(made.secret)
    remark("Keep it: it is shown this once. Clients take it as METAMEM_KEY.")
