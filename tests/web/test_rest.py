"""REST: who is let in, what is refused and how, what is done once, what operators see."""

import contextlib
import json
import socket
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from metamem.core.errors import Busy, UsageError
from metamem.service.connecting import connect
from metamem.service.operations import OPERATIONS
from metamem.service.words import Ask, Draft, Listing
from metamem.web.server import serve
from tests.extras import needs
from tests.web.serving import SHOP, Served, make_key

needs("fastapi")
pytestmark = pytest.mark.slow


@pytest.fixture
def fact(served: Served) -> Iterator[str]:
    with served.client() as client:
        (written,) = client.remember(SHOP, [Draft(f"Something new: {uuid.uuid4()}.")])
        yield written.id


def problem(response: httpx.Response, status: int) -> dict[str, object]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    told = response.json()
    assert told["status"] == status and told["title"] and told["detail"]
    return dict(told)


@pytest.mark.parametrize("given", [None, "", "Basic abc", "Bearer", "Bearer mm_0_1", "Bearer ä"])
def test_nobody_gets_in_without_a_good_key(served: Served, given: str | None) -> None:
    headers = {} if given is None else {"Authorization": given.encode()}
    for path in ("/v1/facts", "/v1/me", "/v1/facts/f0", "/v1/keys", "/mcp"):
        response = httpx.get(served.url + path, headers=headers, trust_env=False)
        told = problem(response, 401)
        assert told["type"] == "urn:metamem:error:bad-key"
        assert (
            "[secret" not in told["hint"]
        )  # a hint that looks like a credential would be taken out
        assert response.headers["www-authenticate"].startswith("Bearer")
    huge = httpx.post(
        served.url + "/v1/facts", content=b"x" * 9_000_000, headers=headers, trust_env=False
    )
    problem(huge, 401)


def test_a_revoked_key_opens_nothing_from_the_next_request_on(served: Served) -> None:
    with served.client() as client:
        made = client.administration.make_key(label="short")
        asking = {"Authorization": f"Bearer {made.secret}"}
        assert served.ask("GET", "/v1/me", headers=asking).status_code == 200
        client.administration.revoke_key(made.key.id)
    problem(served.ask("GET", "/v1/me", headers=asking), 401)


def test_what_is_not_there_and_what_may_not_be_seen_get_the_same_answer(
    served: Served, fact: str
) -> None:
    with served.client() as client:
        client.administration.add_scope("local/project/other")
        made = client.administration.make_key(scopes=["local/project/other"])
    asking = {"Authorization": f"Bearer {made.secret}"}
    seen = served.ask("GET", f"/v1/facts/{fact}", headers=asking)
    absent = served.ask("GET", f"/v1/facts/{fact[::-1]}", headers=asking)
    told, other = problem(seen, 404), problem(absent, 404)
    assert str(told).replace(fact, "X") == str(other).replace(fact[::-1], "X")
    for path in ("forget", "restore"):
        problem(served.ask("POST", f"/v1/facts/{fact}/{path}", headers=asking), 404)
    for path in ("history", "why"):
        problem(served.ask("GET", f"/v1/facts/{fact}/{path}", headers=asking), 404)
    denied = set()
    for name in (SHOP, "local/project/nowhere", "acme/project/webshop"):
        told = problem(served.ask("GET", f"/v1/facts?scopes={name}", headers=asking), 403)
        assert name in str(told["detail"])
        denied.add(str(told["detail"]).replace(name, "X"))
    assert len(denied) == 1


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"{", 400, "JSON"),
        (b"\xff\xfe\x00", 400, "JSON"),
        (b"[" * 100_000, 400, "JSON"),
        (b'{"scope": NaN}', 400, "NaN"),
        (b"[]", 422, "object"),
        (b"{}", 422, "scope is missing"),
        (b'{"scope": "local/project/webshop", "drafts": [{"txt": "x"}]}', 422, "drafts[0].txt"),
        (b'{"scope": 1, "drafts": []}', 422, "scope must be text"),
        (b'{"scope": "x", "drafts": []}', 422, "not a scope"),
        (b'{"scope": "local/project/webshop", "drafts": [], "dry": true}', 422, "dry"),
        (
            b'{"scope": "local/project/webshop", "drafts": [{"text": "x", "said_at": 1e3}]}',
            422,
            "whole number",
        ),
        (
            b'{"scope": "local/project/webshop", "drafts": [{"text": "x", "said_at": '
            + b"9" * 30
            + b"}]}",
            422,
            "between",
        ),
    ],
)
def test_a_bad_body_is_refused_with_what_is_wrong(
    served: Served, body: bytes, status: int, words: str
) -> None:
    headers = {"Content-Type": "application/json"}
    response = served.ask("POST", "/v1/facts", content=body, headers=headers)
    assert words in str(problem(response, status)["detail"])


