"""The commands of memory, with a folder and with a server."""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta

import pytest

from metamem.service.access.projects import project_of
from metamem.service.access.rights import os_user
from tests.cli.conftest import program
from tests.extras import needs


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of its own to be in, and a memory of its own."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("METAMEM_MEMORY", str(tmp_path / "memory"))
    for name in ("METAMEM_URL", "METAMEM_KEY"):
        monkeypatch.delenv(name, raising=False)
    return work


@pytest.fixture
def fact(metamem, here):
    said = metamem(
        "remember", "We deploy from the release branch only.", "--type", "decision", "--json"
    )
    return said.json["written"][0]["id"]


def test_what_is_remembered_is_recalled(metamem, here):
    said = metamem("remember", "We deploy from the release branch only.", "Ports are odd.")
    scope = str(project_of(here).scope)
    assert said.code == 0 and f"2 of 2 stored in {scope}" in said.out
    found = metamem("recall", "how do we deploy?")
    assert "We deploy from the release branch only." in found.out and "metamem why r" in found.out
    as_agents_read = metamem("recall", "how do we deploy?", "--text")
    assert as_agents_read.out.startswith("<metamem-memory")
    parsed = metamem("recall", "how do we deploy?", "--json").json
    assert parsed["items"][0]["fact"]["scope"] == scope


def test_what_was_replaced_and_what_may_contradict_is_told(metamem, here):
    def keep(text, *more):
        return metamem("remember", text, *more, "--json").json["written"][0]["id"]

    old = keep("The tests need PostgreSQL 16 on port 5433.")
    new = "We no longer use PostgreSQL 16; the tests need PostgreSQL 17 on port 5433 now."
    said = metamem("remember", new, "--type", "correction")
    assert f"takes the place of {old}: The tests need PostgreSQL 16 on port 5433." in said.out
    tea = keep("Ada likes green tea.")
    said = metamem("remember", "Ada does not like green tea.")
    assert f"may contradict {tea}: Ada likes green tea." in said.out
    assert "because one denies what the other says" in said.out


def test_silence_is_told_as_such(metamem, here, fact):
    said = metamem("recall", "the boiling point of tungsten")
    assert said.code == 0 and "Nothing in memory speaks to that." in said.out
    assert "--nearest" in said.err
    said = metamem("recall", "the boiling point of tungsten", "--nearest")
    assert "We deploy from the release branch only." in said.out and "--nearest" not in said.err


def test_nothing_here_yet(metamem, here):
    for command in (("recall", "anything"), ("list",), ("briefing",)):
        said = metamem(*command)
        assert said.code == 2 and "nothing is remembered for this folder yet" in said.err
    assert metamem("list", "--everywhere").code == 0


def test_a_folder_that_was_mistyped_is_told_and_not_made(metamem, here, fact, tmp_path):
    wrong = tmp_path / "memroy"
    for words in (
        ("recall", "deploy"),
        ("list",),
        ("briefing",),
        ("export",),
        ("why", fact),
        ("reindex",),
        ("enrich", "--look"),
        ("foundry", "report"),
        ("foundry", "oversee"),
        ("foundry", "failures"),
        ("foundry", "restore", "x"),
        ("tools",),
        ("tools", "show", "x"),
        ("hooks", "events", "x"),
        ("served", "show", "local/project/x"),
        ("advise", "deploy", "--scope", "local/project/x"),
    ):
        said = metamem(*words, "--memory", str(wrong))
        assert said.code == 2 and "there is no memory in" in said.err
    assert not wrong.exists()
    assert metamem("remember", "Ports are odd.", "--memory", str(wrong)).code == 0
    assert "Ports are odd." in metamem("list", "--memory", str(wrong)).out


@pytest.mark.parametrize(
    "words", [("remember", "x y z"), ("serve",), ("mcp",), ("import-sessions",)]
)
def test_a_folder_that_cannot_be_made_is_told(metamem, here, tmp_path, words):
    file = tmp_path / "a file"
    file.write_text("x")
    said = metamem(*words, "--memory", str(file))
    assert said.code == 4 and "cannot be made: File exists" in said.err
    assert said.out == ""


