"""Settings of hosts: our entries come and go, and nothing else changes by a byte."""

import json
import os
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.core.errors import DataError, StoreError
from metamem.service.attach.hosts import ALL, What, apart, attachment, installed, taken
from metamem.service.attach.install import Installer
from metamem.service.attach.jsonc import Document
from metamem.service.attach.places import Meeting, is_own
from metamem.service.attach.settings import SERVER, JsonPart, is_whole
from metamem.service.home import memory_folder
from metamem.service.importing.sources import HOSTS

COMMAND = "/usr/bin/python3 -I -S /x/metamem_hook.py capture claude-code /y 2>/dev/null || true"
GROUP = {"hooks": [{"type": "command", "command": COMMAND, "timeout": 5}]}
ENTRY = {"command": "/usr/bin/python3", "args": ["-P", "-m", "metamem.cli.main", "mcp"]}
SETS: list[frozenset[What]] = [ALL, frozenset(("memory",)), frozenset(("tools",))]
THEIRS = {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo theirs"}]}


def environment(home: Path) -> dict[str, str]:
    return {
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
        "CODEX_HOME": str(home / "codex"),
        "GEMINI_CLI_HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
    }


@pytest.fixture
def meeting(tmp_path: Path) -> Meeting:
    made = Meeting(tmp_path / "memories")
    made.make()
    return made


def files_under(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# --- texts that look like somebody's ---------------------------------------------------------

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
their_hooks = st.dictionaries(
    st.sampled_from(["Stop", "SessionStart", "PreToolUse"]),
    st.lists(st.just(THEIRS), max_size=2),
    max_size=3,
)


@st.composite
def documents(draw: st.DrawFn, comments: bool) -> str:
    value: dict[str, Any] = draw(st.dictionaries(st.text(max_size=6), plain, max_size=4))
    value = {key: one for key, one in value.items() if key not in ("hooks", "mcpServers")}
    if draw(st.booleans()):
        value["hooks"] = draw(their_hooks)
    if draw(st.booleans()):
        value["mcpServers"] = draw(st.sampled_from([{}, {"other": {"command": "x"}}]))
    indent = draw(st.sampled_from([None, 2, 4, "\t"]))
    text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
    if comments and isinstance(indent, int) and draw(st.booleans()):
        text = text.replace("\n", " // a note, and one more\n", 1)
        text = text.replace("{", "/* head */ {", 1)
    text += draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


PARTS = {
    comments: JsonPart(
        Path("/settings.json"),
        {"Stop": GROUP, "SessionEnd": GROUP},
        ("mcpServers",),
        ENTRY,
        comments,
    )
    for comments in (False, True)
}


@settings(max_examples=150, deadline=None)
@given(data=st.data(), comments=st.booleans())
def test_what_was_put_in_is_there_once_and_comes_out_again(
    data: st.DataObject, comments: bool
) -> None:
    text = data.draw(documents(comments))
    part = PARTS[comments]
    before = Document(text, comments=comments).root.plain
    once = part.attached(text)
    after = Document(once, comments=comments).root.plain
    assert part.attached(once) == once
    assert part.present(once) == ["Stop", "SessionEnd", "MCP"]
    assert after["mcpServers"][SERVER] == ENTRY
    assert after["hooks"]["Stop"][-1] == GROUP
    assert after["hooks"]["Stop"][:-1] == before.get("hooks", {}).get("Stop", [])
    assert {k: v for k, v in after.items() if k not in ("hooks", "mcpServers")} == {
        k: v for k, v in before.items() if k not in ("hooks", "mcpServers")
    }
    assert once.count("//") == text.count("//") + json.dumps(after).count("//") - json.dumps(
        before
    ).count("//")
    back = part.detached(once, part.made(text))
    assert back is not None
    assert Document(back, comments=comments).root.plain == before
    if not _has_empty_lines(text):
        assert back == text


def test_it_is_whole_however_it_is_laid_out_and_whoever_stands_beside() -> None:
    part = PARTS[False]
    once = part.attached('{"hooks": {"Stop": [ ]}}')
    assert once is not None and is_whole(part, once)
    given = json.loads(once)
    assert is_whole(part, json.dumps(given, indent=4))
    given["hooks"]["Stop"].append(THEIRS)
    assert is_whole(part, json.dumps(given))
    for less in (
        {**given, "hooks": {**given["hooks"], "SessionEnd": []}},
        {**given, "hooks": {**given["hooks"], "Notification": [GROUP]}},
        {**given, "mcpServers": {}},
    ):
        assert not is_whole(part, json.dumps(less))
    assert not is_whole(part, None) and not is_whole(part, "")


def _has_empty_lines(text: str) -> bool:
    """An object that is written over several lines and holds nothing looks like one that was
    emptied. The receipt tells them apart; the text alone cannot."""
    return any(
        text.replace(" ", "").replace("\t", "").replace("\r", "").count(e) for e in ("{\n}", "[\n]")
    )


@settings(max_examples=60, deadline=None)
@given(data=st.data(), host=st.sampled_from(HOSTS))
def test_attach_then_detach_gives_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, host: str
) -> None:
    home = tmp_path_factory.mktemp("home")
    meeting = Meeting(home / "memories")
    meeting.make()
    there = attachment(host, meeting, environment=environment(home))
    for part in there.parts:
        if data.draw(st.booleans()) and part.path.suffix in (".json", ".toml"):
            comments = getattr(part, "comments", False)
            text = (
                data.draw(
                    st.sampled_from(
                        ["", "model = 'x' # mine", "[mcp_servers.other]\ncommand = 'y'\n"]
                    )
                )
                if part.path.suffix == ".toml"
                else data.draw(documents(comments) | st.sampled_from(["", "{\n}", " { } \n"]))
            )
            part.path.parent.mkdir(parents=True, exist_ok=True)
            part.path.write_bytes(text.encode())
    installer = Installer(meeting)
    outside = {k: v for k, v in files_under(home).items() if "/memories/" not in k}
    installer.apply(installer.attaching(there))
    attached = {k: v for k, v in files_under(home).items() if "/memories/" not in k}
    assert attached != outside
    assert not any(edit.changes for edit in installer.attaching(there))
    installer.apply(installer.attaching(there))
    assert {k: v for k, v in files_under(home).items() if "/memories/" not in k} == attached
    installer.apply(installer.detaching(there))
    assert {k: v for k, v in files_under(home).items() if "/memories/" not in k} == outside
    assert not any(edit.changes for edit in installer.detaching(there))


@settings(max_examples=40, deadline=None)
@given(data=st.data(), host=st.sampled_from(HOSTS))
def test_memory_and_tools_come_and_go_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, host: str
) -> None:
    home = tmp_path_factory.mktemp("home")
    meeting = Meeting(home / "memories")
    meeting.make()
    whole = attachment(host, meeting, environment=environment(home))
    for part in whole.parts:
        if data.draw(st.booleans()) and part.path.suffix == ".json":
            part.path.parent.mkdir(parents=True, exist_ok=True)
            text = data.draw(documents(getattr(part, "comments", False)))
            part.path.write_bytes(text.encode())
    installer = Installer(meeting)
    outside = {k: v for k, v in files_under(home).items() if "/memories/" not in k}
    for what in data.draw(st.lists(st.sampled_from(SETS), min_size=1, max_size=4)):
        there = attachment(host, meeting, what=what, environment=environment(home))
        installer.apply(installer.attaching(there))
        assert installed(whole) == what
        assert not any(edit.changes for edit in installer.attaching(there))
        for part in there.parts:
            text = part.path.read_text() if part.path.exists() else None
            assert part.attached(text) == text
    installer.apply(installer.detaching(whole))
    assert installed(whole) == frozenset()
    assert {k: v for k, v in files_under(home).items() if "/memories/" not in k} == outside


