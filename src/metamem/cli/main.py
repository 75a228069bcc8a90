"""The program `metamem`. Errors become one clear line and an exit code, never a traceback."""

import os
import sys
from typing import Annotated

import typer

from metamem import __version__
from metamem.cli import (
    archive,
    attach,
    catalogue,
    doctor,
    evaluate,
    foundry,
    handoff,
    hooks,
    import_sessions,
    importing,
    knowledge,
    memory,
    memory_enrich,
    memory_facts,
    memory_keys,
    memory_people,
    memory_transfer,
    models,
    promotions,
    reads,
    record,
    route,
    runs,
    serve,
    served,
    sweeps,
    tools,
)
from metamem.cli.learn import EXAMPLES as LEARN_EXAMPLES
from metamem.cli.learn import Stopped, learn
from metamem.cli.screen import err, refuse, remark
from metamem.core.errors import MetamemError

INTERRUPTED = 130  # as shells have it for a program that Ctrl-C ended
MEMORY = "Memory service"  # the part of the help where its commands stand
FOUNDRY = "Foundry"  # likewise
BUG = 70  # as sysexits.h has it for an error inside the program

app = typer.Typer(
    name="metamem",
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="""[bold]Start here[/bold]

metamem doctor [dim]# is everything here?[/dim]

metamem learn toy --designs 6 [dim]# a first run[/dim]

metamem remember "…" [dim]# something to keep; metamem recall "…" finds it again[/dim]

metamem COMMAND --help [dim]# what a command does, with examples[/dim]
""",
)


def _version(asked: bool) -> None:
    if asked:
        print(f"metamem {__version__}")
        raise typer.Exit


@app.callback()
def root(
    debug: Annotated[
        bool,
        typer.Option(envvar="METAMEM_DEBUG", help="Show tracebacks of unexpected errors."),
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Which version.")
    ] = False,
) -> None:
    """Agent memory that learns its own design."""
    os.environ["METAMEM_DEBUG"] = "1" if debug else ""


app.command(epilog=LEARN_EXAMPLES)(learn)
app.command(epilog=evaluate.EVALUATE_EXAMPLES)(evaluate.evaluate)
app.command(epilog=evaluate.COMPARE_EXAMPLES)(evaluate.compare)
app.command(epilog=sweeps.CURVE_EXAMPLES)(sweeps.curve)
app.command(epilog=sweeps.TRANSFER_EXAMPLES)(sweeps.transfer)
app.add_typer(handoff.app, name="handoff")
app.add_typer(archive.app, name="archive")
app.add_typer(runs.app, name="runs")
app.command(epilog=runs.REPORT_EXAMPLES)(runs.report)
app.add_typer(promotions.app, name="promotions")
app.command()(reads.reads)
app.add_typer(catalogue.domains, name="domains")
app.add_typer(catalogue.designs, name="designs")
app.command()(catalogue.agents)
app.add_typer(models.app, name="models")
app.command()(doctor.doctor)
app.command(epilog=memory.REMEMBER_EXAMPLES, rich_help_panel=MEMORY)(memory.remember)
app.command(epilog=memory.RECALL_EXAMPLES, rich_help_panel=MEMORY)(memory.recall)
app.command(rich_help_panel=MEMORY)(memory.briefing)
app.command(epilog=memory.FEEDBACK_EXAMPLES, rich_help_panel=MEMORY)(memory.feedback)
app.command(rich_help_panel=MEMORY)(memory.why)
app.command("list", epilog=memory_facts.LIST_EXAMPLES, rich_help_panel=MEMORY)(
    memory_facts.list_facts
)
app.command(epilog=memory_facts.EDIT_EXAMPLES, rich_help_panel=MEMORY)(memory_facts.edit)
app.command(rich_help_panel=MEMORY)(memory_facts.forget)
app.command(rich_help_panel=MEMORY)(memory_facts.restore)
app.command(rich_help_panel=MEMORY)(memory_facts.history)
app.command(epilog=memory_facts.ERASE_EXAMPLES, rich_help_panel=MEMORY)(memory_facts.erase)
app.command(epilog=memory_transfer.EXPORT_EXAMPLES, rich_help_panel=MEMORY)(memory_transfer.export)
importing.register(app, MEMORY)
attach.register(app, MEMORY)
hooks.register(app, FOUNDRY)
import_sessions.register(app, FOUNDRY)
record.register(app, FOUNDRY)
app.command(epilog=served.ADVISE_EXAMPLES, rich_help_panel=MEMORY)(served.advise)
app.command(epilog=served.EXPERIENCE_EXAMPLES, rich_help_panel=MEMORY)(served.experience)
app.add_typer(served.app, name="served", rich_help_panel=MEMORY)
app.command(
    epilog=tools.TOOL_EXAMPLES,
    rich_help_panel=MEMORY,
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
)(tools.tool)
app.add_typer(tools.app, name="tools", rich_help_panel=MEMORY)
app.add_typer(foundry.app, name="foundry", rich_help_panel=MEMORY)
app.add_typer(knowledge.app, name="knowledge", rich_help_panel=MEMORY)
app.add_typer(route.app, name="route", rich_help_panel=MEMORY)
app.command(rich_help_panel=MEMORY)(memory_transfer.reindex)
app.command(epilog=memory_enrich.EXAMPLES, rich_help_panel=MEMORY)(memory_enrich.enrich)
app.add_typer(memory_people.scopes, name="scopes", rich_help_panel=MEMORY)
app.add_typer(memory_people.people, name="people", rich_help_panel=MEMORY)
app.add_typer(memory_keys.keys, name="keys", rich_help_panel=MEMORY)
app.command(rich_help_panel=MEMORY)(memory_keys.audit)
app.command(epilog=serve.EXAMPLES, rich_help_panel=MEMORY)(serve.serve)
app.command(epilog=memory_transfer.MCP_EXAMPLES, rich_help_panel=MEMORY)(memory_transfer.mcp)


def main(arguments: list[str] | None = None) -> None:
    """Run the program and end the process with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run the program; the exit code."""
    try:
        code = app(arguments, prog_name="metamem", standalone_mode=False)
        sys.stdout.flush()
    except typer.Abort:
        code = INTERRUPTED
    except MetamemError as error:
        refuse(error.message, error.hint)
        return error.exit_code
    except Stopped as stopped:
        again = (
            f"; go on with: metamem learn --run {stopped.run}{stopped.there}" if stopped.run else ""
        )
        remark(f"stopped{again}")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough. The interpreter must not flush into the void.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except Exception as error:
        return _unexpected(error)
    if code == INTERRUPTED:  # typer has turned Ctrl-C into a code
        remark("stopped; what was finished is kept")
    return code if isinstance(code, int) else 0


def _unexpected(error: Exception) -> int:
    # Which library typer takes its parser from has changed between versions; what a usage error
    # can do has not.
    format_message = getattr(error, "format_message", None)
    if format_message is not None:
        message = " ".join(format_message().split())
        if message:
            command = getattr(getattr(error, "ctx", None), "command_path", "metamem")
            refuse(message, f"{command} --help tells what there is")
        return int(getattr(error, "exit_code", 2))
    if os.environ.get("METAMEM_DEBUG"):
        err().print_exception()
    refuse(
        f"this is a bug in metamem: {type(error).__name__}: {error}",
        "set METAMEM_DEBUG=1 to see where it happened, and please report it",
    )
    return BUG


if __name__ == "__main__":
    main()
