"""Secrets leave every text; what only looks like one stays."""

import base64
import hashlib
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.core.secrets import redact
from metamem.service.writing.fields import Fields
from tests.service.writing.planted import DIGITS, LOW, SECRETS, drawn

ORDINARY = [
    "",
    "The shop runs on PostgreSQL 16 and keeps sessions in Redis.",
    "Fixed in commit 3f2a9c1d5b7e8f90a1b2c3d4e5f60718293a4b5c on main.",
    "token parser broke at 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d",
    "The session token 9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d00112233 is a commit, not a key",
    "max_tokens=4096, prompt_tokens: 812, total_tokens: 1024",
    "tokens: 8192",
    "token_limit = 2000",
    "next_page_token: 200",
    "The password is required.",
    "The password is too short, and was rejected",
    "password: required",
    "Reset the password to continue",
    "token: str",
    "password: Optional[str] = None",
    "def login(user: str, password: str) -> Token:",
    "token = response.json()['token']",
    "password = user.password",
    "connect(host=host, password=password)",
    "secret = get_secret(name)",
    "API_KEY=${API_KEY}",
    "API_KEY=<your key here>",
    "api_key=your-api-key-here",
    "password=********",
    "token = os.environ['GITHUB_TOKEN']",
    "secret: secrets.GITHUB_TOKEN",
    "primary key: user_id, foreign key: order_id",
    "The key insight: caching wins",
    "tokenizer: tokenizers/bert-base-uncased.json",
    "the secret to good bread is time",
    "Secrets are kept in /etc/shop/secrets.yaml",
    "https://github.com/org/repo/blob/main/src/auth/token.py#L10-L20",
    "postgres://localhost:5432/shop",
    "https://example.com:8080/path@2x.png",
    "git@github.com:org/repo.git",
    "basic understanding of internationalization",
    "Bearer of bad news: the internationalisation is late",
    "eyJ is how a header begins",
    "sk-learn pipelines and task-oriented-dialogue-management",
    "risk-assessment-for-the-next-quarter-of-this-year",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "image: registry.local/shop@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "version 1.2.3-rc.1+build.5 of metamem",
    "SELECT token, secret FROM keys WHERE id = 7",
    "私のパスワードは秘密です。",
    "密码是必填项。",
    "密码：optional",
    "비밀번호는 필수입니다.",
    "The token for the parser is deadbeef",
    "The pin is 13, the GPIO pin: 42",
    "the seed phrase is kept in a safe",
    "Card 4111 1111 1111 1112 is not a number of a card",
    "cards 1000000000000000 to 1000000000000001 were issued",
    "The token bucket refills at 60 per minute",
    "The credentials are stored in the keychain",
    "authorization: roles and scopes decide",
    "auth_token_ttl: 3600",
    "access_key_id is the name of the column",
    "The access token expires after 3600 seconds",
    "Passwords were migrated to argon2id.",
    "The password policy is at least 12 characters",
    "use --password-file /run/shop/pw",
    "set PASSWORD_RESET_TIMEOUT_DAYS: 3",
    "keyboard: ergonomic, monkey: curious",
]


# What is a secret by the words around it alone.
SAID = [
    ("secret", drawn(32, DIGITS + "abcdef"), "the token for CI is {}"),
    ("secret", drawn(64, DIGITS + "abcdef"), "our api key is {}"),
    ("password", drawn(6, LOW) + drawn(4, DIGITS), "数据库的密码是 {}"),
    ("password", drawn(6, LOW) + drawn(4, DIGITS), "パスワードは{}"),
    ("password", drawn(6, LOW) + drawn(4, DIGITS), "비밀번호는 {}"),
    ("pin", drawn(4, DIGITS), "my PIN is {}"),
    ("recovery phrase", " ".join(drawn(5, LOW, n) for n in range(12)), "seed phrase: {}"),
    ("card number", "41" + "11 1111 1111 " + "1111", "my credit card is {}"),
    ("card number", "37" + "82 822463 " + "10005", "the card: {}"),
]


@pytest.mark.parametrize(("kind", "secret", "around"), SECRETS + SAID)
def test_a_secret_leaves_and_its_kind_is_named(kind: str, secret: str, around: str) -> None:
    text = around.format(secret)
    found = redact(f"Before it. {text} And after it.")
    assert secret not in found.text
    assert f"[secret: {kind}]" in found.text
    assert kind in found.kinds
    assert found.text.startswith("Before it. ") and found.text.endswith(" And after it.")


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redact(text).text == text


