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


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("sshpass -p hunter2 ssh host", "hunter2"),
        ("sshpass -v -P assword: -phunter2 scp a b:", "hunter2"),
        ("docker login -u me -p hunter2 registry.example", "hunter2"),
        ("machine api.example.com login ada password hunter2 machine b.example", "hunter2"),
        ("CREATE USER ada IDENTIFIED BY 'swordfish';", "swordfish"),
        ("alter role ada with login password 'sword fish';", "sword fish"),
        ("SET PASSWORD FOR 'ada' = 'swordfish'", "swordfish"),
        ("rabbitmqctl add_user ada swordfish", "swordfish"),
        ("keytool -list -keystore k.jks -storepass swordfish", "swordfish"),
        ("az login -u ada@x.example -p swordfish", "swordfish"),
        ("smbclient //host/share -U 'ada%swordfish' -c ls", "swordfish"),
        ("echo 'ada:swordfish' | sudo chpasswd", "swordfish"),
        ("FROM x\nENV DB_PASSWORD swordfish\n", "swordfish"),
        ("<server><password>swordfish</password></server>", "swordfish"),
        ("<ns:clientSecret>swordfish</ns:clientSecret>", "swordfish"),
        ("machine localhost\n  login ada\n  password swordfish\n", "swordfish"),
        ("docker login registry.example --password=swordfish", "swordfish"),
        ("echo swordfish | docker login -u me --password-stdin", "swordfish"),
        ("printf '%s' 'sword fish' | podman login --password-stdin", "sword fish"),
        ("echo -n swordfish | sudo -S apt update", "swordfish"),
        ("redis-cli -h db -p 6379 -a swordfish ping", "swordfish"),
        ("mongo -u root -p swordfish shop", "swordfish"),
        ("/usr/bin/mongodump --username root --password swordfish", "swordfish"),
        ("openssl enc -aes-256-cbc -in a -k swordfish", "swordfish"),
        ("openssl rsa -in key.pem -passin pass:swordfish", "swordfish"),
        ("zip -r -P swordfish out.zip folder", "swordfish"),
        ("unzip -P 'sword fish' out.zip", "sword fish"),
        ("htpasswd -bc .users me swordfish", "swordfish"),
        ("htpasswd -nbB me swordfish", "swordfish"),
        ("gpg --batch --passphrase swordfish -d f.gpg", "swordfish"),
        ("kubectl create secret generic db --from-literal=pw=swordfish", "swordfish"),
        ("kubectl create secret generic db --from-literal=a=b1 --from-literal=db_pass=x9y", "x9y"),
        ("passphrase is 'correct horse'", "correct horse"),
        ('the wifi password was "sword fish"', "sword fish"),
        ("The password is hunter2", "hunter2"),
        ("key=aB3dE5fG7hI9jK1lM3nO5pQ7", "aB3dE5"),
        ('{"key": "aB3dE5fG7hI9jK1lM3nO5pQ7"}', "aB3dE5"),
        (f"twilio auth_token {'0123456789abcdef' * 2}", "0123456789abcdef"),
        ('secret_key: str = "django-insecure-8$k3#mzq0"', "django-insecure"),
        ("const apiKey: string = 'a1B2c3D4e5F6';", "a1B2c3"),
        ('db_password: str | None = "sword fish"', "sword fish"),
    ],
)
def test_secrets_told_to_programs_or_in_typed_fields_leave_too(text: str, secret: str) -> None:
    found = redact(text)
    assert found.kinds and secret not in found.text
    assert redact(found.text).text == found.text


