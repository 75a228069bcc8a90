"""Keys open what they should, for as long as they should, and nobody finds out more by trying."""

import contextlib
import hmac
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metamem.core.errors import BadKey, Denied, TooMany, UnknownName, UsageError
from metamem.service.access import keys
from metamem.service.access.limits import RateLimits
from metamem.service.database import now_ms
from metamem.service.service import MemoryService
from metamem.service.words import Ask, Draft, Listing
from metamem.service.writing.writer import BATCH
from tests.service.access.world import World, world

ALL = ("read", "write", "manage")


@pytest.fixture
def here(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        made.person("ada")
        made.scope("ada", "shop")
        yield made


SHOP = "acme/project/shop"


def new_key(here: World, **more: object) -> str:
    made = here.service.administration.make_key(here.caller("ada"), **more)  # type: ignore[arg-type]
    return made.secret


def test_no_secret_is_on_the_disk_or_in_a_text(here: World) -> None:
    made = here.service.administration.make_key(here.caller("ada"), label="laptop")
    secret = made.secret.split("_", 2)[2]
    here.service.with_key(made.secret).recall(Ask("x"))
    here.service.flush()
    raw = b"".join(f.read_bytes() for f in here.service.folder.iterdir() if f.is_file())
    assert secret.encode() not in raw
    assert secret not in repr(made) and secret not in str(made)


def test_all_keys_that_open_nothing_get_the_same_answer(here: World) -> None:
    good = new_key(here)
    key_id = good.split("_")[1]
    revoked, expired = new_key(here), new_key(here)
    with here.service.database.writing() as execute:
        over = (now_ms() - 1, expired.split("_")[1])
        execute("UPDATE api_keys SET expires_at = ? WHERE id = ?", over)
    here.service.administration.revoke_key(here.caller("ada"), revoked.split("_")[1])
    wrong = good[:-1] + ("a" if good[-1] != "a" else "b")
    other = f"mm_{'0' * 16}_{good.split('_', 2)[2]}"
    answers = set()
    for secret in (revoked, expired, wrong, other, "", "mm__", f"mm_{key_id}_", "x" * 10_000):
        with pytest.raises(BadKey) as error:
            here.service.doorkeeper.authenticate(secret)
        answers.add(str(error.value))
    assert len(answers) == 1 and key_id not in answers.pop()


def test_a_key_that_is_over_is_not_made(here: World) -> None:
    for end in (now_ms() - 1, 1577836800000, 0):
        with pytest.raises(UsageError, match="expired"):
            new_key(here, expires_at=end)


def test_the_same_work_is_done_for_unknown_and_wrong_keys(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Secrets are compared in constant time, also where there is no key of that id."""
    compared: list[tuple[int, int]] = []

    def counting(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return hmac.compare_digest(one, other)

    monkeypatch.setattr(keys, "hmac", type("Hmac", (), {"compare_digest": staticmethod(counting)}))
    good = new_key(here)
    for secret in (good, good[:-2] + "xx", f"mm_{'0' * 16}_{'x' * 43}", "nonsense"):
        compared.clear()
        with contextlib.suppress(BadKey):
            here.service.doorkeeper.authenticate(secret)
        assert compared == [(32, 32)]


@given(secret=st.text())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_text_is_a_bad_key(here: World, secret: str) -> None:
    with pytest.raises(BadKey):
        here.service.doorkeeper.authenticate(secret)


def test_the_rights_of_a_key_cut_those_of_its_holder(here: World) -> None:
    blog = here.scope("ada", "blog")
    read = here.service.doorkeeper.authenticate(new_key(here, rights=("read",)))
    assert len(read.reads) == 2 and not read.writes and not read.manages and not read.roles
    write = here.service.doorkeeper.authenticate(new_key(here, rights=("write",), scopes=[SHOP]))
    assert [str(s) for s in write.writes] == [SHOP] and not write.reads
    assert here.caller("ada").may_read(next(s for s in read.reads if str(s) == blog))


def test_whoever_may_only_write_learns_nothing(here: World) -> None:
    known = here.fact("ada", SHOP, "The shop closes at nine on Mondays.")
    secret = new_key(here, rights=("write",))
    blind = here.service.with_key(secret)
    first, again = blind.remember(
        SHOP, [Draft("Rain is wet in Norway."), Draft("The shop closes at nine on Mondays.")]
    )
    assert first.outcome == "stored" and again.outcome == "duplicate"
    assert not again.id and not again.candidates and not again.reason
    with pytest.raises(Denied):
        blind.remember(SHOP, [Draft("It closes at ten now.", supersedes=known)])
    (changed,) = blind.remember(
        SHOP, [Draft("The shop closes at ten on Mondays.", type="correction", source="user")]
    )
    assert known not in repr(changed) and "nine" not in repr(changed)
    for verb in (blind.get, blind.forget, blind.history, blind.why):
        with pytest.raises(UnknownName):
            verb(known)
    assert not blind.browse(Listing()).facts
    assert not blind.counts()["scopes"]


def test_no_key_makes_one_that_may_do_more(here: World) -> None:
    administration = here.service.administration
    for rights in (("read",), ("manage",)):
        caller = here.service.doorkeeper.authenticate(new_key(here, rights=rights))
        with pytest.raises(Denied):
            administration.make_key(caller, rights=ALL)
    only = here.service.doorkeeper.authenticate(new_key(here, rights=ALL, scopes=[SHOP]))
    with pytest.raises(Denied):
        administration.make_key(only, rights=("read",))
    with pytest.raises(Denied):
        administration.add_scope(only, "acme/project/new")
    here.person("bob")
    with pytest.raises(Denied):
        administration.make_key(here.caller("bob"), "ada")


def test_an_admins_key_that_may_not_manage_administers_nothing(here: World) -> None:
    here.person("root", "admin")
    secret = here.service.administration.make_key(here.caller("root"), rights=("read",)).secret
    reading = here.service.doorkeeper.authenticate(secret)
    assert not reading.manages and "admin" not in reading.roles
    with pytest.raises(Denied):
        here.service.administration.audit(reading)


def test_keys_of_others_are_unknown(here: World) -> None:
    here.person("bob")
    mine = here.keys["ada"].split("_")[1]
    with pytest.raises(UnknownName) as unknown:
        here.service.administration.revoke_key(here.caller("bob"), "ffff")
    for key_id in (mine, "0" * 16, mine[:-1], "; DROP TABLE api_keys; --"):
        with pytest.raises(UnknownName) as error:
            here.service.administration.revoke_key(here.caller("bob"), key_id)
        assert str(error.value) == str(unknown.value).replace("ffff", key_id)
        with pytest.raises(UnknownName):
            here.service.administration.rotate_key(here.caller("bob"), key_id)
    assert here.caller("ada").who == "ada"


def test_a_key_is_rotated_with_an_overlap(here: World) -> None:
    old = new_key(here, rights=("read",), label="laptop", most_facts=7)
    caller = here.service.doorkeeper.authenticate(old)
    new = here.service.administration.rotate_key(caller, caller.key, overlap_ms=60_000)
    assert here.service.doorkeeper.authenticate(new.secret).reads == caller.reads
    assert here.service.doorkeeper.authenticate(old).who == "ada"
    assert (new.key.label, new.key.most_facts, new.key.replaces) == ("laptop", 7, caller.key)
    last = here.service.administration.rotate_key(here.caller("ada"), new.key.id, overlap_ms=0)
    with pytest.raises(BadKey):
        here.service.doorkeeper.authenticate(new.secret)
    assert here.service.doorkeeper.authenticate(last.secret).who == "ada"
    with pytest.raises(UsageError):
        here.service.administration.rotate_key(here.caller("ada"), new.key.id)


def test_rotation_makes_no_key_live_longer(here: World) -> None:
    end = now_ms() + 3_600_000
    caller = here.service.doorkeeper.authenticate(new_key(here, expires_at=end))
    new = here.service.administration.rotate_key(caller, caller.key)
    assert new.key.expires_at == end


def test_revocation_holds_at_once_under_load(here: World) -> None:
    """Whoever calls after the revocation has returned is refused, whatever was cached."""
    secret = new_key(here)
    revoked, late, stop = threading.Event(), [], threading.Event()

    def ask() -> None:
        while not stop.is_set():
            before = revoked.is_set()
            try:
                here.service.doorkeeper.authenticate(secret)
            except BadKey:
                continue
            if before:
                late.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    here.service.administration.revoke_key(here.caller("ada"), secret.split("_")[1])
    revoked.set()
    threading.Event().wait(0.3)
    stop.set()
    for thread in threads:
        thread.join()
    assert not late


def test_revocation_in_another_process_holds_when_the_second_is_over(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = new_key(here)
    other = MemoryService(here.service.folder)
    try:
        assert other.doorkeeper.authenticate(secret).who == "ada"
        here.service.administration.revoke_key(here.caller("ada"), secret.split("_")[1])
        late = keys.time.monotonic() + keys.FRESH_SECONDS
        monkeypatch.setattr(keys.time, "monotonic", lambda: late)
        with pytest.raises(BadKey):
            other.doorkeeper.authenticate(secret)
    finally:
        monkeypatch.undo()
        other.close()


def test_a_right_that_is_taken_is_gone_with_the_next_call(here: World) -> None:
    here.person("bob")
    administration = here.service.administration
    administration.share(here.caller("ada"), SHOP, "shared")
    administration.grant(here.caller("ada"), SHOP, "bob", "reader")
    bob = here.service.with_key(here.keys["bob"])
    assert bob.browse(Listing(scopes=(SHOP,))).facts == ()
    administration.ungrant(here.caller("ada"), SHOP, "bob")
    with pytest.raises(Denied):
        bob.browse(Listing(scopes=(SHOP,)))


def test_the_use_of_a_key_is_noted_rarely(here: World) -> None:
    secret = new_key(here)
    for _ in range(5):
        here.service.doorkeeper.forget()
        here.service.doorkeeper.authenticate(secret)
    here.service.flush()
    key_id = secret.split("_")[1]
    mine = {k.id: k for k in here.service.administration.keys(here.caller("ada"))}
    noted = mine[key_id].last_used_at
    assert noted is not None and noted <= now_ms()


def test_tries_of_a_dead_key_are_audited_once_in_a_while(here: World) -> None:
    secret = new_key(here)
    key_id = secret.split("_")[1]
    here.service.administration.revoke_key(here.caller("ada"), key_id)
    for tried in (secret, secret, f"mm_{'0' * 16}_{'x' * 43}"):
        with pytest.raises(BadKey):
            here.service.doorkeeper.authenticate(tried)
    here.service.flush()
    found = here.service.administration.audit(here.admin, limit=1000)
    tries = [each.entry for each in found if each.entry.verb == "authenticate"]
    assert [(e.who, e.key, e.outcome) for e in tries] == [("ada", key_id, "denied")]


# --- limits ---------------------------------------------------------------------------------


def test_a_bucket_fills_steadily() -> None:
    now = [0.0]
    limits = RateLimits(clock=lambda: now[0])
    for _ in range(60):
        limits.take("k", 60)
    with pytest.raises(TooMany) as error:
        limits.take("k", 60)
    assert error.value.retry_after == pytest.approx(1.0)
    limits.take("other", 60)
    limits.take("", 60)
    now[0] += 1.0
    limits.take("k", 60)
    with pytest.raises(TooMany):
        limits.take("k", 60)
    now[0] += 3600
    for _ in range(60):
        limits.take("k", 60)
    with pytest.raises(TooMany):
        limits.take("k", 60)


def test_a_key_is_limited_whatever_it_does(here: World) -> None:
    mine = here.service.with_key(new_key(here, per_minute=3))
    mine.recall(Ask("x"))
    with pytest.raises(UnknownName):
        mine.get("f1")
    mine.counts()
    with pytest.raises(TooMany) as error:
        mine.browse(Listing())
    assert error.value.retry_after and error.value.exit_code == 9
    here.service.with_key(here.keys["ada"]).recall(Ask("x"))


def test_quotas_hold_in_the_transaction(here: World) -> None:
    mine = here.service.with_key(new_key(here, most_facts=2))
    mine.remember(SHOP, [Draft("Cats sleep in the sun."), Draft("Dogs bark at the moon.")])
    with pytest.raises(TooMany, match="2 facts") as error:
        mine.remember(SHOP, [Draft("Horses run over the hills.")])
    assert error.value.retry_after is None
    assert len(here.service.browse(here.caller("ada"), Listing()).facts) == 2
    here.service.administration.set_settings(here.caller("ada"), SHOP, {"most_facts": 3})
    ada = here.service.with_key(here.keys["ada"])
    ada.remember(SHOP, [Draft("Horses run over the hills.")])
    with pytest.raises(TooMany, match="scope"):
        ada.remember(SHOP, [Draft("Fish swim in the sea.")])
    # What is known already takes no room.
    assert ada.remember(SHOP, [Draft("Cats sleep in the sun.")])[0].outcome == "duplicate"


def test_whoever_is_stopped_in_the_middle_is_told_how_far_it_went(here: World) -> None:
    mine = here.service.with_key(new_key(here, most_facts=BATCH + 5))
    drafts = [Draft(f"Customer {n} ordered {n * 7} lamps") for n in range(BATCH + 10)]
    with pytest.raises(TooMany, match=f"of {BATCH + 10} drafts the first {BATCH} are entered"):
        mine.remember(SHOP, drafts)
    there = here.service.browse(here.caller("ada"), Listing(limit=1000)).facts
    assert [fact.text for fact in there] == [draft.text for draft in drafts[:BATCH]]
    with pytest.raises(TooMany) as error:  # of one batch nothing is entered
        mine.remember(SHOP, drafts[BATCH:])
    assert "entered" not in error.value.message


def test_two_writers_do_not_go_over_a_quota_together(here: World) -> None:
    secret = new_key(here, most_facts=10, per_minute=0)
    outcomes: list[str] = []

    def write(part: int) -> None:
        for i in range(10):
            try:
                text = f"Parcel {part * 100 + i} went to city number {i * 7 + part}."
                here.service.with_key(secret).remember(SHOP, [Draft(text)])
                outcomes.append("stored")
            except TooMany:
                outcomes.append("too many")

    threads = [threading.Thread(target=write, args=(part,)) for part in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("stored") == 10 and len(outcomes) == 30