@given(st.binary(min_size=1, max_size=40), st.sampled_from(("commit", "see", "digest", "object")))
def test_hashes_and_uuids_that_are_spoken_of_stay(seed: bytes, word: str) -> None:
    digest = hashlib.sha1(seed).hexdigest()
    name = uuid.UUID(bytes=hashlib.md5(seed).digest())
    text = f"{word} {digest} of {name}, in short {digest[:7]}"
    assert redact(text).text == text


@given(st.text(max_size=300))
def test_what_was_redacted_is_not_redacted_again(text: str) -> None:
    once = redact(text)
    again = redact(once.text)
    assert again.text == once.text


@settings(max_examples=200)
@given(
    st.text("abcdefghij ,.\n", max_size=80),
    st.sampled_from(SECRETS),
    st.text("abcdefghij ,.\n", max_size=80),
    st.sampled_from(SECRETS),
)
def test_secrets_leave_whatever_stands_around_them(
    before: str, one: tuple[str, str, str], after: str, other: tuple[str, str, str]
) -> None:
    text = f"{before} {one[2].format(one[1])} {after}\n{other[2].format(other[1])}\n"
    found = redact(text).text
    assert one[1] not in found
    assert other[1] not in found
    assert redact(found).text == found


def test_an_image_is_not_searched_for_long() -> None:
    image = base64.b64encode(hashlib.shake_256(b"image").digest(150_000)).decode()
    assert redact(f"data:image/png;base64,{image}").text.endswith(image[-20:])


_TOKEN = "ghp_" + "a1B2c3D4e5" * 4
_AWS = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzEXAMPLEK"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"log in with mm_{'0a1b2c3d' * 2}_{'Ab-4_' * 8}xyz now", "Ab-4_Ab"),
        (f"aws_secret_access_key = {_AWS}", _AWS),
        (f"AWS secret access key: {_AWS}", _AWS),
        ("DB_PASS=Sup3rS3cret!", "Sup3r"),
        ("user=admin pass=Sup3rS3cret!", "Sup3r"),
        ('{"smtp_pass": "Sup3rS3cret!"}', "Sup3r"),
        ("curl -s -u admin:Sup3rS3cret! https://x.example/", "Sup3r"),
        ("mysql -u root -psup3rsecret shop", "sup3r"),
        (f"in Base64 {base64.b64encode(_TOKEN.encode()).decode()}", "Z2hwX2"),
        (f"in hexadecimal {_TOKEN.encode().hex()}", "6768705f"),
        ("in an address ghp%5F" + "a1B2c3D4e5" * 4, "a1B2c3"),
    ],
)
def test_secrets_of_other_shapes_and_writings_leave_too(text: str, secret: str) -> None:
    found = redact(text)
    assert found.kinds
    assert secret not in found.text


@pytest.mark.parametrize(
    "text",
    [
        "all tests pass: 41 of 41",
        "second pass = slower",
        "pass: the first reading of a file",
        "first_pass=true",
        "docker run -u 1000:1000 image",
        "mysql -p asks for it",
        "aws s3 cp s3://bucket/some/long/path/of/many/segments/file.txt .",
        "the AWS commit 3f2a9c1d5b7e8f90a1b2c3d4e5f60718293a4b5c fixed it",
        "in Base64 " + base64.b64encode(b"The shop runs on PostgreSQL 16 and Redis").decode(),
        "src/metamem/service/writing/secrets-and-other-things",
        "caf%C3%A9%20in%20der%20Stra%C3%9Fe%20der%20Stadt",
    ],
)
def test_what_is_near_those_shapes_stays(text: str) -> None:
    assert redact(text).text == text


def test_a_secret_in_wide_letters_leaves_too() -> None:
    given = Fields()
    assert "a1B2c3" not in given.text("ｇｈｐ＿" + "a1B2c3D4e5" * 4)
    assert given.redacted == ("github token",)
    assert given.text("価格は１２００円です") == "価格は１２００円です"


@pytest.mark.parametrize("around", ["x", "é", "\ud800", "日本"])
def test_in_a_long_text_the_same_is_found_as_in_a_short_one(around):
    told = "the token is ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8, and login --password hunter2!x9"
    short = redact(told)
    long = redact(f"{around} lies here.\n" * 2000 + told + f"\n{around}" * 2000)
    assert len(short.found) == 2
    assert long.found == short.found and short.text in long.text
