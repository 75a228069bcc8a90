"""Keeping what a recorder hands on: halves of calls become whole ones, without secrets, in memory."""

import time
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from metamem.core.errors import MetamemError
from metamem.service.connecting import connect
from metamem.service.contract import Memories
from metamem.service.defaults import Defaults
from metamem.service.importing.cleaning import learn, tool_call, without
from metamem.service.importing.transcript import Call, Transcript
from metamem.service.recording.recorder import HOST
from metamem.service.words import Session
from metamem.service.writing.known import KnownSecrets

PATIENCE = 10.0  # seconds that what cannot be kept is tried again
RETRY_SECONDS = 0.3
_FIELDS = frozenset(each.name for each in fields(Call))


class Keeper:
    """Keeps batches. What is a secret in one is a secret in those after it."""

    def __init__(self, where: Mapping[str, Any]) -> None:
        self._where = where
        self._memories: Memories | None = None
        self._scope = ""
        self._secrets = KnownSecrets()

    def keep(self, halves: list[Mapping[str, Any]]) -> None:
        whole: dict[str, Call] = {}
        for given in halves:
            half = Call(**{name: value for name, value in given.items() if name in _FIELDS})
            whole[half.id] = whole[half.id].joined(half) if half.id in whole else half
        session = str(self._where["session"])
        found = Transcript(HOST, session, calls=tuple(whole.values()))
        learn(self._secrets, found)
        calls = [tool_call(call) for call in without(self._secrets, found).calls]
        title = next((str(given["server"]) for given in halves if given.get("server")), "")
        memories, until = self._opened, time.monotonic() + PATIENCE
        while True:
            try:
                memories().keep_calls(self._scope, Session(session, (), HOST, title), calls)
                return
            except MetamemError:
                if time.monotonic() > until:
                    raise
                time.sleep(RETRY_SECONDS)

    def _opened(self) -> Memories:
        if self._memories is None:
            where = str(self._where.get("where", "")) or None
            service = connect(where, str(self._where.get("key", "")) or None)
            folder = Path(str(self._where.get("folder", ".")))
            self._scope = Defaults(service, folder).written(str(self._where.get("scope", "")))
            self._memories = service
        return self._memories
