"""Add captions and alternative texts of images to the text, because models read no pictures, but people talk about
them.

Captions come from two places: Markdown images in the text, and the metadata of an event. In the metadata, the caption
is the field `caption`, `alt`, `alt_text`, `blip_caption` or `image_caption`, of the event itself or of an entry of
`images`, `attachments` or `files`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from slowwave.recall.rendering import one_line, shorten
from slowwave_server.domain.events import Event

MAX_CAPTION = 300
MOST_CAPTIONS = 10
_MARKDOWN = re.compile(r"!\[([^\]\n]{0,500})\]\([^)\s]{0,2000}(?:\s+\"([^\"\n]{0,500})\")?\)")
_CAPTION_KEYS = ("caption", "alt", "alt_text", "blip_caption", "image_caption")
_LISTS = ("images", "attachments", "files")


def captioned(event: Event) -> Event:
    """Return the event with "[image: CAPTION]" in its text for each image that has a caption."""
    text = _MARKDOWN.sub(lambda found: _marked(found[1] or found[2] or ""), event.content)
    marks = [mark for caption in _captions(event.metadata) if (mark := _marked(caption)) and mark not in text]
    text = " ".join((text, *list(dict.fromkeys(marks))[:MOST_CAPTIONS])).strip()
    return event if text == event.content else replace(event, content=text)


def _captions(metadata: Mapping[str, Any]) -> Iterator[str]:
    entries: list[Any] = [metadata]
    for name in _LISTS:
        found = metadata.get(name)
        entries.extend(found if isinstance(found, list) else [found])
    for entry in entries:
        if isinstance(entry, Mapping):
            yield from (entry[key] for key in _CAPTION_KEYS if isinstance(entry.get(key), str))


def _marked(caption: str) -> str:
    clean = shorten(one_line(caption), MAX_CAPTION).strip()
    return f"[image: {clean}]" if clean else ""
