"""Requests that a fake model received, and replies that a test scripts for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slowwave.recall.tokens import estimate


@dataclass(frozen=True)
class Asked:
    """One request as it arrived. body: its JSON; headers: names in lower case."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def system(self) -> str:
        return self._of("system")

    @property
    def user(self) -> str:
        return self._of("user")

    @property
    def schema(self) -> Any:
        """The JSON schema that was sent, in either way; else None."""
        wanted = self.body.get("response_format") or {}
        return (wanted.get("json_schema") or wanted).get("schema")

    @property
    def input_tokens(self) -> int:
        return sum(estimate(text_of(message.get("content"))) for message in self.body.get("messages", []))

    def _of(self, role: str) -> str:
        messages = self.body.get("messages", [])
        return "\n".join(text_of(message.get("content")) for message in messages if message.get("role") == role)


@dataclass(frozen=True)
class Reply:
    """A reply. content: see FakeModel; latency: seconds before it.

    cut: "before": the connection ends without an answer; "within": it ends in the middle of the answer. usage: False
    omits it, a pair gives (input, output) tokens. error: the body of a status other than 200. drip: the seconds between
    two blanks that are sent for ever instead of an answer.
    """

    content: Any = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    latency: float = 0.0
    cut: str = ""
    finish_reason: str = "stop"
    usage: bool | tuple[int, int] = True
    error: Any = None
    drip: float = 0.0
    body: Any = None


def refused(
    status: int, message: str = "no", *, code: str | None = None, headers: Mapping[str, str] | None = None
) -> Reply:
    """Return an error in OpenAI's form."""
    error = {"error": {"message": message, "type": "fake_error", "param": None, "code": code}}
    return Reply(status=status, error=error, headers=headers or {})


def rate_limited(retry_after: float | str | None = None) -> Reply:
    """429, with `Retry-After` (seconds or an HTTP date) if given."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return refused(429, "slow down", code="rate_limit_exceeded", headers=headers)


def server_error(status: int = 500) -> Reply:
    """Return a server error, 500 by default."""
    return refused(status, "something broke")


def cut_connection(when: str = "before") -> Reply:
    """Return a reply that cuts the connection. when: "before" or "within" the answer."""
    return Reply(content="a beginning without an end", cut=when)


def invalid_json() -> Reply:
    """Return a reply that ends within its JSON."""
    return Reply(content='{"memories": [')


def truncated(content: Any = '{"memories": [{"text": "Priya li') -> Reply:
    """Return a reply that ends because of its length limit."""
    return Reply(content=content, finish_reason="length")


def slow(seconds: float, content: Any = "") -> Reply:
    """Return a reply after this many seconds."""
    return Reply(content=content, latency=seconds)


def text_of(content: Any) -> str:
    """Return the text of a message, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [] if isinstance(part, Mapping))
