"""A server's life: killed, stopped under load, started again. What was answered is never lost."""

import signal
import threading
import time
from pathlib import Path

import pytest

from metamem.core.errors import MetamemError, StoreError
from metamem.service.client import MemoryClient
from metamem.service.connecting import connect
from metamem.service.service import MemoryService
from metamem.service.words import Ask, Draft, Listing, Session, Turn
from metamem.store.sqlite import SqliteArchive
from tests.extras import needs
from tests.service.routing.watched import SABOTAGED, changed, lived
from tests.web.serving import SHOP, Served, prepare, serving, start

needs("fastapi")
pytestmark = pytest.mark.slow
WRITERS = 4


class Load:
    """Writers that note what was answered, until they cannot go on."""

    def __init__(self, served: Served, round_: int) -> None:
        self.answered: list[tuple[str, str]] = []
        self.refused: list[MetamemError] = []
        self._served, self._round = served, round_
        self._threads = [threading.Thread(target=self._write, args=(n,)) for n in range(WRITERS)]
        for thread in self._threads:
            thread.start()

    def _write(self, writer: int) -> None:
        number = 0
        with MemoryClient(self._served.url, self._served.key, seconds=20) as client:
            while True:
                number += 1
                text = f"Round {self._round}, writer {writer} wrote line {number}."
                try:
                    (written,) = client.remember(SHOP, [Draft(text)])
                    if number % 5 == 0:
                        client.recall(Ask(f"writer {writer} line", (SHOP,), limit=3))
                except MetamemError as error:
                    self.refused.append(error)
                    return
                self.answered.append((written.id, text))

    def wait_for(self, count: int) -> None:
        until = time.monotonic() + 60
        while len(self.answered) < count and time.monotonic() < until:
            time.sleep(0.01)
        assert len(self.answered) >= count

    def end(self) -> None:
        for thread in self._threads:
            thread.join(60)


