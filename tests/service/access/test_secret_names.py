"""A secret that stands where a name or an id should is kept nowhere, the audit included."""

from pathlib import Path

import pytest

from metamem.core.errors import MetamemError
from metamem.service.service import MemoryService
from metamem.service.words import Ask, Draft

TOKEN = "ghp_" + "Z9y8X7w6V5" * 4
SCOPE = "local/project/shop"


def test_no_name_no_id_and_no_question_carries_a_secret_to_the_disk(tmp_path: Path) -> None:
    service = MemoryService(tmp_path)
    me = service.local()
    fact = me.remember(SCOPE, [Draft("The shop runs on PostgreSQL 16.")])[0].id
    recall = me.recall(Ask(f"PostgreSQL {TOKEN[0]}\u200b{TOKEN[1:]}", speaker=TOKEN))
    me.feedback(me.recall(Ask("shop PostgreSQL")).id, fact, "useful", f"g\u200b{TOKEN[1:]}")
    tries = (
        lambda: me.get(TOKEN),
        lambda: me.why(TOKEN),
        lambda: me.forget(fact, TOKEN),
        lambda: me.feedback(TOKEN, fact, "useful"),
        lambda: me.feedback(recall.id, TOKEN, "useful"),
        lambda: me.recall(Ask("shop", scopes=(f"local/project/{TOKEN}",))),
        lambda: me.remember(f"local/project/{TOKEN}", [Draft("Named after a token.")]),
        lambda: service.administration.add_scope(me.caller, f"local/project/x.{TOKEN}"),
        lambda: service.administration.add_person(me.caller, TOKEN),
        lambda: service.administration.make_key(me.caller, me.caller.who, label=TOKEN),
    )
    for each in tries:
        try:
            each()
        except MetamemError as error:
            assert "no right" in str(error) or TOKEN not in str(error)
    service.close()
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert any(b"runs on PostgreSQL 16" in content for content in written.values())  # the control
    assert not [path for path, content in written.items() if b"Z9y8X7w6V5" in content]


def test_names_that_hold_secrets_are_refused(tmp_path: Path) -> None:
    service = MemoryService(tmp_path)
    me = service.local()
    with pytest.raises(MetamemError, match="name of a scope"):
        me.remember(f"local/project/{TOKEN}", [Draft("Named after a token.")])
    with pytest.raises(MetamemError, match="name of a person"):
        service.administration.add_person(me.caller, TOKEN)
    service.close()