def test_transport_faults_are_problems_too(served: Served) -> None:
    problem(served.ask("GET", "/v2/nothing"), 404)
    problem(served.ask("DELETE", "/v1/facts"), 405)
    problem(served.ask("POST", "/v1/facts", content=b"{}", headers={"Content-Type": "x/y"}), 415)
    problem(served.ask("GET", "/v1/facts?limit=ten"), 422)
    problem(served.ask("GET", "/v1/facts?limit=1&limit=2"), 422)
    problem(served.ask("GET", "/v1/facts?colour=red"), 422)
    problem(served.ask("GET", f"/v1/facts?contains={'x' * 5000}"), 422)


def test_bodies_have_a_limit_whether_or_not_they_tell_their_length(served: Served) -> None:
    large = b'{"scope": "' + b"x" * (9 << 20) + b'"}'
    headers = {"Content-Type": "application/json"}
    problem(served.ask("POST", "/v1/facts", content=large, headers=headers), 413)

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(large), 1 << 20):
            yield large[start : start + (1 << 20)]

    with contextlib.suppress(httpx.WriteError):  # the server has seen enough and hangs up
        problem(served.ask("POST", "/v1/facts", content=pieces(), headers=headers), 413)


def test_other_names_for_this_machine_are_not_answered(served: Served) -> None:
    for path in ("/v1/me", "/mcp", "/healthz", "/metrics"):
        problem(served.ask("GET", path, headers={"Host": "evil.example"}), 421)
    for name in ("localhost:1", "127.0.0.1", "[::1]:80"):
        assert served.ask("GET", "/healthz", headers={"Host": name}).status_code == 200
    allowed = served.ask("OPTIONS", "/v1/facts", headers={"Origin": "https://evil.example"})
    assert not any(name.startswith("access-control") for name in allowed.headers)


def test_the_same_idempotency_key_does_the_same_request_once(served: Served) -> None:
    key, text = uuid.uuid4().hex, f"Said twice: {uuid.uuid4()}."
    body = {"scope": SHOP, "drafts": [{"text": text}]}
    headers = {"Idempotency-Key": key}
    first = served.ask("POST", "/v1/facts", json=body, headers=headers)
    again = served.ask("POST", "/v1/facts", json=body, headers=headers)
    assert first.json()[0]["outcome"] == "stored"
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"
    other = {"scope": SHOP, "drafts": [{"text": text + " Or not."}]}
    problem(served.ask("POST", "/v1/facts", json=other, headers=headers), 409)
    problem(served.ask("POST", "/v1/keys", json={}, headers=headers), 422)
    fact = first.json()[0]["id"]
    headers = {"Idempotency-Key": key + "2"}
    moved = [served.ask("POST", f"/v1/facts/{fact}/forget", headers=headers) for _ in range(2)]
    assert moved[0].content == moved[1].content and moved[0].json()["lifecycle"] == "archived"
    with served.client() as client:
        assert len(client.history(fact)) == 2
    problem(served.ask("POST", "/v1/facts", json=body, headers={"Idempotency-Key": "a b"}), 422)


def test_an_erasure_that_is_sent_again_gives_its_tombstone(served: Served) -> None:
    with served.client() as client:
        client.administration.add_scope("local/project/gone")
        client.remember("local/project/gone", [Draft("Soon to be gone.")])
    body = {"scope": "local/project/gone", "reason": "asked for"}
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    first, again = (served.ask("POST", "/v1/erase", json=body, headers=headers) for _ in range(2))
    assert first.status_code == 200 and again.content == first.content


