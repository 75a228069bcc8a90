"""The program with its commands. Errors become one clear line and an exit code, never a traceback."""

import errno
import os
import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from metamem import __version__
from metamem.cli import INTERRUPTED
from metamem.cli.asking import Declined
from metamem.cli.commands import COMMANDS, Command, needed
from metamem.cli.screen import err, refuse, remark
from metamem.cli.stopped import Stopped
from metamem.cli.streams import abandon_output, prepare
from metamem.core.errors import MetamemError

FULL = (errno.ENOSPC, errno.EDQUOT)
BUG = 70  # as sysexits.h has it for an error inside the program

START = """[bold]Start here[/bold]

metamem doctor [dim]# is everything here?[/dim]

metamem learn toy --designs 6 [dim]# a first run[/dim]

metamem remember "…" [dim]# something to keep; metamem recall "…" finds it again[/dim]

metamem COMMAND --help [dim]# what a command does, with examples[/dim]
"""


def _version(asked: bool) -> None:
    if asked:
        print(f"metamem {__version__}")
        raise typer.Exit


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


def program(commands: Iterable[Command] = COMMANDS) -> typer.Typer:
    """The program with these commands."""
    app = typer.Typer(
        name="metamem",
        rich_markup_mode="rich",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
        epilog=START,
    )
    app.callback()(root)
    for command in commands:
        command.add(app)
    return app


def run(arguments: list[str]) -> int:
    """Run the program; the exit code."""
    prepare()
    try:
        code = program(needed(arguments))(arguments, prog_name="metamem", standalone_mode=False)
        sys.stdout.flush()
    except typer.Abort:
        if sys.stderr.isatty():
            sys.stderr.write("\n")  # the question is still in the line
        code = INTERRUPTED
    except Declined:
        remark("not done: the answer was no")
        return 1
    except MetamemError as error:
        refuse(error.message, error.hint)
        return error.exit_code
    except Stopped as stopped:
        remark(f"stopped; go on {stopped.how}" if stopped.how else "stopped")
        return INTERRUPTED
    except BrokenPipeError:
        abandon_output()  # whoever read it has seen enough
        return 1
    except Exception as error:
        return _unexpected(error)
    if code == INTERRUPTED:  # typer has turned Ctrl-C into a code
        remark("stopped; what was finished is kept")
    return code if isinstance(code, int) else 0


def _unexpected(error: Exception) -> int:
    if isinstance(error, OSError) and error.errno in FULL:
        abandon_output()
        refuse(
            f"the disk is full: {error.filename or 'the output'} could not be written whole",
            "free some space and say it again; what was finished is kept",
        )
        return 1
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
