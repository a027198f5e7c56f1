"""Remove secrets from text: keys, tokens, passwords, private keys, card numbers, personal ids, passwords in URLs.

`slowwave.redaction`, which clients use too, finds them. This module adds the detectors of *named* tokens from
detect-secrets, but not its entropy detectors, which flag plain words.
"""

from dataclasses import dataclass

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from slowwave.redaction import find, replace
from slowwave.redaction.tokens import Form

_DETECTORS: tuple[tuple[str, type[RegexBasedDetector], tuple[str, ...]], ...] = (
    ("aws-key", AWSKeyDetector, ("AKIA", "ASIA", "A3T", "ABIA", "ACCA", "aws", "AWS")),
    ("azure-key", AzureStorageKeyDetector, ("AccountKey=",)),
    ("discord-token", DiscordBotTokenDetector, (".",)),
    ("github-token", GitHubTokenDetector, ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    ("gitlab-token", GitLabTokenDetector, ("gl", "GR1348941")),
    ("openai-key", OpenAIDetector, ("sk-",)),
    ("pypi-token", PypiTokenDetector, ("pypi-",)),
    ("sendgrid-key", SendGridDetector, ("SG.",)),
    ("slack-token", SlackDetector, ("xox", "hooks.slack")),
    ("square-secret", SquareOAuthDetector, ("sq0csp",)),
    ("stripe-key", StripeDetector, ("k_live_",)),
    ("telegram-token", TelegramBotTokenDetector, (":",)),
    ("twilio-key", TwilioKeyDetector, ("AC", "SK")),
    ("mailchimp-key", MailchimpDetector, ("-us",)),
)
_FORMS = tuple(Form(kind, needs, pattern) for kind, detector, needs in _DETECTORS for pattern in detector().denylist)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and the kinds of the removed secrets, in order, with repeats."""

    text: str
    kinds: tuple[str, ...] = ()


def redact(text: str) -> Redacted:
    """Replace every secret that is found by `[redacted:<kind>]`. The surrounding words stay."""
    found = find(text, _FORMS)
    if not found:
        return Redacted(text)
    return Redacted(replace(text, found, "[redacted:{}]"), tuple(kind for _, _, kind in found))