@pytest.mark.parametrize(
    "address", ["localhost:7348", "ftp://x", "http://x:port", "http://[::1", "http://"]
)
def test_an_address_that_is_none_is_told_and_no_folder(
    metamem, here, address, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    said = metamem("remember", "Ports are odd.", "--url", address)
    assert said.code == 2 and "is no address of a server" in said.err
    monkeypatch.setenv("METAMEM_URL", address)
    said = metamem("remember", "Ports are odd.")
    assert said.code == 2 and address in said.err
    assert sorted(tmp_path.iterdir()) == before


def test_a_span_that_ends_before_it_begins_is_told(metamem, here, fact):
    for words in (("recall", "deploy"), ("list",)):
        said = metamem(*words, "--since", "2026-02-01", "--until", "2025-01-01")
        assert said.code == 2 and "ends before it begins" in said.err
        assert metamem(*words, "--since", "2025-02-01", "--until", "2025-02-02").code == 0


def test_a_type_that_is_none_is_told(metamem, here, fact):
    said = metamem("list", "--type", "decison")
    assert said.code == 2 and "decision" in said.err


def test_refusals_and_duplicates_are_told(metamem, here, fact):
    said = metamem("remember", "we deploy from the RELEASE branch only.")
    assert said.code == 0 and "duplicate" in said.out and fact in said.out and "0 of 1" in said.out
    refused = metamem("remember", "thanks")
    assert refused.code == 1 and "refused" in refused.out
    assert metamem("remember", "x", "--type", "opinion").code == 2
    assert metamem("remember", "x", "--said", "soon").code == 2


def test_a_secret_is_taken_out_and_told(metamem, here, tmp_path):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    said = metamem("remember", f"The deploy token is {secret} for now.")
    assert "taken out as secret" in said.out and secret not in said.out
    for file in (tmp_path / "memory").iterdir():
        if file.is_file():
            assert secret.encode() not in file.read_bytes()


def test_lines_from_stdin(here):
    said = program("remember", "-", "--json", input="First line here.\n\nSecond line here.\n")
    assert [each["outcome"] for each in json.loads(said.stdout)["written"]] == ["stored", "stored"]


def test_what_is_no_utf8_is_refused_and_nothing_of_it_kept(here):
    for words, piped, said in (
        (["-"], b"The cook is Ada.\ncaf\xe9 au lait\n", "line 2 of stdin"),
        ([os.fsdecode(b"caf\xe9 au lait")], b"", "what you gave"),
    ):
        done = program("remember", *words, input=piped, text=False)
        assert done.returncode == 2 and f"{said} is not text in UTF-8" in done.stderr.decode()
    done = program("remember", "-", input="café au lait".encode(), text=False)
    assert b"1 of 1 stored" in done.stdout


def test_a_fact_is_edited_forgotten_and_restored(metamem, here, fact):
    assert (
        "version 2: Deploy from main."
        in metamem("edit", fact, "--text", "Deploy from main.", "--reason", "moved").out
    )
    assert metamem("edit", fact).code == 2
    assert "at least 8 characters" in metamem("forget", fact[:6]).err
    assert "archived" in metamem("forget", fact, "--reason", "old").out
    assert metamem("forget", fact).code == 2
    assert "There are none." in metamem("list").out
    assert "archived" in metamem("list", "--all").out
    assert "active" in metamem("restore", fact).out
    assert [v["version"] for v in metamem("history", fact, "--json").json] == [1, 2, 3, 4]
    assert "moved" in metamem("history", fact).out


def test_why_and_feedback(metamem, here, fact):
    found = metamem("recall", "how do we deploy?", "--json").json
    assert metamem("feedback", found["id"], fact, "useful").code == 0
    assert metamem("feedback", found["id"], fact, "splendid").code == 2
    shown = metamem("why", found["id"])
    assert "how do we deploy?" in shown.out and "useful" in shown.out
    about = metamem("why", fact)
    assert "We deploy from the release branch only." in about.out and "cli" in about.out
    assert metamem("why", "f0").code == 2


def test_scopes_and_own(metamem, here, fact):
    metamem("remember", "I prefer tabs over spaces.", "--scope", "own", "--pin")
    assert "tabs" in metamem("recall", "tabs or spaces").out
    assert "tabs" in metamem("briefing").out
    assert "tabs" not in metamem("list", "--scope", str(project_of(here).scope)).out
    listed = metamem("scopes").out
    assert f"local/user/{os_user()}" in listed
    assert "public" in metamem("scopes", "add", "team/all", "--visibility", "public").out
    assert "shared" in metamem("scopes", "share", "team/all", "shared").out
    metamem("people", "add", "grace")
    assert "writer" in metamem("scopes", "grant", "team/all", "grace", "writer").out
    assert "grace" in metamem("scopes", "members", "team/all").out
    assert "grace" not in metamem("scopes", "ungrant", "team/all", "grace").out
    assert metamem("scopes", "share", "team/all", "sideways").code == 2
    assert metamem("remember", "x y", "--scope", "a/b/c/d").code == 2


def test_questions_of_a_time(metamem, here):
    now = datetime.now(UTC)
    yesterday = (now - timedelta(days=1)).date().isoformat()
    metamem("remember", "The login page was rewritten.", "--said", f"{yesterday}T23:00")
    metamem("remember", "The cellar was swept.", "--said", "2020-02-03T10:00")
    found = metamem("recall", "What did we do yesterday?")
    assert "The login page was rewritten." in found.out and "cellar" not in found.out
    assert f"of yesterday, {yesterday} (UTC)" in found.err
    (line,) = [part for part in found.out.splitlines() if "metamem why" in part]
    why = metamem("why", line.rsplit(" ", 1)[1], "--json").out  # a table may break it into lines
    assert f"of yesterday, {yesterday}" in why
    nothing = metamem("recall", "what happened on 2019-01-01?")
    assert nothing.code == 0 and "nothing is kept of 2019-01-01 (UTC)" in nothing.err
    listed = metamem("list", "--since", "2020-02-03", "--until", "2020-02-04")
    assert "The cellar was swept." in listed.out and "login" not in listed.out
    assert "There are none." in metamem("list", "--until", "2020-02-03").out
    assert "cellar" not in metamem("list", "--since", "2020-02-04").out
    wrong = metamem("list", "--since", "monday")
    assert wrong.code == 2 and "'monday' is no date" in wrong.err


def test_keys_are_made_listed_rotated_and_ended(metamem, here):
    made = metamem("keys", "make", "--label", "laptop", "--expires", "2100-01-01")
    assert made.out.startswith("mm_") and "shown this once" in made.err
    (key,) = metamem("keys", "--json").json
    assert made.out.strip().rsplit("_", 1)[1] not in metamem("keys", "list").out
    turned = metamem("keys", "rotate", key["id"], "--json").json
    assert turned["key"]["replaces"] == key["id"]
    assert "opens nothing" in metamem("keys", "revoke", turned["key"]["id"]).out
    assert "revoked" in metamem("keys").out
    verbs = {entry["entry"]["verb"] for entry in metamem("audit", "--json").json}
    assert {"make_key", "rotate_key", "revoke_key"} <= verbs


def test_a_key_for_a_scope_that_is_not_there_says_so(metamem, here, fact):
    there = str(project_of(here).scope)
    made = metamem("keys", "make", "--in", "project/none", "--in", there)
    assert made.code == 0 and made.out.startswith("mm_")
    assert "local/project/none is not there" in made.err and there not in made.err


def test_a_key_that_is_over_is_not_made(metamem, here):
    refused = metamem("keys", "make", "--expires", "2020-01-01")
    assert "expired" in refused.err


def test_errors_repeat_no_secret(metamem, here, fact):
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    for words in (
        ("recall", "x", "--scope", f"local/project/{secret}"),
        ("recall", "x", "--scope", f"a/b/c/{secret}"),
        ("history", secret),
        ("why", secret),
        ("remember", "x is y", "--type", secret),
        (secret,),
    ):
        refused = metamem(*words)
        assert refused.code != 0
        assert secret not in refused.err + refused.out
        assert "Scope.of" not in refused.err


def test_an_unknown_recall_is_told_as_one(metamem, here, fact):
    refused = metamem("why", "None")
    assert "no recall, briefing or fact 'None'" in refused.err


def test_people(metamem, here):
    metamem("people", "add", "grace", "--role", "auditor")
    metamem("people", "add", "writers", "--kind", "team")
    assert "grace" in metamem("people", "team", "writers", "grace").out
    assert "disabled" in metamem("people", "disable", "grace").out
    assert "disabled" not in metamem("people", "enable", "grace").out
    assert "admin" in metamem("people", "role", "grace", "admin").out
    assert metamem("people", "add", "grace").code == 2
    assert len(metamem("people", "--json").json) >= 2


def test_out_and_in_again(metamem, here, fact, tmp_path):
    metamem("edit", fact, "--text", "We deploy from main.")
    file = tmp_path / "memory.jsonl"
    assert "lines in" in metamem("export", "--to", file).err
    assert "We deploy from main." in metamem("export", "--form", "markdown").out
    for_people = tmp_path / "memory.md"
    metamem("export", "--form", "markdown", "--to", for_people)
    for source in (for_people, tmp_path):  # as notes, all in it would be a person's instructions
        refused = metamem("import", source, "--scope", "project/copy", "--yes")
        assert refused.code == 3 and "metamem export > memory.jsonl" in refused.err
    assert metamem("list", "--scope", "project/copy").code != 0  # and no such scope was made
    assert "local/project/" in metamem("import", file, "--dry-run").out
    (tmp_path / "CLAUDE.md").write_text("- Run the tests before every commit.\n")
    for words in (("--dry-run",), ()):  # shown, or asked about and not answered
        metamem("import", tmp_path / "CLAUDE.md", "--scope", "project/copy", *words)
        assert metamem("list", "--scope", "project/copy").code != 0
    read = metamem("import", file, "--scope", "project/copy")
    assert "1 facts stored" in read.out
    assert "0 facts stored" in metamem("import", file, "--scope", "project/copy").out
    (copied,) = metamem("list", "--scope", "project/copy", "--json").json["facts"]
    assert copied["text"] == "We deploy from main." and copied["version"] == 2
    file.write_text("{}\n")
    assert metamem("import", file).code == 3
    for damaged in ('{"kind": "hea', '{"a": 1}\n', ""):
        file.write_text(damaged)
        assert metamem("import", file).code == 3
    assert metamem("import", tmp_path / "none").code == 2
    (tmp_path / "bare").mkdir()
    bare = metamem("import", tmp_path / "bare", "--yes")
    assert (bare.code, f"there is no Markdown in {tmp_path / 'bare'}" in bare.err) == (2, True)


def test_an_export_that_was_cut_short_is_told_as_that(metamem, here, fact, tmp_path):
    whole = metamem("export").out
    cut = tmp_path / "cut.jsonl"
    cut.write_text(whole[:-40], encoding="utf-8")
    said = metamem("import", str(cut), "--yes")
    assert said.code == 3
    assert "line 2 is no JSON: the file may have been cut short" in said.err


def test_erasing_asks_first(metamem, here, fact, tmp_path):
    scope = str(project_of(here).scope)
    asked = program("erase", scope, "--reason", "asked", input="n\n")
    assert asked.returncode != 0 and "for good?" in asked.stderr
    nobody = program("erase", scope, "--reason", "asked", stdin=subprocess.DEVNULL)
    assert nobody.returncode == 2 and "nothing was erased" in nobody.stderr
    assert "--yes" in nobody.stderr
    assert fact in metamem("list").out
    said = metamem("erase", scope, "--reason", "asked for", "--yes")
    assert said.code == 0 and "Erased" in said.out
    for file in (tmp_path / "memory").iterdir():
        if file.is_file():
            assert b"release branch" not in file.read_bytes(), file


def test_reindex(metamem, here, fact):
    assert metamem("reindex").code == 0
    assert metamem("reindex", "soup").code == 2
    os.environ["METAMEM_URL"] = "http://127.0.0.1:1"
    try:
        assert "where the memory's folder is" in metamem("reindex").err
    finally:
        del os.environ["METAMEM_URL"]


@pytest.mark.parametrize("columns", ["20", "43", "79", "81", "200"])
def test_tables_hold_on_screens_of_any_width(metamem, here, fact, monkeypatch, columns):
    metamem("remember", "A longer text 東京 with wide letters, " + "and more words " * 12)
    recalled = metamem("recall", "deploy", "--json").json["id"]
    monkeypatch.setenv("COLUMNS", columns)
    for command in (
        ("list",),
        ("recall", "how do we deploy?"),
        ("scopes",),
        ("history", fact),
        ("why", recalled),
        ("why", fact),
        ("audit",),
        ("people",),
    ):
        said = metamem(*command)
        assert said.code == 0, (command, said.err)
        assert said.out.strip()
        if command[0] == "list":
            flat = "".join(said.out.split())
            assert fact in flat and "releasebranch" in flat


def test_nothing_in_a_text_commands_the_terminal(metamem, here):
    metamem("remember", "Red \x1b[31malert\x1b[0m and [bold]markup[/bold].")
    for command in (("list",), ("recall", "red alert"), ("briefing",)):
        said = metamem(*command)
        assert "\x1b" not in said.out
    assert "[bold]" in metamem("list").out


def test_where_the_memory_is(metamem, here, tmp_path, monkeypatch):
    other = tmp_path / "other"
    assert metamem("remember", "Kept elsewhere, this.", "--memory", other).code == 0
    assert (other / "memory.db").is_file()
    monkeypatch.delenv("METAMEM_MEMORY")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert metamem("remember", "Kept where the system says.").code == 0
    assert (tmp_path / "data" / "metamem" / "memory.db").is_file()
    assert metamem("list", "--memory", other, "--url", "http://x").code == 2
    monkeypatch.setenv("METAMEM_URL", "gopher://x")
    assert "METAMEM_URL" in metamem("list").err
    monkeypatch.setenv("METAMEM_URL", "http://127.0.0.1:9")
    said = metamem("list")
    assert said.code == 4 and "metamem serve" in said.err


@pytest.mark.slow
def test_the_same_with_a_server(metamem, here, tmp_path, monkeypatch):
    needs("fastapi")
    from tests.web.serving import serving

    with serving(tmp_path / "served") as served:
        monkeypatch.setenv("METAMEM_URL", served.url)
        monkeypatch.setenv("METAMEM_KEY", served.key)
        stored = metamem("remember", "We deploy from the release branch only.", "--json").json
        fact = stored["written"][0]["id"]
        assert "release branch" in metamem("recall", "how do we deploy?").out
        assert fact in metamem("list").out
        assert "archived" in metamem("forget", fact).out
        assert "active" in metamem("restore", fact).out
        file = tmp_path / "out.jsonl"
        metamem("export", "--to", file)
        assert "1 facts stored" in metamem("import", file, "--scope", "project/copy").out
        made = metamem("keys", "make", "--right", "read", "--in", "project/copy", "--json").json
        monkeypatch.setenv("METAMEM_KEY", made["secret"])
        denied = metamem("remember", "Not with this key.", "--scope", "project/copy")
        assert denied.code == 8
        assert metamem("why", fact).code == 2
        monkeypatch.setenv("METAMEM_KEY", "mm_wrong")
        assert metamem("list", "--everywhere").code == 8
        monkeypatch.delenv("METAMEM_KEY")
        assert "local/project/webshop" in metamem("scopes", "--url", f"unix:{served.socket}").out


def test_serving_beyond_this_machine_needs_a_key(metamem, here):
    needs("fastapi")
    said = metamem("serve", "--host", "0.0.0.0", "--port", "0")
    assert said.code == 2 and "metamem keys make" in said.err


def test_help_teaches(metamem):
    for command in ("remember", "recall", "list", "edit", "erase", "export", "serve", "mcp"):
        said = metamem(command, "--help")
        assert said.code == 0 and "Example" in said.out
