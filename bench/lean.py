"""A model client for many hundred questions at once to a server on this machine.

The usual client's connection pool looks through all its connections for every question, so a
question costs the more the more are under way. Here a free connection is the last one returned.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from metamem.models.base import Fault
from metamem.models.keys import Key, address, find_key
from metamem.models.openai_format import OpenAIFormat
from metamem.models.spec import ModelOptions, ModelSpec

FINAL = (400, 401, 403, 404, 405, 413, 422)  # asking again brings the same
Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class LeanWire:
    """Plain HTTP/1.1 with connections that are kept."""

    def __init__(self, url: str, key: Key) -> None:
        parts = urlsplit(url)
        self._host, self._port, self._base = parts.hostname, parts.port or 80, parts.path
        self._key = key
        self._free: list[Line] = []

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object that came back."""
        content = json.dumps(body).encode()
        secret = self._key.reveal()
        allowed = f"Authorization: Bearer {secret}\r\n" if secret else ""
        head = (
            f"POST {self._base}{path} HTTP/1.1\r\nHost: {self._host}\r\n{allowed}"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        try:
            line = self._free.pop() if self._free else await self._connect()
        except OSError as error:
            raise Fault(f"{self._host}:{self._port} cannot be reached: {error}") from error
        whole = False
        try:
            line[1].write(head.encode() + content)
            status, answer = await _read(line[0])
            whole = True
        except (OSError, EOFError, ValueError) as error:
            raise Fault(f"the answer broke off: {error}", billed=None) from error
        finally:
            if whole:
                self._free.append(line)
            else:
                line[1].close()
        if status != 200:
            said = self._key.hide_in(answer.decode("utf-8", "replace"))[:300]
            raise Fault(f"the server answered {status}: {said}", retry=status not in FINAL)
        try:
            found = json.loads(answer)
        except ValueError as error:
            raise Fault("the server sent what is not JSON", billed=None) from error
        if not isinstance(found, dict):
            raise Fault("the server sent JSON that is no object", billed=None)
        return found

    async def close(self) -> None:
        for _, writer in self._free:
            writer.close()
        self._free = []

    async def _connect(self) -> Line:
        return await asyncio.open_connection(self._host, self._port, limit=1 << 20)


async def _read(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Status and body of one answer."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    fields = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    status = int(first.split(" ", 2)[1])
    if fields.get("transfer-encoding", "").lower() != "chunked":
        return status, await reader.readexactly(int(fields.get("content-length", "")))
    body = b""
    while size := int((await reader.readline()).partition(b";")[0], 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")
    return status, body


class LeanModel(OpenAIFormat):
    """A model behind OpenAI's format, asked over lean wires."""

    def __init__(self, spec: ModelSpec, options: ModelOptions) -> None:
        key = find_key(spec, options.key, "")
        super().__init__(spec, options, key)
        self._wire = LeanWire(address(spec), key)  # type: ignore[assignment]
