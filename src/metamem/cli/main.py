"""The program `metamem`. Errors become one clear line and an exit code, never a traceback."""

import os
import sys
from typing import Annotated

import typer

from metamem import __version__
from metamem.cli import (
    archive,
    catalogue,
    doctor,
    evaluate,
    handoff,
    models,
    promotions,
    reads,
    runs,
    sweeps,
)
from metamem.cli.learn import EXAMPLES as LEARN_EXAMPLES
from metamem.cli.learn import Stopped, learn
from metamem.cli.screen import err, refuse, remark
from metamem.core.errors import MetamemError

INTERRUPTED = 130  # as shells have it for a program that Ctrl-C ended
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
            refuse(message, "metamem --help, or --help after a command, tells what there is")
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
