"""Memory as Markdown files that people read, edit, copy and compare: folder names, lines, documents."""

from slowwave_server.domain.memory_files.documents import (
    TRANSCRIPT,
    Document,
    Entry,
    decode_bytes,
    encode_document,
    parse_document,
)
from slowwave_server.domain.memory_files.headers import FileHeader
from slowwave_server.domain.memory_files.lines import BadMark, FileMemory, parse_line, render_line
from slowwave_server.domain.memory_files.names import encode_name, scope_folder
from slowwave_server.domain.memory_files.rendering import render_daily, render_memory_md
from slowwave_server.domain.memory_files.rewriting import rewrite
from slowwave_server.domain.memory_files.summaries import FileSummary

__all__ = [
    "TRANSCRIPT",
    "BadMark",
    "Document",
    "Entry",
    "FileHeader",
    "FileMemory",
    "FileSummary",
    "decode_bytes",
    "encode_document",
    "encode_name",
    "parse_document",
    "parse_line",
    "render_daily",
    "render_line",
    "render_memory_md",
    "rewrite",
    "scope_folder",
]
