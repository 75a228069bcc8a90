"""A server for the tests of the recorder, made with the official package."""

import asyncio
import os
import sys

from mcp.server import MCPServer

server = MCPServer("shop")


@server.tool()
def price(item: str, token: str = "") -> str:
    if item == "ghost":
        raise ValueError("there is no such item")
    return f"{item} costs 3 {os.environ.get('SHOP_SAYS', '')}"


@server.tool()
async def slow(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "done"


@server.tool()
def large(size: int) -> str:
    return "x" * size


@server.tool()
def die() -> str:
    os._exit(3)


if __name__ == "__main__":
    print("this line is no message", file=sys.stderr)
    server.run()
