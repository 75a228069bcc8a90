"""metamem reads: who looked at what the search must not see."""

from metamem.cli import options as o
from metamem.cli.parts import existing_archive
from metamem.cli.screen import print_json, print_table, say
from metamem.core.ids import short


def reads(home: o.Home = None, json: o.Json = False) -> None:
    """List every look at test and shift: each one spends a little of their worth."""
    with existing_archive(home) as archive:
        found = archive.reads()
        names = {d.id: d.name for d in archive.designs()}
    if json:
        print_json(found)
        return
    if not found:
        say("Nobody has looked at test or shift yet.")
        return
    rows = [
        (
            r.at[:16].replace("T", " "),
            r.split,
            short(r.design_id),
            names.get(r.design_id, ""),
            r.run_id or "",
            r.purpose,
        )
        for r in found
    ]
    print_table(("at (UTC)", "split", "design", "name", "run", "purpose"), rows)
