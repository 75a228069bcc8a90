"""What isolates here is reported as it is, and without any of it nothing runs."""

import asyncio
from pathlib import Path

import pytest

from metamem.core.errors import JailUnavailable, UsageError
from metamem.designs.limits import Limits
from metamem.sandbox import bubblewrap, gvisor, landlock, seccomp
from metamem.sandbox.host import Program, Sandbox
from metamem.sandbox.isolation import choose, describe, mechanisms


@pytest.fixture(autouse=True)
def nothing_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("METAMEM_JAIL", raising=False)


def test_the_report_names_every_mechanism_and_the_choice() -> None:
    names = [report.name for report in mechanisms()]
    assert names == ["bubblewrap", "seccomp", "landlock", "gVisor"]
    assert all(report.note for report in mechanisms())
    assert describe().startswith(choose("auto"))


@pytest.fixture
def no_bubblewrap(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # as on a machine where it is not installed
    bubblewrap.works.cache_clear()
    monkeypatch.setattr(bubblewrap, "works", bubblewrap.works.__wrapped__)


def test_without_bubblewrap_the_process_jails_itself(no_bubblewrap: None) -> None:
    assert choose("auto") == "self"
    with pytest.raises(JailUnavailable, match="install"):
        choose("bwrap")


def test_the_environment_says_what_auto_means(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METAMEM_JAIL", "self")
    assert choose("auto") == "self"
    assert describe().startswith("self: seccomp")
    monkeypatch.setenv("METAMEM_JAIL", "hope")
    with pytest.raises(UsageError, match="METAMEM_JAIL"):
        choose("auto")


def test_gvisor_is_never_chosen_unasked_and_refused_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert choose("auto") != "runsc"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(gvisor, "works", gvisor.works.__wrapped__)
    with pytest.raises(JailUnavailable, match="not installed"):
        choose("runsc")
    broken = tmp_path / "runsc"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(JailUnavailable, match="cannot start"):
        choose("runsc")


def test_without_bubblewrap_and_landlock_it_refuses(
    no_bubblewrap: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    with pytest.raises(JailUnavailable, match="bubblewrap"):
        choose("auto")
    assert "cannot be run safely" in describe()


def test_without_seccomp_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "available", lambda: False)
    with pytest.raises(JailUnavailable, match="seccomp"):
        choose("auto")


def test_an_unknown_isolation_is_refused() -> None:
    with pytest.raises(UsageError, match="known: auto, bwrap, self, runsc"):
        choose("hope")


def test_limits_are_json_and_must_be_positive() -> None:
    assert Limits.from_json(Limits(wall=5).to_json()) == Limits(wall=5)
    with pytest.raises(UsageError, match="memory_mb"):
        Limits(memory_mb=0)
    with pytest.raises(UsageError, match="wall"):
        Limits(wall="long")  # type: ignore[arg-type]


async def test_a_server_that_cannot_start_says_why() -> None:
    from metamem.core.errors import EngineFault

    sandbox = Sandbox(Program("no_such_module:serve", (), ("json",)))
    with pytest.raises(EngineFault, match="no_such_module"):
        await asyncio.wait_for(sandbox.start(), 30)
    await sandbox.close()
