"""An endpoint with OpenAI's API over real HTTP, on loopback, that fails on request.

    with FakeModel(answer={"memories": []}) as fake:            # always the same
    with FakeModel(answer=[rate_limited(2), "NO_REPLY"]) as fake:   # in this order, the last one for ever
    with FakeModel(answer=lambda asked: {"said": asked.user[:20]}) as fake:
        … OpenAIDriver(base_url=fake.base_url, …) …
        fake.calls, fake.tokens, fake.asked, fake.most_at_once

A str is sent unchanged, other JSON values as JSON text; a Reply scripts everything else. The endpoint counts the usage
that it reports, so `tokens` must equal the sum in a ledger: a refused call costs nothing, but a call whose answer was
cut does.
"""

import hashlib
import json
import math
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

from proof.fake_replies import Asked, Reply, refused
from slowwave.recall.tokens import estimate

DIMENSIONS = 384
_PATIENCE_SECONDS = 30.0


Script = Callable[[Asked], Any] | Sequence[Any] | Any


class FakeModel:
    """A server in a thread, from `with` to its end.

    refuses: fields of a request that it answers with 400 ("max_tokens", "temperature", "response_format.json_schema"
    for this type …), as endpoints do that don't know them. key: if given, any other key gets 401.
    """

    def __init__(
        self, answer: Script = "OK", *, model: str = "fake-1", refuses: Sequence[str] = (), key: str | None = None
    ) -> None:
        self.answer = answer
        self.model = model
        self.refuses = tuple(refuses)
        self.key = key
        self.asked: list[Asked] = []
        self.answered = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.most_at_once = 0
        self._now = 0
        self._place = 0
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def calls(self) -> int:
        """All received requests, whatever their result."""
        with self._lock:
            return len(self.asked)

    @property
    def tokens(self) -> int:
        """The number of all tokens: questions and answers."""
        with self._lock:
            return self.input_tokens + self.output_tokens

    def forget(self, answer: Script, *, refuses: Sequence[str] = ()) -> None:
        """Answer in this way from now on, and reset the counts."""
        with self._lock:
            self.answer, self.refuses = answer, tuple(refuses)
            self.asked = []
            self.answered = self.input_tokens = self.output_tokens = self.most_at_once = self._place = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join(_PATIENCE_SECONDS)
        self._server.server_close()

    def wait(self, seconds: float) -> None:
        """Wait, or stop with the server."""
        self.closing.wait(seconds)

    def enter(self, asked: Asked) -> None:
        with self._lock:
            self.asked.append(asked)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)

    def leave(self) -> None:
        with self._lock:
            self._now -= 1

    def reply_to(self, asked: Asked) -> Reply:
        """Return the reply, and count its tokens if it is an answer."""
        if self.key is not None and asked.headers.get("authorization") != f"Bearer {self.key}":
            return refused(401, f"wrong key {asked.headers.get('authorization')}", code="invalid_api_key")
        if unknown := self._unknown_field(asked):
            return refused(400, f"Unsupported parameter: '{unknown}'", code="unsupported_parameter")
        if asked.path.endswith("/embeddings"):
            return self._vectors(asked)
        said = self._next(asked)
        reply = said if isinstance(said, Reply) else Reply(content=said)
        if reply.status != 200:
            return reply
        text = reply.content if isinstance(reply.content, str) else json.dumps(reply.content)
        counted = (asked.input_tokens, estimate(text)) if isinstance(reply.usage, bool) else reply.usage
        self._count(*counted)
        return reply if reply.body is not None else replace(reply, body=self._completion(text, reply, counted))

    def _next(self, asked: Asked) -> Any:
        if callable(self.answer):
            return self.answer(asked)
        if isinstance(self.answer, list | tuple):
            with self._lock:
                place = min(self._place, len(self.answer) - 1)
                self._place += 1
            return self.answer[place]
        return self.answer

    def _unknown_field(self, asked: Asked) -> str | None:
        kind = (asked.body.get("response_format") or {}).get("type")
        there = {*asked.body, f"response_format.{kind}"}
        return next((name for name in self.refuses if name in there), None)

    def _count(self, asked: int, said: int) -> None:
        with self._lock:
            self.answered += 1
            self.input_tokens += asked
            self.output_tokens += said

    def _completion(self, text: str, reply: Reply, counted: tuple[int, int]) -> dict[str, Any]:
        message = {"role": "assistant", "content": text, "refusal": None}
        body: dict[str, Any] = {
            "id": f"chatcmpl-{self.answered}",
            "object": "chat.completion",
            "created": 0,
            "model": self.model,
            "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason, "logprobs": None}],
        }
        if reply.usage is not False:
            asked, said = counted
            body["usage"] = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
        return body

    def _vectors(self, asked: Asked) -> Reply:
        """Return vectors of texts: the same words give the same direction. `answer` may script failures, not
        vectors.
        """
        said = self._next(asked)
        if isinstance(said, Reply) and (said.status != 200 or said.cut or said.latency or said.drip or said.body):
            if said.status != 200 or said.cut or said.drip or said.body:
                return said
            self.wait(said.latency)
        given = asked.body["input"]
        texts = [given] if isinstance(given, str) else given
        size = asked.body.get("dimensions") or DIMENSIONS
        rows = [{"object": "embedding", "index": i, "embedding": vector(t, size)} for i, t in enumerate(texts)]
        tokens = sum(estimate(text) for text in texts)
        self._count(tokens, 0)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return Reply(body={"object": "list", "data": rows, "model": self.model, "usage": usage})


def vector(text: str, size: int = DIMENSIONS) -> list[float]:
    """Return a vector of length 1; each word has a dimension, by its digest."""
    values = [0.0] * size
    for word in text.lower().split() or [""]:
        digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
        values[int.from_bytes(digest[:4], "big") % size] += 1 if digest[4] % 2 else -1
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return [value / length for value in values]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    fake: FakeModel

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the error, because some tests disconnect on purpose."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are sent separately, and one would wait for the other

    def do_POST(self) -> None:
        fake = cast("_Server", self.server).fake
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
        asked = Asked(self.path, body, {name.lower(): value for name, value in self.headers.items()})
        fake.enter(asked)
        try:
            reply = fake.reply_to(asked)
            fake.wait(reply.latency)
            self._send(fake, reply)
        finally:
            fake.leave()

    def _send(self, fake: FakeModel, reply: Reply) -> None:
        if reply.cut == "before":
            self._hang_up()
            return
        answer = reply.body if reply.status == 200 else reply.error
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.drip:
            self.send_header("Connection", "close")
            self.end_headers()
            self._drip(fake, reply.drip)
            return
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if reply.cut == "within":
            self.wfile.write(data[: len(data) // 2])
            self.wfile.flush()
            self._hang_up()
            return
        self.wfile.write(data)

    def _drip(self, fake: FakeModel, seconds: float) -> None:
        self.close_connection = True
        while not fake.closing.wait(seconds):
            self.wfile.write(b" ")
            self.wfile.flush()

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name that http.server gives it)
        """Log nothing: tests read what they need from the fake."""
