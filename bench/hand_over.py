"""A program for the `command` driver: it writes its prompt to a file and waits for a file with the answer.

    python bench/hand_over.py FOLDER NAME

The prompt goes to FOLDER/NAME-DIGEST.prompt.txt, the answer is read from FOLDER/NAME-DIGEST.answer.json. The digest
identifies the prompt: an answer to another prompt is never read.
"""

import sys
import time
from hashlib import sha256
from pathlib import Path

LOOK_AGAIN_SECONDS = 0.5


def main(folder: Path, name: str) -> int:
    """Pass one prompt on; the driver ends the program at its timeout."""
    prompt = sys.stdin.read()
    stem = f"{name}-{sha256(prompt.encode()).hexdigest()[:8]}"
    (folder / f"{stem}.prompt.txt").write_text(prompt, encoding="utf-8")
    answer = folder / f"{stem}.answer.json"
    while not answer.is_file():
        time.sleep(LOOK_AGAIN_SECONDS)
    sys.stdout.write(answer.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
