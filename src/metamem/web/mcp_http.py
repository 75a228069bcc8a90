"""MCP over streamable HTTP, at /mcp of the server, with the same API keys.

Every request stands for itself and carries its key; no session can be taken over.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Request
from mcp.server.transport_security import TransportSecuritySettings

from metamem.core.errors import MetamemError
from metamem.foundry.tools.toolbox import Toolbox
from metamem.service.access.rights import LOCAL, os_user
from metamem.service.connecting import LocalMemories
from metamem.service.defaults import Defaults
from metamem.service.problems import problem
from metamem.web import mcp
from metamem.web.asgi import Receive, Scope, Send
from metamem.web.desk import BODY_BYTES, OWNER, Desk, bearer_of, refused
from metamem.web.mcp_tools import Asker, Face

_CREDENTIAL = "metamem.credential"


class McpOverHttp:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._toolbox = Toolbox(desk.service)
        self._server = mcp.server(self._where, self._count, Face(self._toolbox, self._asker))
        self._app = self._server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            max_request_body_size=BODY_BYTES,
            # The name in Host is checked before anything comes here.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        try:
            async with self._server.session_manager.run():
                yield
        finally:
            self._toolbox.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        bearer, owner = bearer_of(request), bool(scope.get(OWNER))
        try:
            await self._desk.in_thread(lambda: self._desk.caller(bearer, owner))
        except MetamemError as error:
            await refused(problem(error))(scope, receive, send)
            return
        await self._app({**scope, _CREDENTIAL: (bearer, owner)}, receive, send)

    def _where(self, context: Any) -> Defaults:
        """Whose memory: of whoever sent the request, with the rights that they have by now."""
        bearer, owner = context.request_context.request.scope[_CREDENTIAL]
        memories = LocalMemories(self._desk.service, lambda: self._desk.caller(bearer, owner))
        return Defaults(memories, None)

    def _asker(self, context: Any) -> Asker | None:
        """A server runs tools only for whoever it runs as: others could have it change files of theirs
        that they have no right to. The folder is the caller's to say."""
        bearer, owner = context.request.scope[_CREDENTIAL]
        caller = self._desk.caller(bearer, owner)
        if caller.tenant != LOCAL or caller.who != os_user():
            return None
        return Asker(caller, tuple(sorted(map(str, caller.writes))), None)

    def _count(self, verb: str, outcome: str, seconds: float) -> None:
        self._desk.metrics.count("mcp", verb, outcome, seconds)
