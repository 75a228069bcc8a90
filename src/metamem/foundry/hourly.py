"""`python -m metamem.foundry.hourly MEMORY`: one look of the overseer at all that is due, for a scheduler."""

import asyncio
import sys
from pathlib import Path

from metamem.core.errors import MetamemError
from metamem.foundry.overseer import Looked, overseeing


async def _look(memory: Path) -> int:
    async with overseeing(memory) as overseer:
        await overseer.once(tell=_tell)
    return int(overseer.failed > 0)


def _tell(done: Looked) -> None:
    if done.round is None:
        print(f"{done.scope}: {done.trouble}", file=sys.stderr)


def main() -> int:
    try:
        return asyncio.run(_look(Path(sys.argv[1])))
    except MetamemError as error:
        print(error.message, file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
