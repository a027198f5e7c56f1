"""Find tokens of known forms: with the prefix of a vendor, or with a form that no other text has."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from slowwave.lazy_patterns import lazy_pattern


class Form(NamedTuple):
    """A form of tokens. needs: substrings, one of which every token of this form contains."""

    kind: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]


def form(kind: str, needs: str | tuple[str, ...], pattern: str) -> Form:
    """Compile a form's pattern. The secret is the group "value", or else the whole match."""
    return Form(kind, (needs,) if isinstance(needs, str) else needs, lazy_pattern(pattern))


_B = r"[A-Za-z0-9_-]"
_AHEAD = r"(?<![A-Za-z0-9])"

# One row for each prefix: at least this many characters follow it.
_PREFIXED: Sequence[tuple[str, str, str, int]] = (
    ("github-token", "github_pat_", r"\w", 22),
    ("gitlab-token", "glpat-", _B, 16),
    ("gitlab-token", "gldt-", _B, 16),
    ("gitlab-token", "glrt-", _B, 16),
    ("slack-token", "xapp-", "[A-Za-z0-9-]", 16),
    ("stripe-key", "whsec_", "[A-Za-z0-9]", 24),
    ("anthropic-key", "sk-ant-", _B, 20),
    ("google-key", "AIza", _B, 30),
    ("google-token", "ya29.", r"[A-Za-z0-9_.-]", 20),
    ("google-secret", "GOCSPX-", _B, 20),
    ("vault-token", "hvs.", _B, 16),
    ("vault-token", "hvb.", _B, 16),
    ("shopify-token", "shpat_", "[A-Fa-f0-9]", 24),
    ("shopify-token", "shpca_", "[A-Fa-f0-9]", 24),
    ("shopify-token", "shppa_", "[A-Fa-f0-9]", 24),
    ("shopify-token", "shpss_", "[A-Fa-f0-9]", 24),
    ("npm-token", "npm_", "[A-Za-z0-9]", 30),
    ("pypi-token", "pypi-", _B, 40),
    ("rubygems-token", "rubygems_", "[A-Fa-f0-9]", 32),
    ("docker-token", "dckr_pat_", _B, 20),
    ("huggingface-token", "hf_", "[A-Za-z0-9]", 30),
    ("replicate-token", "r8_", "[A-Za-z0-9]", 30),
    ("groq-key", "gsk_", "[A-Za-z0-9]", 30),
    ("xai-key", "xai-", "[A-Za-z0-9]", 40),
    ("perplexity-key", "pplx-", "[A-Za-z0-9]", 32),
    ("sendgrid-key", "SG.", r"[A-Za-z0-9_.-]", 40),
    ("mailgun-key", "key-", "[a-f0-9]", 32),
    ("digitalocean-token", "dop_v1_", "[a-f0-9]", 40),
    ("digitalocean-token", "doo_v1_", "[a-f0-9]", 40),
    ("databricks-token", "dapi", "[a-f0-9]", 32),
    ("grafana-token", "glsa_", r"\w", 32),
    ("grafana-token", "glc_", "[A-Za-z0-9+/=]", 32),
    ("new-relic-key", "NRAK-", "[A-Z0-9]", 20),
    ("heroku-key", "HRKU-", _B, 30),
    ("netlify-token", "nfp_", "[A-Za-z0-9]", 30),
    ("supabase-token", "sbp_", "[a-f0-9]", 32),
    ("planetscale-token", "pscale_", r"[\w.-]", 32),
    ("tailscale-key", "tskey-", "[A-Za-z0-9-]", 20),
    ("pulumi-token", "pul-", "[a-f0-9]", 32),
    ("doppler-token", "dp.", r"[a-z]{2,8}\.[A-Za-z0-9]", 32),
    ("sentry-token", "sntryu_", "[a-f0-9]", 32),
    ("sentry-token", "sntrys_", r"[A-Za-z0-9+/=_-]", 32),
    ("linear-key", "lin_api_", "[A-Za-z0-9]", 32),
    ("notion-token", "ntn_", "[A-Za-z0-9]", 32),
    ("notion-token", "secret_", "[A-Za-z0-9]", 40),
    ("figma-token", "figd_", _B, 32),
    ("postman-key", "PMAK-", "[a-f0-9-]", 32),
    ("atlassian-token", "ATATT3", r"[A-Za-z0-9_=-]", 40),
    ("dropbox-token", "sl.", _B, 100),
    ("facebook-token", "EAAC", "[A-Za-z0-9]", 40),
    ("private-key", "AGE-SECRET-KEY-1", "[A-Z0-9]", 40),
    ("private-key", "xprv", "[A-Za-z0-9]", 90),
    ("onepassword-token", "ops_eyJ", r"[A-Za-z0-9_=-]", 40),
    ("fly-token", "FlyV1 ", r"[A-Za-z0-9_,=+/-]", 30),
)

