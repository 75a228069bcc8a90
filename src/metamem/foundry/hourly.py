"""`python -m metamem.foundry.hourly MEMORY`: one look of the overseer at all that is due, for a scheduler."""

import asyncio
import sys
from pathlib import Path

from metamem.core.errors import MetamemError
from metamem.foundry.overseer import overseeing


async def _look(memory: Path) -> int:
    async with overseeing(memory) as overseer:
        done = await overseer.once()
    return int(any(each.round is None and each.seconds for each in done))


def main() -> int:
    try:
        return asyncio.run(_look(Path(sys.argv[1])))
    except MetamemError as error:
        print(error.message, file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
