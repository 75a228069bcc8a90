"""Secrets that were never anybody's, put together here so that no file holds one whole."""

from random import Random

LOW, UP, DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
ANY = LOW + UP + DIGITS


def drawn(length: int, letters: str = ANY, seed: int = 7) -> str:
    luck = Random(f"{length} {letters} {seed}")
    return "".join(luck.choice(letters) for _ in range(length))


# kind → what must not be on the disk, and the text around it ("{}" is its place)
SECRETS: list[tuple[str, str, str]] = [
    ("aws key", "AK" + "IA" + drawn(16, UP + "234567"), "deploy with {} please"),
    ("google key", "AI" + "za" + drawn(35), "maps uses {}"),
    ("google token", "GOC" + "SPX-" + drawn(28), "client {}"),
    ("github token", "gh" + "p_" + drawn(36), "git clone with {}."),
    ("github token", "github" + "_pat_" + drawn(22) + "_" + drawn(59), "use {}"),
    ("gitlab token", "gl" + "pat-" + drawn(20), "ci has {}"),
    ("slack token", "xo" + "xb-" + drawn(12, DIGITS) + "-" + drawn(12, DIGITS) + "-" + drawn(24), "{}"),
    ("webhook", "T" + drawn(8, UP) + "/B" + drawn(8, UP) + "/" + drawn(24), "https://hooks.slack.com/services/{}"),
    ("stripe key", "sk" + "_live_" + drawn(24), "payments: {}"),
    ("model provider key", "sk" + "-ant-api03-" + drawn(80), "export it: {}"),
    ("model provider key", "sk" + "-proj-" + drawn(60), "({})"),
    ("model provider key", "sk" + "-" + drawn(48), "I used {} today"),
    ("model provider key", "h" + "f_" + drawn(34), "login {}"),
    ("package registry token", "np" + "m_" + drawn(36), "publish {}"),
    ("package registry token", "py" + "pi-" + drawn(80), "upload {}"),
    ("mail service key", "S" + "G." + drawn(22) + "." + drawn(43), "mail {}"),
    ("telephony key", "S" + "K" + drawn(32, "0123456789abcdef"), "calls {}"),
    ("bot token", drawn(10, "123456789") + ":A" + "A" + drawn(33), "the bot {}"),
    ("cloud token", "do" + "p_v1_" + drawn(64, "0123456789abcdef"), "droplets {}"),
    ("cloud token", "hv" + "s." + drawn(30), "vault {}"),
    ("service token", "lin" + "_api_" + drawn(40), "linear {}"),
    ("service token", "shp" + "at_" + drawn(32, "0123456789abcdef"), "shop {}"),
    ("jwt", "ey" + "J" + drawn(30) + ".ey" + "J" + drawn(60) + "." + drawn(43), "cookie was {}"),
    ("private key", drawn(64) + "\n" + drawn(64, seed=8), "-----BEGIN RSA PRIVATE " + "KEY-----\n{}\n-----END RSA PRIVATE " + "KEY-----"),
    ("private key", drawn(64, seed=9), "cut off: -----BEGIN OPENSSH PRIVATE " + "KEY-----\n{}"),
    ("storage key", drawn(86) + "==", "AccountName=shop;AccountKey={};EndpointSuffix=x"),
    ("password in an address", drawn(12), "postgres://shop:{}@db.internal:5432/shop"),
    ("password in an address", "p" + drawn(9) + "!", "redis://:{}@cache:6379/0"),
    ("authorization", drawn(40), "curl -H 'Authorization: Bearer {}' https://x"),
    ("authorization", drawn(24) + "==", '"Authorization": "Basic {}"'),
    ("authorization", drawn(32), "it answered to Bearer {} at last"),
    ("cookie", "sid=" + drawn(32), "Cookie: {}"),
    ("password", "hunter" + "2x", "DB_PASSWORD={}"),
    ("password", "sword" + "fish", "MYSQL_PASSWORD={}"),
    ("password", "correct horse battery", 'password = "{}"'),
    ("password", "hunter" + "2x", "password: {}"),
    ("password", "hunter" + "2x!", "the wifi password is {}."),
    ("password", "hunter" + "2x!", "The password for the admin account is {}"),
    ("secret", drawn(40), "AWS_SECRET_ACCESS_KEY={}"),
    ("secret", drawn(24), "api_key: {}"),
    ("secret", drawn(24), 'const apiKey = "{}";'),
    ("secret", drawn(32), '{{"client_secret": "{}"}}'),
    ("secret", drawn(20), "SESSION_SECRET={}"),
    ("secret", drawn(32), "x-api-key: {}"),
    ("secret", drawn(32), "my api key is {}"),
    ("secret", drawn(12), "mysql -u shop --password {} shop"),
]  # fmt: skip


def texts() -> list[str]:
    return [around.format(secret) for _, secret, around in SECRETS]
