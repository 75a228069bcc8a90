"""One JSON question over HTTP, sent once; every way it can go wrong becomes a `Fault`."""

import json
import ssl
from collections.abc import Mapping
from typing import Any

import httpx2 as httpx

from metamem.models.base import Fault
from metamem.models.keys import Key

MAX_REPLY = 8 << 20  # bytes; more is no answer to anything asked here
_QUOTED = 300  # characters of an error that people are shown
_FINAL = {400, 401, 403, 404, 405, 413, 422}  # asking again brings the same


class Wire:
    """Connections to one server.

    One client for each question under way: the pool inside a client looks through all of its
    connections for every request, which with hundreds of them costs more than the request.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        key: Key,
        seconds: float,
        max_reply: int = MAX_REPLY,
    ) -> None:
        self._url, self._headers, self._key = url, dict(headers), key
        self._idle: list[httpx.AsyncClient] = []
        self._secure: ssl.SSLContext | None = None  # dear to make, so it is shared
        self._seconds, self._max_reply = seconds, max_reply

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object that came back."""
        client = self._idle.pop() if self._idle else self._new()
        try:
            async with client.stream("POST", self._url + path, json=body) as response:
                content = await self._read(response)
        except httpx.ConnectError as error:
            raise Fault(f"{self._url} cannot be reached: {self._said(str(error))}") from error
        except httpx.TimeoutException as error:
            raise Fault(f"{self._url} did not answer in time", billed=None) from error
        except httpx.HTTPError as error:
            said = self._said(str(error)) or type(error).__name__
            raise Fault(f"the answer of {self._url} broke off: {said}", billed=None) from error
        finally:
            self._idle.append(client)
        if response.status_code != 200:
            raise self._refusal(response, content)
        return self._decoded(content)

    def _new(self) -> httpx.AsyncClient:
        if self._secure is None:
            self._secure = httpx.create_ssl_context(trust_env=False)
        return httpx.AsyncClient(
            headers=self._headers,
            timeout=httpx.Timeout(self._seconds, connect=min(20.0, self._seconds)),
            verify=self._secure,
            trust_env=False,
        )

    async def _read(self, response: httpx.Response) -> bytes:
        content = bytearray()
        async for piece in response.aiter_bytes():
            content += piece
            if len(content) > self._max_reply:
                size = self._max_reply >> 20
                raise Fault(f"{self._url} answered with over {size} MB", billed=None)
        return bytes(content)

    def _refusal(self, response: httpx.Response, content: bytes) -> Fault:
        status = response.status_code
        said = self._said(content.decode("utf-8", "replace"))
        return Fault(
            f"{self._url} answered {status}: {said}",
            retry=status not in _FINAL,
            after=_seconds(response.headers.get("retry-after", "")),
        )

    def _decoded(self, content: bytes) -> dict[str, Any]:
        try:
            found = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise Fault(f"{self._url} sent what is not JSON", billed=None) from error
        if not isinstance(found, dict):
            raise Fault(f"{self._url} sent JSON that is no object", billed=None)
        return found

    def _said(self, text: str) -> str:
        return self._key.hide_in(" ".join(text.split()))[:_QUOTED]

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().aclose()


def _seconds(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < 3600 else None


def count(value: Any) -> int:
    """A token count as servers send it: missing and null are none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
