"""Generate values of each kind of secret from a seed, with valid check digits and forms; none belongs to anybody."""

import base64
import json
import re
import string
from collections.abc import Callable
from random import Random

from proof.redaction import identities

_LETTERS = string.ascii_letters + string.digits
_CLASSES = {
    "D": string.digits,
    "X": "0123456789abcdef",
    "L": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "M": _LETTERS,
    "B": _LETTERS + "-_",
    "S": _LETTERS + "+/",
}
_CLASS = re.compile(r"<([DXLUMBS])\*(\d+)>")
_WORDS = (
    "walnut copper meadow lantern harbor pepper violin saddle marble thistle cactus anchor ribbon tunnel puzzle"
    " velvet orange basket kitten planet forest window bridge castle dragon engine feather garden hammer island"
    " jacket kernel ladder magnet needle oyster pillow quartz rocket silver timber umbrella valley whisper yellow"
    " zipper absent bacon canyon decade eager fabric galaxy habit icon jewel kiwi lemon mango napkin ocean parrot"
    " rabbit salmon tomato unfold vapor wagon zebra arrow blanket cradle dolphin ember falcon glove hockey insect"
    " jungle koala lizard mirror noodle olive panda quiz raven scissors turtle uncle vivid walrus"
).split()


def value_of(form: str, random: Random) -> str:
    """Return a value of this form: classes of characters are drawn, "!name" calls a maker."""
    if form.startswith("!"):
        return _MAKERS[form[1:]](random)
    return _CLASS.sub(lambda match: _drawn(match[1], int(match[2]), random), form)


def _drawn(name: str, length: int, random: Random) -> str:
    """Return random characters of a class. If the class has letters and digits, a value has both, as real ones do."""
    alphabet = _CLASSES[name]
    while True:
        drawn = "".join(random.choice(alphabet) for _ in range(length))
        mixed = any(map(str.isdigit, drawn)) and any(map(str.isalpha, drawn))
        # A sign at the end of a value would look like the sentence's own punctuation.
        if (mixed or name == "D" or length < len("ab1")) and drawn[-1].isalnum() and drawn[0].isalnum():
            return drawn


def _m(length: int, random: Random) -> str:
    return _drawn("M", length, random)


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _strong(random: Random) -> str:
    word = random.choice(_WORDS)
    sign = random.choice("!#$%&*+@?")
    number = random.randint(10, 9999)
    return random.choice([f"{word.title()}{sign}{number}", f"{word}{number}", f"{word[:4]}-{word[1:].title()}{number}"])


def _jwt(random: Random) -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": random.randint(10**6, 10**7), "name": random.choice(_WORDS)})
    head, body = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return f"{head}.{body}.{_drawn('B', 43, random)}"


def _sas(random: Random) -> str:
    signature = _drawn("S", 43, random).replace("+", "%2B").replace("/", "%2F")
    return f"https://acme.blob.core.windows.net/logs/a.txt?sv=2022-11-02&se=2031-01-01&sr=b&sp=r&sig={signature}%3D"


def _block(kind: str, random: Random) -> str:
    body = "\n".join(_drawn("S", 64, random) for _ in range(4))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


def _putty(random: Random) -> str:
    public, private = (_drawn("S", 64, random) for _ in range(2))
    return (
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: key\nPublic-Lines: 1\n"
        f"{public}\nPrivate-Lines: 1\n{private}\nPrivate-MAC: {_drawn('X', 64, random)}"
    )


def _phrase(count: int) -> Callable[[Random], str]:
    return lambda random: " ".join(random.sample(_WORDS, count))


def _url(random: Random) -> str:
    return f"postgres://app:{_m(14, random)}@db.example.org:5432/app"


_MAKERS: dict[str, Callable[[Random], str]] = {
    "strong": _strong,
    "word": lambda random: random.choice(_WORDS) + random.choice(_WORDS),
    "words": lambda random: " ".join(random.sample(_WORDS, 5)),
    "seed12": _phrase(12),
    "seed24": _phrase(24),
    "jwt": _jwt,
    "sas": _sas,
    "url": _url,
    "basic_header": lambda random: f"Authorization: Basic {_b64(f'{random.choice(_WORDS)}:{_m(12, random)}')}",
    "bearer_header": lambda random: f"Authorization: Bearer {_drawn('B', 40, random)}",
    "user_pass": lambda random: _b64(f"{random.choice(_WORDS)}:{_m(12, random)}"),
    "curl": lambda random: f"curl -u {random.choice(_WORDS)}:{_m(12, random)} https://example.org/api",
    "connection": lambda random: f"Server=db;Database=app;User Id=app;Password={_m(14, random)};Encrypt=true",
    "key_base": lambda random: f"secret_key_base: {_drawn('X', 128, random)}",
    "cookie": lambda random: f"Cookie: sessionid={_drawn('L', 32, random)}",
    "totp": lambda random: f"otpauth://totp/acme:maya?secret={_base32(random)}&issuer=acme",
    "wif": lambda random: random.choice("KL") + "".join(random.choice(identities.BASE58) for _ in range(51)),
    "pem": lambda random: _block(random.choice(["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY"]), random),
    "pgp": lambda random: _block("PGP PRIVATE KEY BLOCK", random),
    "putty": _putty,
    **identities.MAKERS,
}


def _base32(random: Random) -> str:
    return "".join(random.choice(string.ascii_uppercase + "234567") for _ in range(32))


PUBLIC = re.compile(
    r"-----(?:BEGIN|END) [A-Z ]+-----|PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: key\n"
    r"Public-Lines: 1\n\S+|Private-Lines: 1|Private-MAC:|https?://[^\s?]*(?:\?sv=[^\s]*sig=)?(?=\S*%3D)|postgres://app:|"
    r"@db\.example\S*|Authorization: (?:Basic|Bearer)|curl -u \w+:|https://example\.org/api|Server=.*?Password=|;Encrypt=true|"
    r"secret_key_base:|Cookie: sessionid=|otpauth\S*secret=|&issuer=acme|AccountKey=|https://hooks\.slack\.com/services/|"
    r"https://discord\.com/api/webhooks/|\$argon2id\$v=19\$m=65536,t=3,p=4\$|pbkdf2_sha256\$600000\$|github_pat_|rubygems_|pscale_pw_|"
    r"AGE-SECRET-KEY-"
)
"""Parts of values that are no secret: they may stay."""