def kept(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    with connect(folder) as service:
        after = ""
        while True:
            page = service.browse(Listing((SHOP,), lifecycle=(), after=after, limit=1000))
            found |= {fact.id: fact.text for fact in page.facts}
            after = page.next
            if not after:
                return found


def test_a_kill_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    key, answered = prepare(folder), []
    for round_ in range(4):
        served = start(folder, key=key)
        load = Load(served, round_)
        load.wait_for(20 + 17 * round_)
        served.stop(signal.SIGKILL)
        load.end()
        answered += load.answered
    found = kept(folder)
    assert len(answered) > 150
    for identifier, text in answered:
        assert found.get(identifier) == text
    texts = list(found.values())
    assert len(texts) == len(set(texts))  # retries doubled nothing


def test_a_stop_under_load_finishes_what_was_begun(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with serving(folder) as served:
        load = Load(served, 0)
        load.wait_for(60)
        assert served.stop() == 0
        load.end()
    assert all(isinstance(error, StoreError) for error in load.refused), load.refused
    found = kept(folder)
    for identifier, text in load.answered:
        assert found.get(identifier) == text
    with connect(folder) as service:  # the audit was flushed with all of them
        entries, after = [], 0
        while page := service.administration.audit(after, 1000):
            entries += page
            after = page[-1].seq
    granted = [e.entry for e in entries if e.entry.outcome == "granted" and e.entry.key]
    assert sum(entry.verb == "remember" for entry in granted) >= len(load.answered)
    assert any(entry.verb == "recall" for entry in granted)
    assert not (folder / "server.json").exists() and not (folder / "own.sock").exists()


def test_a_request_is_repeated_until_the_server_is_back(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with serving(folder) as served:
        port = served.url.rpartition(":")[2]
        with served.client() as client:
            client.counts()
            served.stop()
            with pytest.raises(StoreError, match="no memory service answers"):
                client.counts()
            again = start(folder, "--port", port, key=served.key)
            try:
                assert client.counts()["facts"] == 0
            finally:
                again.stop()


def test_a_full_disk_is_a_503_and_nothing_is_lost(tmp_path: Path) -> None:
    """A file that may not grow any more stands for a disk that is full."""
    folder = tmp_path / "memory"
    key = prepare(folder)
    served = start(folder, key=key, files_at_most=3 << 20)
    stored = []
    try:
        with served.client() as client, pytest.raises(StoreError, match=r"disk|full"):
            for n in range(2000):
                stored += client.remember(SHOP, [Draft(f"{n}: " + "word " * 1500)])
        refused = served.ask(
            "POST",
            "/v1/facts",
            json={"scope": SHOP, "drafts": [{"text": "new: " + "word " * 1500}]},
        )
        assert refused.status_code == 503 and refused.headers["retry-after"]
        with served.client() as client:
            assert client.get(stored[-1].id).lifecycle == "active"
    finally:
        served.stop(signal.SIGKILL)
    assert {each.id for each in stored if each.outcome == "stored"} <= set(kept(folder))


def test_facts_are_drawn_from_conversations_beside_all_else(tmp_path: Path) -> None:
    model = ("--enrich", "--model", "memory=scripted:tests.service.writing.scripts:moves")
    with serving(tmp_path, *model, "--max-tokens", "1000000") as served:
        client = served.client()
        client.ingest(SHOP, Session("s", (Turn("Ada", "I moved the lamps to hall 7"),)))
        until = time.monotonic() + 60
        while not client.browse(Listing((SHOP,), types=("observation",))).facts:
            assert time.monotonic() < until
            time.sleep(0.1)
        metrics = served.ask("GET", "/metrics").text
        assert 'metamem_enrichment_total{what="stored"} 1.0' in metrics
        assert "metamem_enrichment_stopped 0.0" in metrics
        assert served.ask("GET", "/readyz").json() == {"status": "ready", "warnings": []}


def test_a_server_takes_settings_of_routers_back_that_hurt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They applied themselves; half of the tasks were decided without them."""
    home = tmp_path / "home" / "archive.db"
    monkeypatch.setenv("METAMEM_HOME", str(home.parent))
    changed(home, SABOTAGED)
    key = prepare(tmp_path / "memory")
    service = MemoryService(tmp_path / "memory")
    try:
        lived(service, service.local_caller(), SHOP, 450)
    finally:
        service.close()
    served = start(tmp_path / "memory", key=key)
    try:
        until = time.monotonic() + 60
        while 'metamem_router_settings_total{what="undone"} 1.0' not in (
            served.ask("GET", "/metrics").text
        ):
            assert time.monotonic() < until
            time.sleep(0.1)
        assert served.ask("GET", "/readyz").json()["warnings"] == []
        standing = served.client().routing(SHOP)
        assert (standing.settings_from, standing.watch) == ("defaults", "")
    finally:
        served.stop()
    with SqliteArchive(home) as archive:
        entry = archive.promotions()[-1]
    assert (entry.decision, entry.decided_by) == ("undone", "auto:bounds")
    assert "it was better before by" in entry.reason


def test_a_server_that_may_spend_nothing_more_goes_on_and_says_so(tmp_path: Path) -> None:
    model = ("--enrich", "--model", "memory=scripted:tests.service.writing.scripts:moves")
    with serving(tmp_path, *model, "--max-tokens", "5") as served:
        client = served.client()
        client.ingest(SHOP, Session("s", (Turn("Ada", "I moved the lamps to hall 7"),)))
        until = time.monotonic() + 60
        while not served.ask("GET", "/readyz").json()["warnings"]:
            assert time.monotonic() < until
            time.sleep(0.1)
        assert "metamem_enrichment_stopped 1.0" in served.ask("GET", "/metrics").text
        (written,) = client.remember(SHOP, [Draft("Lamps are in hall 7.")])
        assert written.outcome == "stored"