# --- what others do meanwhile ----------------------------------------------------------------


def test_what_somebody_changed_since_stays_changed(tmp_path: Path, meeting: Meeting) -> None:
    there = attachment("gemini", meeting, environment=environment(tmp_path))
    (part,) = there.parts
    part.path.parent.mkdir(parents=True)
    part.path.write_text('{\n  // my theme\n  "theme": "dark", // keep\n}\n')
    installer = Installer(meeting)
    installer.apply(installer.attaching(there))
    text = part.path.read_text()
    part.path.write_text(text.replace('"dark"', '"light"').replace("// keep", "// kept"))
    installer.apply(installer.detaching(there))
    assert part.path.read_text() == '{\n  // my theme\n  "theme": "light", // kept\n}\n'


def test_keys_in_a_hosts_settings_stay_in_no_copy_once_it_is_detached(
    tmp_path: Path, meeting: Meeting
) -> None:
    there = attachment("gemini", meeting, environment=environment(tmp_path))
    settings_file = there.parts[0].path
    settings_file.parent.mkdir(parents=True, exist_ok=True)
    settings_file.write_text('{"env": {"KEY": "what is mine alone"}}')
    installer = Installer(meeting)
    installer.apply(installer.attaching(there))
    copies = [path for path in meeting.folder.rglob("*") if path.is_file()]
    assert any(b"mine alone" in path.read_bytes() for path in copies)
    assert {path.stat().st_mode & 0o077 for path in copies} == {0}
    installer.apply(installer.detaching(there))
    copies = [path for path in meeting.folder.rglob("*") if path.is_file()]
    assert not any(b"mine alone" in path.read_bytes() for path in copies)


