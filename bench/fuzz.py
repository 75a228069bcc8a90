"""Requests made up from the OpenAPI document, right and wrong ones, at a real server: none may bring
it to an error of its own, and every answer must be as the document says.

    python -m bench.fuzz [--requests 13000] [--seed 0]

Some operations have few wrong forms, so that about a quarter fewer are sent than are asked for.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx2 as httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from requests.exceptions import RequestException
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from metamem.service import wire
from metamem.service.client import MemoryClient
from metamem.service.connecting import connect
from metamem.service.words import Ask, Draft

SCOPE = "local/project/fuzz"
REAL = 0.4  # the share of requests about something that is there
KNOWN = 0.98  # the share of requests with a good key
LONG = 10_000  # characters of an address that a server need not read
TOO_LONG = 414
CHECKS = [content_type_conformance, response_schema_conformance, status_code_conformance]


@dataclass
class Report:
    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    reached: set[str] = field(default_factory=set)  # operations that once succeeded
    wrong: list[str] = field(default_factory=list)


@contextmanager
def server(folder: Path) -> Iterator[tuple[str, str]]:
    """A server of its own, and a key that may do all."""
    with connect(folder) as memories:
        memories.administration.add_scope(SCOPE)
        rights = ("read", "write", "manage")
        key = memories.administration.make_key(rights=rights, per_minute=0).secret
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "metamem.cli.main", "serve", "--json", "--quiet"),
            *("--port", "0", "--memory", str(folder)),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "METAMEM_URL": ""},
    )
    assert process.stdout is not None
    said = ""
    while not said.endswith("}\n"):
        said += process.stdout.readline()
    try:
        yield wire.parse(said)["url"], key
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def fuzz(url: str, key: str, requests: int, start: int = 0) -> Report:
    """About so many requests, half of them as the document has them and half not."""
    described = httpx.get(f"{url}/openapi.json", trust_env=False).json()
    del described["security"]  # keys are given here: most made-up requests would end at the door
    schema = schemathesis.openapi.from_dict(described)
    operations = [result.ok() for result in schema.get_all_operations()]
    report, luck = Report(), Random(start)
    each = max(1, requests // len(operations) // 2)
    with MemoryClient(url, key) as client:
        real = _Real(client, key, luck)
        for operation in operations:
            real.refresh()
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                _play(operation, mode, each, url, real, report, start)
    return report


class _Real:
    """Ids and names of what is there, put into requests now and then."""

    def __init__(self, client: MemoryClient, key: str, luck: Random) -> None:
        self._client, self._key, self._luck = client, key, luck
        self._values: dict[str, Any] = {}

    def refresh(self) -> None:
        self._client.administration.add_scope(SCOPE)
        text = f"The fuzzer was here, at {self._luck.random()}."
        (written,) = self._client.remember(SCOPE, [Draft(text)])
        found = self._client.recall(Ask("the fuzzer was here", (SCOPE,)))
        tenant, kind, name = SCOPE.split("/")
        made = self._client.administration.make_key(label="to be ended")
        person = f"person-{self._luck.random()}"
        self._client.administration.add_person(
            person, "team" if self._luck.random() < 0.3 else "person"
        )
        self._client.administration.share(SCOPE, "shared")
        self._client.administration.grant(SCOPE, person, "reader")
        self._values = {
            "key": made.key.id,
            "person": person,
            "members": [],
            "lines": list(self._client.export([SCOPE]))[:50],
            "fact": written.id,
            "recall": found.id,
            "scope": SCOPE,
            "tenant": tenant,
            "kind": kind,
            "name": name,
        }

    def key(self) -> str:
        return self._key if self._luck.random() < KNOWN else self._key[::-1]

    def put_into(self, case: Any) -> None:
        if self._luck.random() > REAL:
            return
        for place in (case.path_parameters, case.body):
            if isinstance(place, dict):
                place.update({k: v for k, v in self._values.items() if k in place})
        if isinstance(case.query, dict) and "scopes" in case.query:
            case.query["scopes"] = [SCOPE]


def _play(
    operation: Any,
    mode: GenerationMode,
    examples: int,
    url: str,
    real: _Real,
    report: Report,
    start: int,
) -> None:
    label = operation.label

    @seed(start)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def one(case: Any) -> None:
        real.put_into(case)
        report.requests += 1
        try:
            response = case.call(base_url=url, headers={"Authorization": f"Bearer {real.key()}"})
        except RequestException as error:
            # A request line of any length is not read to its end: the connection is reset.
            if len(str(case.query)) > LONG:
                report.statuses[TOO_LONG] += 1
            else:
                report.wrong.append(f"{label}: {type(error).__name__}")
            return
        report.statuses[response.status_code] += 1
        if response.status_code < 300:
            report.reached.add(label)
        if response.status_code >= 500:
            report.wrong.append(f"{label}: {response.status_code} {response.text[:300]}")
            return
        try:
            case.validate_response(response, checks=CHECKS)
        except BaseExceptionGroup as group:
            report.wrong += [f"{label}: {str(error)[:300]}" for error in group.exceptions]
        except AssertionError as error:
            report.wrong.append(f"{label}: {str(error)[:300]}")

    try:
        one()
    except Exception as error:  # what cannot be made up has no wrong form
        if type(error).__name__ not in ("Unsatisfiable", "SkipTest"):
            raise


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--requests", type=int, default=13_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as (url, key):
        report = fuzz(url, key, chosen.requests, chosen.seed)
    print(f"{report.requests} requests; operations that once succeeded: {len(report.reached)}")
    for status, count in sorted(report.statuses.items()):
        print(f"  {status}: {count}")
    print(f"errors of the server, or answers that the document does not have: {len(report.wrong)}")
    for line, count in Counter(report.wrong).most_common(20):
        print(f"  {count} × {line}")
    sys.exit(1 if report.wrong else 0)


if __name__ == "__main__":
    main()
