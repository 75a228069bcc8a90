"""The program `metamem`. Next to nothing is loaded before Ctrl-C is answered: the rest takes its time."""

import sys

from metamem.cli import INTERRUPTED


def main(arguments: list[str] | None = None) -> None:
    """Run the program and end the process with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run the program; the exit code."""
    try:
        from metamem.cli.running import run as run_it

        return run_it(arguments)
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("stopped; what was finished is kept\n")
        return INTERRUPTED


if __name__ == "__main__":
    main()