@pytest.mark.parametrize(
    "text",
    [
        "the password is required",
        "The password is 'required' here",
        'password is "too short"',
        "the passphrase is 'not set', so gpg asks",
        "mkdir -p hunter2",
        "docker run -p 80:80 nginx",
        "the machine learning login page password field",
        "ALTER ROLE ada WITH PASSWORD NULL",
        "alter role ada with password $1",
        "CREATE TABLE users (id int, password text)",
        "set the password for the user 'ada' on the login page",
        "rabbitmqctl list_users",
        "keytool -list -storepass:env STOREPASS",
        "keytool -list -storepass $STOREPASS",
        "az login -p $AZ_PASSWORD",
        "smbclient -L host -U ada",
        "cat users.txt | chpasswd",
        "ENV TOKEN $TOKEN",
        "/usr/bin/env token list",
        "<password></password><token>${env.TOKEN}</token>",
        "<label>Password</label><input>",
        "machine web1.example login ada",
        "docker login && docker run -p 8080:80 nginx",
        "docker login -u me --password-stdin < file",
        "docker run --name mongo -u 1000 -p 27017:27017 -d mongo",
        "mongo --port 27017 shop",
        "mkdir -p data/mongo && cp -a mongo data",
        "redis-cli -h db -p 6379 -n 2 ping",
        "ls -a folder1",
        "grep -k file1",
        "grep -a needle1 redis.log",
        "git log -p file1",
        "ssh -p 2222 host",
        "sshpass -e ssh -p 2222 host",
        "sshpass -f file1 ssh host",
        "sshpass -p $PASSWORD ssh host",
        'echo "$PASSWORD" | docker login --password-stdin',
        "echo hello1 | grep hello",
        "cp -a source1 target1",
        "curl -k https://shop.example/health1",
        "openssl s_client -connect shop.example:443",
        "openssl enc -d -aes-256-cbc -kfile key1 -in a",
        "openssl rsa -in key.pem -passin env:KEY_PASS",
        "zip -r out1.zip folder1",
        "gzip -k file1.txt",
        "htpasswd -c .users me",
        "gpg --passphrase-file file1 -d f.gpg",
        "kubectl create configmap shop --from-literal=colour=blue1",
        "kubectl get secret db1 -o yaml",
        "key=value",
        "key=user_profile_settings",
        "sorted(rows, key=lambda row: row.size)",
        "key: 3f2a9c1d5b7e8f90a1b2c3d4e5f60718293a4b5c",
        "key=9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d",
        "cache_key=aB3dE5fG7hI9jK1lM3nO5pQ7/x.json",
        'key="dashboardSettingsTitleLabel"',
        "def load(key: PKCS12PrivateKeyTypes) -> bytes:",
        "partition key: order_id, sort key: created_at",
        "auth_token is checked first",
        "api_key 3f2a9c1d5b7e8f90a1b2c3d4e5f60718293a4b5c is a commit",
        'token_type: str = "bearer"',
        "password: str = Field(min_length=8)",
        'api_key: str = ""',
        "password: Optional[str] = None",
        'def login(user: str, password: str = "") -> Token:',
    ],
)
def test_what_is_like_those_commands_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Password=MyP4ss!;", "Password=[secret: password];"),
        ('password: "hunter2hunter2!"', 'password: "[secret: password]"'),
        (
            "Server=x;Password=MyP4ss?!;Database=y",
            "Server=x;Password=[secret: password];Database=y",
        ),
        ("The password is hunter2hunter2!", "The password is [secret: password]!"),
        ("f(password=abc123);", "f(password=[secret: password]);"),
    ],
)
def test_a_loud_end_belongs_to_a_secret_in_quotes_or_before_a_semicolon(text, left):
    assert redact(text).text == left


# --- slashes in values, names in other languages --------------------------------------------------


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYZZZZZKEY",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYZZZZZKEY",
        ),
        ("API_KEY=abc/def/ghi1X9/zz7", "abc/def/ghi1X9/zz7"),
        ("secret: Xy7/Pq2Lm9/Zz", "Xy7/Pq2Lm9/Zz"),
        (
            "the AWS secret key is wJalrXUtnFEMI/K7MDENG/bPxRfiCYZZZZZKEY",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYZZZZZKEY",
        ),
        ("mot de passe: hunter2x", "hunter2x"),
        ("Mot de passe : Soleil!42", "Soleil!42"),
        ("le mot de passe du wifi est Soleil42", "Soleil42"),
        ("contraseña: Casa2024", "Casa2024"),
        ("CONTRASEÑA=Casa2024", "Casa2024"),
        ("contraseña del wifi: Casa2024", "Casa2024"),
        ("La contraseña es Casa2024.", "Casa2024"),
        ("senha: gato!99", "gato!99"),
        ("DB_SENHA=gatopreto", "gatopreto"),
        ("a senha do banco é gato99", "gato99"),
        ("пароль: qwerty12", "qwerty12"),
        ("Пароль от базы: qwerty12", "qwerty12"),
        ("пароль — qwerty12", "qwerty12"),
        ("ПАРОЛЬ=qwerty", "qwerty"),
        ("Kennwort: Sesam77", "Sesam77"),
        ("Das Kennwort ist Sesam77", "Sesam77"),
        ("Das Passwort lautet Sesam77!", "Sesam77"),
        ("el password es hunter22", "hunter22"),
        ('Kennwort: "Sesam"', "Sesam"),
        ("пароль: «тайна»", "тайна"),
        ("passphrase: purple monkey dishwasher", "purple monkey dishwasher"),
        ("GPG passphrase = correct horse battery staple", "correct horse battery staple"),
        ("PIN for the safe is 904133", "904133"),
        ("my pin for the bank is 4711.", "4711"),
        ("my PIN is 9041.", "9041"),
        ("DB_PASS=changeme99", "changeme99"),
        ("db_password: change-me-99", "change-me-99"),
    ],
)
def test_values_with_slashes_and_names_in_other_languages_leave(text: str, secret: str) -> None:
    for told in (text, f"Noted.\n{text}\nMore of it.", f"- {text}"):
        found = redact(told)
        assert found.kinds and secret not in found.text
        assert redact(found.text).text == found.text