def test_a_kept_reply_is_not_shown_to_whoever_lost_the_right(served: Served) -> None:
    with served.client() as client:
        client.administration.add_scope("local/team/lost", "shared")
        client.administration.add_person("mallory")
        client.administration.grant("local/team/lost", "mallory", "writer")
        made = client.administration.make_key("mallory")
        body = {"scope": "local/team/lost", "drafts": [{"text": "Seen while it lasted."}]}
        headers = {"Authorization": f"Bearer {made.secret}", "Idempotency-Key": "1"}
        assert served.ask("POST", "/v1/facts", json=body, headers=headers).status_code == 200
        client.administration.ungrant("local/team/lost", "mallory")
    problem(served.ask("POST", "/v1/facts", json=body, headers=headers), 403)


def test_too_many_requests_are_told_when_to_come_back(served: Served) -> None:
    with served.client() as client:
        made = client.administration.make_key(per_minute=3)
    asking = {"Authorization": f"Bearer {made.secret}"}
    answers = [served.ask("GET", "/v1/counts", headers=asking) for _ in range(6)]
    refused = [each for each in answers if each.status_code != 200]
    assert refused
    for each in refused:
        problem(each, 429)
        assert 1 <= int(each.headers["retry-after"]) <= 60


def test_pages_follow_one_another(served: Served) -> None:
    with served.client() as client:
        client.administration.add_scope("local/project/pages")
        client.remember("local/project/pages", [Draft(f"Fact number {n}.") for n in range(25)])
        seen, after = [], ""
        while True:
            page = client.browse(Listing(("local/project/pages",), after=after, limit=10))
            seen += [fact.text for fact in page.facts]
            after = page.next
            if not after:
                break
    assert seen == [f"Fact number {n}." for n in range(25)]


def test_lists_and_recalls_of_a_time(served: Served) -> None:
    scope, day = "local/project/days", 86_400_000
    with served.client() as client:
        client.administration.add_scope(scope)
        client.remember(scope, [Draft(f"Number {n}.", said_at=n * day) for n in range(1, 6)])
        page = client.browse(Listing((scope,), since=2 * day, until=3 * day))
        assert [fact.text for fact in page.facts] == ["Number 2.", "Number 3."]
        for query, more in (
            ("What happened yesterday?", {"now": 4 * day + 1}),
            ("What happened?", {"since": 3 * day, "until": 3 * day}),
        ):
            found = client.recall(Ask(query, (scope,), **more))
            assert [item.fact.text for item in found.items] == ["Number 3."]
    told = served.ask("GET", f"/v1/facts?scopes={scope}&since={5 * day}").json()
    assert [fact["text"] for fact in told["facts"]] == ["Number 5."]


def test_export_streams_every_fact(served: Served) -> None:
    with served.client() as client:
        client.administration.add_scope("local/project/export")
        client.remember("local/project/export", [Draft(f"Line {n}.") for n in range(1200)])
        lines = [json.loads(line) for line in client.export(["local/project/export"])]
        facts = [line for line in lines if "Line " in json.dumps(line)]
        assert len(facts) >= 1200
        markdown = "".join(client.export(["local/project/export"], "markdown"))
        assert "Line 1199." in markdown
    streamed = served.ask("GET", "/v1/export?scopes=local/project/export")
    assert streamed.headers["content-type"] == "application/x-ndjson"


def test_health_and_metrics_tell_operators_enough_and_no_contents(
    served: Served, fact: str
) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        assert httpx.get(served.url + path, trust_env=False).status_code == 200
    served.ask("GET", "/v1/facts?scopes=local/project/nowhere")
    text = httpx.get(served.url + "/metrics", trust_env=False).text
    for line in (
        'metamem_requests_total{interface="rest",outcome="ok",verb="remember"}',
        'metamem_requests_total{interface="rest",outcome="denied",verb="browse"}',
        "metamem_request_seconds_bucket",
        'metamem_facts{lifecycle="active"}',
        'metamem_facts{lifecycle="merged"} 0.0',
        "metamem_embedding_lag_facts",
        'metamem_job_acted_total{job="embed"}',
        "metamem_recalls_not_recorded_total 0.0",
        "metamem_store_up 1.0",
    ):
        assert line in text, line
    assert "webshop" not in text


