"""`python -m metamem.service.routing.hourly MEMORY`: one look at settings that are watched, for a
scheduler."""

import sys
from pathlib import Path

from metamem.core.errors import MetamemError
from metamem.service.routing.watching import watch_once


def main() -> int:
    try:
        trouble = watch_once(Path(sys.argv[1])).trouble
    except MetamemError as error:
        print(error.message, file=sys.stderr)
        return error.exit_code
    if trouble:
        print(trouble, file=sys.stderr)
    return int(bool(trouble))


if __name__ == "__main__":
    sys.exit(main())