def test_entries_of_another_version_are_replaced_by_their_command(
    tmp_path: Path, meeting: Meeting
) -> None:
    there = attachment("claude-code", meeting, environment=environment(tmp_path))
    settings_file = there.parts[0].path
    settings_file.parent.mkdir(parents=True)
    old = {
        "hooks": [{"type": "command", "command": COMMAND}, {"type": "command", "command": "mine"}]
    }
    settings_file.write_text(json.dumps({"hooks": {"Stop": [old], "Notification": [GROUP]}}))
    installer = Installer(meeting)
    installer.apply(installer.attaching(there))
    hooks = json.loads(settings_file.read_text())["hooks"]
    commands = [hook["command"] for group in hooks["Stop"] for hook in group["hooks"]]
    assert commands[0] == "mine"
    assert [is_own(command) for command in commands] == [False, True]
    assert COMMAND not in json.dumps(hooks)
    assert "Notification" not in hooks


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("text", ["{", '{"a": 1,, }', "[]", '{"hooks": []}', "\udcff", "a = = 1"])
def test_a_file_that_cannot_be_read_stops_all(
    tmp_path: Path, meeting: Meeting, host: str, text: str
) -> None:
    there = attachment(host, meeting, environment=environment(tmp_path))
    broken = there.parts[-1].path if host != "claude-code" else there.parts[0].path
    broken.parent.mkdir(parents=True, exist_ok=True)
    if broken.suffix == ".toml" and text in ("[]", '{"hooks": []}', "{"):
        text = "x = "
    if not text.isascii():
        broken.write_bytes(b'{"a": "\xff"}')
    else:
        broken.write_text(text)
    if host == "opencode" and text == '{"hooks": []}':
        broken.write_text('{"mcp": []}')
    before = files_under(tmp_path)
    with pytest.raises(DataError):
        Installer(meeting).attaching(there)
    assert files_under(tmp_path) == before


def test_comments_are_refused_where_the_host_cannot_read_them(
    tmp_path: Path, meeting: Meeting
) -> None:
    there = attachment("claude-code", meeting, environment=environment(tmp_path))
    there.parts[0].path.parent.mkdir(parents=True)
    there.parts[0].path.write_text("{} // no")
    with pytest.raises(DataError, match="not JSON as its program reads it"):
        Installer(meeting).attaching(there)


