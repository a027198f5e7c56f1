"""Find the parts of a conversation that are not worth keeping.

These are greetings, tool calls, worker internals, debug output, recalled memories and pasted code. The module tells
whether a whole event is noise, and which parts of a text are noise. The raw event is stored elsewhere in any case.
"""

import re

from slowwave_server.domain.events import Event

MILESTONES = frozenset(("run_queued", "run_finished", "run_failed", "run_blocked"))
"""Values of `metadata["event"]` with which a task event is an outcome, not telemetry."""
ENDINGS = MILESTONES - {"run_queued"}
"""The milestones that end a run."""

_MACHINE_ROLES = frozenset(("tool", "function", "system", "developer", "debug", "log", "internal", "trace"))
_INTERNAL_KEYS = ("telemetry", "recalled", "internal", "debug")
_MACHINE_KEYS = (
    "tool_calls",
    "tool_call_id",
    "tool_use_id",
    "function_call",
    *_INTERNAL_KEYS,
)

# Recalled memories are not evidence for themselves: counting them would confirm a statement that nobody repeated.
_OPENING = re.compile(
    r"```|~~~|<(?P<tag>system[_-](?:reminder|notification)|task-notification|local-command-[a-z]{3,9}|"
    r"command-(?:name|message|args)|memory|memories|context|system|recalled|thinking|tool_call|tool_result|"
    r"tool_response|function_call)\b[^>\n]{0,200}>",
    re.IGNORECASE,
)
_EDIT = re.compile(r"^<{7} .*?(?:^>{7}[^\n]*|\Z)", re.MULTILINE | re.DOTALL)
"""Both sides of a merge conflict, or of an edit."""
_MACHINE_LINE = re.compile(
    r"^\s{0,40}(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|"  # a log line begins with a time
    r"\[?(?:DEBUG|TRACE|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\b[\]:]?\s|"
    r"Traceback \(most recent|File \"[^\"\n]{0,300}\", line \d|at [\w.$<>]{3,200}\([\w.]{1,100}:\d|"
    r"(?:tool_call|tool_result|function_call|worker|task_id|request_id|trace_id|span_id|pid)\s?[=:]|"
    r"(?:Calling|Invoking|Running|Executing|Called|Used) (?:the )?(?:tool|function|command)\b|"
    r"[\[{]\s{0,20}[\"{\[\]}]|[\"']?[\w.-]{1,60}[\"']?\s?[:=]\s?[\[{\"]|[\]})]{1,4},?\s{0,20}$|"
    r"\$ \S|>>> |(?:diff --git|index [0-9a-f]{7}|@@ -\d)|"
    r"(?:import|from|def|class|return|const|let|var|function|SELECT|INSERT|UPDATE|DELETE)\s\S.{0,300}[;:{(]\s{0,20}$)",
)
# The marks after a memory, a summary's line and an event of another conversation in a prompt's context and in `search`.
# A line with such a mark is quoted, whatever the surrounding text is.
_RECALLED_LINE = re.compile(
    r"\[(?:memory (?:(?:[0-9a-f]{8}-[0-9a-f-]{15})?[0-9a-f]{4})?[0-9a-f]{8}(?:, [^\n\]]{1,400})?|"
    r"day \d{4}-\d\d-\d\d v\d{1,9}(?: [^\n]{1,250}#\d{1,19})?|said [^\n]{0,250}#\d{1,19})\]"
)
_RECALLED = ("[memory ", "[day ", "[said ")
_CHATTER = re.compile(
    r"(?:(?:hi|hello|hey|yo|good (?:morning|afternoon|evening|night)|thanks|thank you|thx|ty|cheers|ok|okay|k|sure|"
    r"great|cool|nice|"
    r"perfect|awesome|got it|sounds good|you're welcome|no problem|np|bye|goodbye|see you|see ya|take care|have a "
    r"(?:great|good|nice) "
    r"(?:day|one|evening|weekend)|how are you|how are you doing|how's it going|what's up|nice to meet you|long time "
    r"no see|welcome|"
    r"hope you're well|yes|yeah|yep|no|nope|lol|haha|wow|again|there|everyone|all|so much|very much|a lot|you|too|"
    r"done|continue|go on|please)\b[\s,.!?:;)(-]{0,8}){1,12}",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]{2}")
MAX_CHATTER = 80
"""Characters. A longer greeting says something else too."""


def is_noise(event: Event) -> bool:
    """Return True for an event without intent of user or assistant, final milestone, tool call or result."""
    if _LETTER.search(event.content) is None:
        return True
    if event.kind == "task":
        return event.metadata.get("event") not in MILESTONES
    if event.kind == "tool":
        return any(event.metadata.get(key) for key in _INTERNAL_KEYS)
    if event.role.lower() in _MACHINE_ROLES:
        return True
    return any(event.metadata.get(key) for key in _MACHINE_KEYS)


def ends_a_run(event: Event) -> bool:
    """Return True if this event ends a run of a task, in success or failure."""
    return event.kind == "task" and event.metadata.get("event") in ENDINGS


def is_chatter(text: str) -> bool:
    """Return True if a text consists only of greetings, thanks and other routine words."""
    return len(text) <= MAX_CHATTER and _CHATTER.fullmatch(text.strip().replace("\u2019", "'")) is not None


def without_machinery(text: str) -> str:
    """Remove fenced code, recalled or internal blocks, log lines, stack traces and raw JSON from `text`."""
    if "```" in text or "~~~" in text or "<" in text:
        text = _without_blocks(text)
    if any(mark in text for mark in _RECALLED):
        text = "\n".join(line for line in text.split("\n") if not _RECALLED_LINE.search(line))
    if "\n" not in text and len(text) < 4 * 80 and text[:1] not in "[{$>\"'":
        return "" if _MACHINE_LINE.match(text) else text
    return "\n".join(line for line in text.split("\n") if not _MACHINE_LINE.match(line))


def _without_blocks(text: str) -> str:
    """Remove blocks. An unclosed block extends to the end of the text, because half a code block is code, too."""
    text = _EDIT.sub("", text)
    low = text.lower()
    parts: list[str] = []
    at = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < at:
            continue
        parts += [text[at : opening.start()], "\n"]
        closing = f"</{opening['tag'].lower()}>" if opening["tag"] else opening.group()
        end = low.find(closing, opening.end())
        at = len(text) if end < 0 else end + len(closing)
    return "".join(parts) + text[at:]
