"""A process that serves until it is killed: it says what it was told has been kept."""

import asyncio
import sys
from pathlib import Path

from tests.service.designs.parts import MEMBER, NAME, A, Home, lived, serving


async def main(folder: Path) -> None:
    home = Home(folder)
    async with serving(home, named={NAME: A}) as served:
        n = 0
        while True:
            await asyncio.gather(
                *(served.experience(MEMBER, NAME, lived(f"g{n + k}")) for k in range(4))
            )
            n += 4
            print(n, flush=True)


asyncio.run(main(Path(sys.argv[1])))