FORMS: tuple[Form, ...] = (
    # A JWT is found with its signature, whether or not a signature follows.
    form("jwt", "eyJ", r"eyJ[A-Za-z0-9_=-]{8,}\.[A-Za-z0-9_=-]{4,}(?:\.[A-Za-z0-9_.+/=-]*)?"),
    *(form(kind, prefix, rf"{_AHEAD}{re.escape(prefix)}{sign}{{{least},}}") for kind, prefix, sign, least in _PREFIXED),
    form("aws-key", ("AKIA", "ASIA", "ABIA", "ACCA"), rf"{_AHEAD}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}"),
    form("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), rf"{_AHEAD}gh[pousr]_[A-Za-z0-9]{{30,}}"),
    form("slack-token", "xox", rf"{_AHEAD}xox[a-z](?:\.[a-z]+)?-[A-Za-z0-9-]{{10,}}"),
    form("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/(?P<value>[A-Za-z0-9_/]{20,})"),
    form("discord-webhook", "/api/webhooks/", r"/api/webhooks/(?P<value>\d{15,20}/[\w-]{40,})"),
    form("discord-token", ".", r"(?<![A-Za-z0-9_.-])[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}(?![A-Za-z0-9_.])"),
    form("stripe-key", ("k_live_", "k_test_"), r"(?<![A-Za-z0-9])[srp]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    form("openai-key", "T3BlbkFJ", r"(?<![A-Za-z0-9])sk-[\w-]{10,}T3BlbkFJ[\w-]{10,}"),
    form("api-key", ("sk-", "pk-", "rk-"), rf"{_AHEAD}(?:sk|pk|rk)-(?:[a-z]{{2,12}}-)?[A-Za-z0-9_-]{{20,}}"),
    form("azure-key", "AccountKey=", r"AccountKey=(?P<value>[A-Za-z0-9+/]{40,}={0,2})"),
    form("azure-secret", "8Q~", rf"{_AHEAD}[A-Za-z0-9_.~-]{{3}}8Q~[A-Za-z0-9_.~-]{{30,40}}"),
    form(
        "signature", ("sig=", "ignature="),
        r"(?i:[?&;](?:sig|x-amz-signature|signature|x-goog-signature)=)(?P<value>[^\s&\"'<>]{20,})",
    ),
    form("mailchimp-key", "-us", r"(?<![A-Za-z0-9])[a-f0-9]{32}-us\d{1,2}\b"),
    form("twilio-key", ("SK", "AC"), r"(?<![A-Za-z0-9])(?:SK|AC)[a-f0-9]{32}(?![A-Za-z0-9])"),
    form("telegram-token", ":AA", r"(?<!\d)\d{8,10}:AA[\w-]{32,34}"),
    form("square-secret", "sq0", r"(?<![A-Za-z0-9])sq0[a-z]{3}-[\w-]{22,43}"),
    form("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}"),
    form("airtable-token", "pat", rf"{_AHEAD}pat[A-Za-z0-9]{{14}}\.[a-f0-9]{{40,}}"),
    form("password-hash", "$", r"\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{50,53}"),
    form("password-hash", "$argon2", r"\$argon2(?:id|i|d)\$[^\s\"'<>]{20,}"),
    form(
        "password-hash", "$",
        r"\$(?:1|5|6|y|7|apr1|scrypt|pbkdf2[a-z0-9-]*)\$(?:rounds=\d+\$)?[^\s\"'$<>]{1,60}\$[^\s\"'<>]{16,}",
    ),
    form("password-hash", "pbkdf2", r"(?<![A-Za-z0-9])pbkdf2_sha\d+\$\d+\$[^\s\"'$]{1,60}\$[A-Za-z0-9+/=]{20,}"),
    form("private-key", ("K", "L", "5"), r"(?<![A-Za-z0-9/+=_-])[KL][1-9A-HJ-NP-Za-km-z]{51}(?![A-Za-z0-9/+=_-])"),
)  # fmt: skip