@pytest.mark.parametrize(
    "text",
    [
        "contraseña requerida",
        "пароль должен быть длинным",
        "PIN 12 of the chip",
        "mot de passe oublié",
        "SECRET_PATH=/etc/app/secret",
        "key: path/to/file",
        "secret: config/prod/db",
        "secret: projects/my-proj-123/secrets/db-pass/versions/3",
        "secret_key: kubernetes/k8s/s3",
        "API_KEY=config/prod/db",
        "scope_token: local/project/shop-eb0912322f01",
        "token: src/auth/OAuth2Token.java",
        "the secret is in docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjg/edit",
        "token: github.com/Org/Repo2X9",
        "secret: objects/3f/2a9c1d5b7e8f90a1",
        "mot de passe: obligatoire",
        "mot de passe : 8 caractères au moins",
        "Mot de passe : (facultatif)",
        "mot de passe changé à 10:30:15",
        "le mot de passe est haché",
        "contraseña: español-inglés",
        "contraseña cambiada a las 10:30:15",
        "contraseña: ********",
        "la contraseña es obligatoria",
        "senha = input()",
        "senha: String",
        "senha = gerar_senha",
        "a senha é obrigatória",
        "desenha: casa22",
        "пароль: обязателен",
        "пароль: какой-нибудь",
        "пароль это важно",
        "Kennwort: siehe docs/kennwort.md",
        "Kennwort: mindestens",
        "Das Passwort lautet anders",
        "Das Passwort ist mindestens 8 Zeichen lang",
        "el password es obligatorio",
        "Fix password hashing - bcrypt2 is used",
        "sends the password to db-1",
        "passphrase: optional",
        "passphrase: a few words that you choose",
        "passphrase: minimum eight words",
        "passphrase: required for ssh keys",
        "passphrase: str, the key's own",
        "the passphrase protects the key",
        "pin for numpy is 1.26.4",
        "the pin for the release is 2024-11-01",
        "pin of the header is 1200 mV",
        "PIN for the safe is required",
        "DB_PASS=changeme",
        "DB_PASS=change-me",
        "password: changeme",
        "Mapping is 2024 and pinning is 12",
        "password: größer",
        "Password hashing: argon2id",
        "password reset: bcrypt2 is used",
    ],
)
def test_what_is_like_those_values_and_names_stays(text: str) -> None:
    assert redact(text).text == text


def test_a_long_path_is_told_quickly() -> None:
    text = "secret: " + "a-b1/" * 60 + "a1-" * 40 + "!X9"
    assert redact(text).text  # without trying all ways in which its steps can be read


_TAIL = "\n".join(drawn(64, seed=n) for n in (51, 52))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"{_TAIL}\n-----END RSA PRIVATE {'KEY'}-----", _TAIL.split("\n")[0]),
        (f"    61→{_TAIL.split()[0]}\n    62→-----END PRIVATE {'KEY'}-----", _TAIL.split()[0]),
        ("db.shop.io:5432:shop:ada:" + "blue" + "heron", "blueheron"),
        ("me:$apr1$" + drawn(8, seed=53) + "$" + drawn(22, seed=54), drawn(22, seed=54)),
        ("root:$6$rounds=5000$salt$" + drawn(86, seed=55), drawn(86, seed=55)),
        ("ada:$2b$12$" + drawn(53, seed=56), drawn(53, seed=56)),
        ('props.setProperty("db.password", "' + "blue7heron" + '");', "blue7heron"),
        ("PAYMENT_SK=" + drawn(20, seed=57), drawn(20, seed=57)),
        ("GH_PAT: " + drawn(20, seed=58), drawn(20, seed=58)),
        ("log in with the password " + "blue7heron!", "blue7heron"),
        ("use my passphrase " + "blue7heron for it", "blue7heron"),
    ],
)
def test_secrets_at_the_ends_of_files_and_on_the_way_leave_too(text: str, secret: str) -> None:
    assert secret not in redact(text).text and redact(text).kinds


@pytest.mark.parametrize(
    "text",
    [
        f"-----END OF THE LIST-----\n{_TAIL}",
        "tests/test_a.py:5432:12: error: Name 'x'",
        "see the log at localhost:5432:shop",
        "prices are $5$ and $6$ a piece",
        'setError("password", "Password is required")',
        'form.setValue("password", "user_password")',
        'config.set("token_type", "bearer")',
        "TASK_SK=short",
        "log in with password authentication",
        "use the password reset flow",
    ],
)
def test_what_is_like_those_ends_stays(text: str) -> None:
    assert redact(text).text == text
