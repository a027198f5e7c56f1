"""Remove secrets from text: keys, tokens, passwords, private keys, card numbers, personal ids, passwords in URLs.

`slowwave.redaction`, which clients use too, finds them. This module adds the detectors of *named* tokens from
detect-secrets, but not its entropy detectors, which flag plain words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from slowwave.redaction import find, replace
from slowwave.redaction.tokens import Form

_DETECTORS = (
    ("aws-key", "aws.AWSKeyDetector", ("AKIA", "ASIA", "A3T", "ABIA", "ACCA", "aws", "AWS")),
    ("azure-key", "azure_storage_key.AzureStorageKeyDetector", ("AccountKey=",)),
    ("discord-token", "discord.DiscordBotTokenDetector", (".",)),
    ("github-token", "github_token.GitHubTokenDetector", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    ("gitlab-token", "gitlab_token.GitLabTokenDetector", ("gl", "GR1348941")),
    ("openai-key", "openai.OpenAIDetector", ("sk-",)),
    ("pypi-token", "pypi_token.PypiTokenDetector", ("pypi-",)),
    ("sendgrid-key", "sendgrid.SendGridDetector", ("SG.",)),
    ("slack-token", "slack.SlackDetector", ("xox", "hooks.slack")),
    ("square-secret", "square_oauth.SquareOAuthDetector", ("sq0csp",)),
    ("stripe-key", "stripe.StripeDetector", ("k_live_",)),
    ("telegram-token", "telegram_token.TelegramBotTokenDetector", (":",)),
    ("twilio-key", "twilio.TwilioKeyDetector", ("AC", "SK")),
    ("mailchimp-key", "mailchimp.MailchimpDetector", ("-us",)),
)
"""Kind, plugin of detect-secrets, and texts of which each secret of that kind contains one."""


@cache
def load_forms() -> tuple[Form, ...]:
    """Return the forms of named tokens. The first call imports detect-secrets, which takes long."""
    forms = []
    for kind, plugin, needs in _DETECTORS:
        module, _, detector = plugin.partition(".")
        patterns = getattr(import_module(f"detect_secrets.plugins.{module}"), detector)().denylist
        forms += [Form(kind, needs, pattern) for pattern in patterns]
    return tuple(forms)


class _NamedForms:
    """The forms of named tokens, loaded for the first word that may be a token, because most texts have none."""

    def __iter__(self) -> Iterator[Form]:
        return iter(load_forms())


_NAMED = _NamedForms()


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and the kinds of the removed secrets, in order, with repeats."""

    text: str
    kinds: tuple[str, ...] = ()


def redact(text: str) -> Redacted:
    """Replace every secret that is found by `[redacted:<kind>]`. The surrounding words stay."""
    found = find(text, _NAMED)
    if not found:
        return Redacted(text)
    return Redacted(replace(text, found, "[redacted:{}]"), tuple(kind for _, _, kind in found))