def test_a_server_of_that_name_that_is_the_users_own_stays(
    tmp_path: Path, meeting: Meeting
) -> None:
    there = attachment("codex", meeting, environment=environment(tmp_path))
    config = there.parts[1].path
    config.parent.mkdir(parents=True)
    config.write_text('[mcp_servers.metamem]\ncommand = "mine"\n')
    assert taken(there) and there.parts[1].present(config.read_text()) == []
    installer = Installer(meeting)
    installer.apply(installer.attaching(there))
    assert config.read_text() == '[mcp_servers.metamem]\ncommand = "mine"\n'
    assert str(config) in taken(there)
    installer.apply(installer.detaching(there))
    assert config.read_text() == '[mcp_servers.metamem]\ncommand = "mine"\n'


def test_where_one_file_cannot_be_written_none_is_changed(tmp_path: Path, meeting: Meeting) -> None:
    there = attachment("codex", meeting, environment=environment(tmp_path))
    there.parts[0].path.parent.mkdir(parents=True)
    there.parts[0].path.write_text('{"hooks": {}}')
    before = files_under(there.parts[0].path.parent)
    installer = Installer(meeting)
    first, last = installer.attaching(there)
    nowhere = replace(last, path=Path("/proc/metamem.toml"))  # nobody can make a file there
    with pytest.raises(StoreError, match="cannot be written") as told:
        installer.apply([first, nowhere])
    assert "nothing was changed" in (told.value.hint or "")
    assert files_under(there.parts[0].path.parent) == before
    installer.apply(installer.attaching(there))  # once it can be, all goes well
    assert installed(there) == ALL
    installer.apply(installer.detaching(there))
    assert files_under(there.parts[0].path.parent) == before


def test_what_is_no_file_is_refused(tmp_path: Path, meeting: Meeting) -> None:
    there = attachment("gemini", meeting, environment=environment(tmp_path))
    there.parts[0].path.parent.mkdir(parents=True)
    os.mkfifo(there.parts[0].path)
    with pytest.raises(DataError, match="is no file"):
        Installer(meeting).attaching(there)


def test_hooks_of_another_form_are_told_with_their_file(tmp_path: Path, meeting: Meeting) -> None:
    there = attachment("claude-code", meeting, environment=environment(tmp_path))
    there.parts[0].path.parent.mkdir(parents=True)
    there.parts[0].path.write_text('{"hooks": []}')
    with pytest.raises(DataError, match=r"settings\.json: hooks is not what") as told:
        Installer(meeting).attaching(there)
    assert "nothing was changed" in told.value.hint


def test_a_copy_is_kept_and_the_file_keeps_its_rights_and_its_link(
    tmp_path: Path, meeting: Meeting
) -> None:
    there = attachment("gemini", meeting, environment=environment(tmp_path))
    (part,) = there.parts
    part.path.parent.mkdir(parents=True)
    real = tmp_path / "dotfiles.json"
    real.write_text('{"a": 1}')
    real.chmod(0o640)
    part.path.symlink_to(real)
    installer = Installer(meeting)
    (copy,) = installer.apply(installer.attaching(there))
    assert copy.read_text() == '{"a": 1}'
    assert part.path.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert json.loads(real.read_text())["mcpServers"][SERVER]


# --- what each host is given -----------------------------------------------------------------


def attached(host: str, tmp_path: Path, meeting: Meeting, **how: Any) -> dict[str, str]:
    there = attachment(host, meeting, environment=environment(tmp_path), **how)
    installer = Installer(meeting)
    installer.apply(installer.attaching(there))
    return {part.path.name: part.path.read_text() for part in there.parts}


def test_claude_code(tmp_path: Path, meeting: Meeting) -> None:
    written = attached("claude-code", tmp_path, meeting)
    hooks = json.loads(written["settings.json"])["hooks"]
    memory = ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"]
    assert list(hooks) == [*memory, "PreToolUse", "PostToolUse", "PostToolUseFailure"]
    assert all(("matcher" in hooks[event][0]) == (event not in memory) for event in hooks)
    for groups in hooks.values():
        (hook,) = groups[0]["hooks"]
        assert set(hook) == {"type", "command", "timeout"}
        assert hook["type"] == "command"
        assert 0 < hook["timeout"] <= 10  # seconds
        assert hook["command"].endswith("|| true")
    server = json.loads(written[".claude.json"])["mcpServers"][SERVER]
    assert server["type"] == "stdio"


