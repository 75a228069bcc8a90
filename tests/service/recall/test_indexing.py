"""Vectors are made once, by one embedder at a time, whatever stops the making of them."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metamem.core.errors import UsageError
from metamem.core.terms import terms
from metamem.models.embedders import open_embedder
from metamem.service.database import Database
from metamem.service.recall.recaller import OTHER_EMBEDDER, OTHER_TERMS
from metamem.service.recall.vectors import Vectors, packed, unpacked
from metamem.service.words import Ask
from tests.service.recall.engine import ADA, Memory, memory

REINDEX = """
import sys
from pathlib import Path
from tests.service.recall.engine import memory
with memory(Path(sys.argv[1]), sys.argv[2]) as there:
    print("begun", flush=True)
    there.recaller.reindex()
"""


def kept(database: Database) -> dict[str, tuple[str, bytes]]:
    """By the text: the embedder and the vector."""
    with database.reading() as execute:
        rows = execute(
            "SELECT text, fingerprint, vector FROM facts JOIN vectors ON fact = facts.number"
            " AND vectors.scope = facts.scope JOIN embedders ON embedder = embedders.number"
        )
    return {text: (fingerprint, vector) for text, fingerprint, vector in rows}


def postings(database: Database) -> list[tuple[Any, ...]]:
    with database.reading() as execute:
        return execute("SELECT term, fact, count FROM postings ORDER BY term, fact")


def filled(here: Memory, count: int) -> list[str]:
    texts = [f"Parcel {n} went to the harbour of town {n % 97} by ship." for n in range(count)]
    here.keep(*texts)
    return texts


def test_nothing_is_embedded_twice(tmp_path: Path) -> None:
    with memory(tmp_path) as here:
        texts = filled(here, 600)
        first = here.recaller.embed_waiting()
        assert (first.embedded, first.waiting) == (600, 0)
        assert here.recaller.embed_waiting().embedded == 0
        assert set(kept(here.database)) == set(texts)
        with here.database.reading() as execute:
            assert execute("SELECT acted FROM jobs WHERE name = 'embed' AND acted > 0") == [(600,)]


def test_a_lease_keeps_another_process_away_until_it_ends(tmp_path: Path) -> None:
    with memory(tmp_path) as here:
        filled(here, 10)
        with here.database.writing() as execute:
            execute(
                "INSERT INTO jobs VALUES ('embed', 1, 0, 'somebody', ?, 0, 0, 0)",
                (int(time.time() * 1000) + 60_000,),
            )
        assert here.recaller.embed_waiting().waiting == 10
        with here.database.writing() as execute:
            execute("UPDATE jobs SET held_until = 1")
        assert here.recaller.embed_waiting().waiting == 0


def test_another_embedder_compares_nothing_until_the_vectors_are_its_own(tmp_path: Path) -> None:
    with memory(tmp_path, "hashed") as here:
        texts = filled(here, 300)
        here.recaller.embed_waiting()
        assert not here.recaller.recall(ADA, Ask("parcel 7")).notes
    with memory(tmp_path, "wordllama") as here:
        found = here.recaller.recall(ADA, Ask("parcel 7", floor=0.0))
        assert found.notes == (OTHER_EMBEDDER,)
        assert texts[7] in [item.fact.text for item in found.items]
        assert here.recaller.embed_waiting().embedded == 0
        assert here.recaller.reindex().embedded == 300
        assert not here.recaller.recall(ADA, Ask("parcel 7")).notes
        own = open_embedder("wordllama")
        assert {name for name, _ in kept(here.database).values()} == {own.fingerprint}


def test_an_embedder_behind_an_api_is_refused(tmp_path: Path) -> None:
    with memory(tmp_path, "openai:text-embedding-3-small") as here, pytest.raises(UsageError):
        here.keep("The shop runs on PostgreSQL 16.")
        here.recaller.embed_waiting()


def test_terms_of_other_rules_are_told_and_made_anew(tmp_path: Path) -> None:
    with memory(tmp_path) as here:
        filled(here, 50)
        right = postings(here.database)
        with here.database.writing() as execute:
            execute("UPDATE service_settings SET value = '1' WHERE name = 'terms'")
            execute("UPDATE postings SET term = term || 'ing' WHERE count = 1")
        here.recaller.forget_caches()
        assert OTHER_TERMS in here.recaller.recall(ADA, Ask("parcel 7")).notes
        here.recaller.reindex("terms")
        assert postings(here.database) == right
        assert OTHER_TERMS not in here.recaller.recall(ADA, Ask("parcel 7")).notes


@pytest.mark.slow
def test_a_reindex_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    chance = random.Random(5)
    with memory(tmp_path, "hashed") as here:
        texts = filled(here, 3000)
        here.recaller.embed_waiting()
        with here.database.writing() as execute:
            execute("UPDATE service_settings SET value = '1' WHERE name = 'terms'")
            execute("UPDATE postings SET term = term || 'ing' WHERE count = 1")
        finished = 0
        for _ in range(12):
            child = subprocess.Popen(
                [sys.executable, "-c", REINDEX, str(tmp_path), "wordllama"], stdout=subprocess.PIPE
            )
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(chance.random() * 0.6)
            child.send_signal(signal.SIGKILL)
            finished += child.wait() == 0
            child.stdout.close()
            found = here.recaller.recall(ADA, Ask("parcel 7 to the harbour", floor=0.0))
            assert found.items  # terms are found all the while
            with here.database.writing() as execute:  # a dead process holds its lease no longer
                execute("UPDATE jobs SET held_until = 0")
    with memory(tmp_path, "wordllama") as here:
        here.recaller.reindex()
        embedder = open_embedder("wordllama")
        right = dict(zip(texts, packed(np.asarray(embedder.embed(texts))), strict=True))  # type: ignore[union-attr]
        found_now = kept(here.database)
        assert {text: vector for text, (_, vector) in found_now.items()} == right
        counted = {text: terms(text) for text in texts}
        with here.database.reading() as execute:
            rows = execute("SELECT text, term, count FROM postings JOIN facts ON fact = number")
        assert len(rows) == sum(len(each) for each in counted.values())
        assert all(counted[text][term] == count for text, term, count in rows)
        assert finished < 12


def test_vectors_are_kept_nearly_as_they_are() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((50, 256)).astype(np.float32)
    rows /= np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    rows[3] = 0
    scales, levels = unpacked(packed(rows), 256)
    again = levels.astype(np.float32) * scales[:, None]
    assert np.abs(again @ rows.T - rows @ rows.T).max() < 0.01
    assert not again[3].any()


def test_a_large_scope_is_searched_in_two_steps_and_finds_the_nearest() -> None:
    rng = np.random.default_rng(0)
    count, dimensions = 20_000, 256
    rows = rng.standard_normal((count, dimensions)).astype(np.float32)
    rows /= np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    there = Vectors("wordllama-test", dimensions)
    for start in range(0, count, 5000):  # it grows over the size at which steps begin
        there.grow(start + 5000)
        places = np.arange(start, start + 5000, dtype=np.int32)
        there.fill(places, *unpacked(packed(rows[start : start + 5000]), dimensions))
    asked = rows[17] + 0.05 * rng.standard_normal(dimensions).astype(np.float32)
    asked /= np.float32(np.sqrt(np.square(asked).sum()))
    near = there.near(asked, count)
    exact = rows @ asked
    assert int(near.argmax()) == 17
    assert near[17] == pytest.approx(float(exact[17]), abs=0.01)
    there.forget(np.array([17], np.int32))
    assert there.near(asked, count)[17] <= 0
    assert list(there.missing()) == [17]
