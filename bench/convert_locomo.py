"""Turn conversations in LoCoMo's form into the lines that `slowwave import events` takes.

    python bench/convert_locomo.py FILE.json > events.jsonl

A conversation becomes an agent, each of its sessions a session. The first speaker is the user, the second the
assistant. A session's time is read as UTC, and each turn is one minute later than the previous one. Needs only Python.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

TIME_FORM = "%I:%M %p on %d %B, %Y"
USAGE = "usage: python bench/convert_locomo.py FILE.json > events.jsonl"


def events(entry: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield one conversation as events, session after session. Raises KeyError and ValueError if the form is wrong."""
    said = entry["conversation"]
    for session in sorted((key for key in said if re.fullmatch(r"session_\d+", key)), key=_number):
        begun = datetime.strptime(said[f"{session}_date_time"], TIME_FORM).replace(tzinfo=UTC)
        for place, turn in enumerate(said[session]):
            yield {
                "agent": entry["sample_id"],
                "session": session,
                "role": "user" if turn["speaker"] == said["speaker_a"] else "assistant",
                "name": turn["speaker"],
                "content": turn["text"],
                "at": (begun + timedelta(minutes=place)).isoformat(),
                "key": f"{entry['sample_id']}:{turn['dia_id']}",
            }


def _number(session: str) -> int:
    return int(session.removeprefix("session_"))


def main(arguments: list[str]) -> int:
    """Write the lines of a file to stdout. Return 0, or 2 with a sentence on stderr."""
    if len(arguments) != 1:
        sys.stderr.write(f"{USAGE}\n")
        return 2
    try:
        for entry in json.loads(Path(arguments[0]).read_text(encoding="utf-8")):
            sys.stdout.writelines(json.dumps(event, ensure_ascii=False) + "\n" for event in events(entry))
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.stderr.write(f"{arguments[0]} is not in LoCoMo's form: {type(error).__name__}: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