def test_codex_takes_no_top_level_keys_but_hooks(tmp_path: Path, meeting: Meeting) -> None:
    written = attached("codex", tmp_path, meeting)
    read = json.loads(written["hooks.json"])
    assert list(read) == ["hooks"]
    assert read["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] <= 3
    server = tomllib.loads(written["config.toml"])["mcp_servers"][SERVER]
    assert server["args"][-1] == "mcp"
    assert "reviewed" in attachment("codex", meeting).note


def test_gemini_counts_milliseconds(tmp_path: Path, meeting: Meeting) -> None:
    read = json.loads(attached("gemini", tmp_path, meeting)["settings.json"])
    assert list(read["hooks"]) == [
        "SessionStart",
        "BeforeAgent",
        "AfterAgent",
        "PreCompress",
        "SessionEnd",
        "AfterTool",
    ]
    for groups in read["hooks"].values():
        assert 1000 <= groups[0]["hooks"][0]["timeout"] <= 60_000


def test_opencode_gets_a_plug_in(tmp_path: Path, meeting: Meeting) -> None:
    written = attached("opencode", tmp_path, meeting)
    assert json.loads(written["opencode.json"])["mcp"][SERVER]["type"] == "local"
    assert "__COMMANDS__" not in written["metamem.js"]


def test_a_project_alone(tmp_path: Path, meeting: Meeting) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    written = attached("claude-code", tmp_path, meeting, reach="project", folder=project)
    assert (project / ".claude" / "settings.local.json").is_file()
    servers = json.loads(written[".claude.json"])["projects"][str(project)]["mcpServers"]
    assert SERVER in servers


# --- one memory for hooks and MCP --------------------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("named", [False, True])
def test_the_mcp_server_is_told_the_memory_of_the_hooks(
    tmp_path: Path, meeting: Meeting, monkeypatch: pytest.MonkeyPatch, host: str, named: bool
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("METAMEM_MEMORY", raising=False)
    if named:  # the server's own environment will not name it
        monkeypatch.setenv("METAMEM_MEMORY", str(meeting.memories))
    for folder in (meeting.memories, memory_folder()):
        made = Meeting(folder)
        made.make()
        attached(host, tmp_path, made)
        there = attachment(host, made, environment=environment(tmp_path))
        used = [part.memories(part.path.read_text()) for part in there.parts]
        assert {each for one in used for each in one.hooks} == {str(folder)}
        assert [one.server for one in used if one.server is not None] == [str(folder)]
        assert apart(there) == ""


@pytest.mark.parametrize("host", HOSTS)
def test_an_older_entry_that_names_no_memory_is_told_and_mended(
    tmp_path: Path, meeting: Meeting, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("METAMEM_MEMORY", raising=False)
    attached(host, tmp_path, meeting)
    there = attachment(host, meeting, environment=environment(tmp_path))
    for part in there.parts:  # as it was written before
        text = part.path.read_text()
        for gone in (
            f"[mcp_servers.metamem.env]\nMETAMEM_MEMORY = {json.dumps(str(meeting.memories))}\n",
            f'"METAMEM_MEMORY": {json.dumps(str(meeting.memories))}',
        ):
            text = text.replace(gone, "")
        part.path.write_text(text)
    told = apart(there)
    assert f"hooks use the memory in {meeting.memories}," in told
    assert f"MCP server the one in {tmp_path / 'data' / 'metamem'}:" in told
    attached(host, tmp_path, meeting)
    assert apart(there) == ""


def test_a_server_of_the_users_own_has_a_memory_of_its_own(
    tmp_path: Path, meeting: Meeting
) -> None:
    there = attachment("codex", meeting, environment=environment(tmp_path))
    there.parts[1].path.parent.mkdir(parents=True)
    there.parts[1].path.write_text('[mcp_servers.metamem]\ncommand = "mine"\n')
    attached("codex", tmp_path, meeting)
    assert apart(there) == ""