def test_the_log_has_neither_contents_nor_secrets(served: Served) -> None:
    with served.client() as client:
        client.remember(SHOP, [Draft("A very particular sentence about walruses.")])
    served.ask("GET", "/v1/facts?contains=walruses")
    served.ask(
        "POST",
        "/v1/facts",
        content=b'{"walruses": 1}',
        headers={"Content-Type": "application/json"},
    )
    log = (served.folder / "log").read_text()
    assert "remember 200" in log and "browse 200" in log
    assert "walrus" not in log
    assert served.key not in log and served.key[-16:] not in log


def test_the_document_describes_every_operation(served: Served) -> None:
    document = served.ask("GET", "/openapi.json").json()
    operations = [each for path in document["paths"].values() for each in path.values()]
    assert len(operations) == len(OPERATIONS) >= 42
    for operation in operations:
        assert operation["summary"] and operation["description"]
        assert {"401", "403", "404", "409", "413", "422", "429", "503"} <= set(
            operation["responses"]
        )
    assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    bodies = [each["requestBody"] for each in operations if "requestBody" in each]
    named = [body["content"]["application/json"] for body in bodies]
    assert sum("example" in body for body in named) >= 16


def test_beyond_this_machine_only_with_a_key(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no API key"):
        serve(tmp_path, host="0.0.0.0", port=0, ready=lambda place: None)


def test_a_second_server_says_so(served: Served) -> None:
    with pytest.raises(Busy, match=served.url):
        serve(served.folder, port=0, ready=lambda place: None)


def test_the_socket_is_the_owners_alone(served: Served) -> None:
    assert Path(served.socket).stat().st_mode & 0o777 == 0o600
    with served.owner() as client:
        assert "owner" in client.administration.me().roles


def test_a_taken_port_is_a_clear_error(served: Served, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match="port"):
            serve(tmp_path, port=taken.getsockname()[1], ready=lambda place: None)


def test_local_use_goes_on_beside_a_server(served: Served) -> None:
    with connect(served.folder) as beside:
        (written,) = beside.remember(SHOP, [Draft("Written beside the server.")])
    with served.client() as client:
        assert client.get(written.id).text == "Written beside the server."


def test_keys_made_elsewhere_are_good_here(served: Served) -> None:
    with served.client(make_key(served.folder, rights=("read",))) as client:
        me = client.administration.me()
        assert SHOP in me.reads and not me.writes and "admin" not in me.roles


SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"/v1/briefing?scopes=local/project/{SECRET}", None),
        ("GET", f"/v1/briefing?scopes={SECRET}", None),
        ("GET", f"/v1/facts?{SECRET}=1", None),
        ("GET", f"/v1/facts/{SECRET}", None),
        ("GET", f"/v1/recalls/{SECRET}", None),
        ("POST", "/v1/facts", {"scope": f"local/project/{SECRET}", "drafts": [{"text": "x"}]}),
        ("POST", "/v1/facts", {"scope": SHOP, "drafts": [{"text": "x", SECRET: 1}]}),
        ("POST", "/v1/facts", {"scope": SHOP, "drafts": [{"text": "x", "type": SECRET}]}),
        ("POST", "/v1/people", {"name": SECRET, "kind": SECRET}),
        ("POST", f"/v1/keys/{SECRET}/revoke", {}),
    ],
)
def test_errors_repeat_no_secret(served: Served, method: str, path: str, body: object) -> None:
    answer = served.ask(method, path, json=body) if body is not None else served.ask(method, path)
    assert answer.status_code >= 400
    assert SECRET not in answer.text
    assert "[secret: github token]" in answer.text


def test_a_key_that_is_over_is_not_made(served: Served) -> None:
    answer = served.ask("POST", "/v1/keys", json={"expires_at": 1577836800000})
    assert (answer.status_code, "expired" in answer.json()["detail"]) == (422, True)


def test_hints_are_in_the_words_of_who_asks(served: Served) -> None:
    answer = served.ask("GET", "/v1/briefing?scopes=webshop")
    assert "TENANT/KIND/NAME" in answer.json()["hint"]
    assert "Scope.of" not in answer.text
    why = served.ask("GET", "/v1/facts/None/why")
    assert (why.status_code, "no recall" in why.json()["detail"]) == (404, True)
