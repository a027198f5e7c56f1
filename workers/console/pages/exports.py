"""Exports: the memory of a scope as one archive of the Markdown files that `slowwave memory export` writes."""

import zipfile
from collections.abc import Iterator
from os import SEEK_END
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryDirectory
from typing import IO
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse

from slowwave_server.services.access.audit_log import note_act
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memory_files.export import export_scope, scopes_of
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, reads

KINDS = ("agent", "room", "team")
IN_MEMORY = 4 << 20
CHUNK = 64 << 10
SHOWN = 100


def listing(req: PageRequest) -> Response:
    """List all scopes of the tenant by name, each with its archive, one page at a time."""
    wanted, after = req.word("name"), req.word("after")
    with req.reading() as connection:
        scopes = sorted(f"{kind}:{name}" for kind, name in scopes_of(connection, req.tenant))
    fitting = [scope for scope in scopes if wanted is None or wanted.casefold() in scope.casefold()]
    rest = [scope for scope in fitting if after is None or scope > after]
    return req.page(
        "exports.html",
        scopes=rest[:SHOWN],
        wanted=wanted,
        older=req.link(after=rest[SHOWN - 1]) if len(rest) > SHOWN else None,
        newer=req.link(after=None) if after is not None else None,
    )


def download(req: PageRequest) -> Response:
    """Return the archive of one scope. Its lines are those of an export to a folder."""
    kind, _, name = (req.word("scope") or "").partition(":")
    if kind not in KINDS or not name:
        raise UnknownName("a scope is agent:NAME, room:NAME or team:NAME; the page of exports lists them")
    curation = req.settings.memory.auto_flush.curation
    with TemporaryDirectory(prefix="slowwave-export-") as folder:
        report = export_scope(req.engine, req.tenant, kind, name, Path(folder), append_only=curation.append_only)
        with req.writing() as connection:
            note_act(connection, "export", req.user.name, f"the memory of {kind}:{name}", **req.noted)
        archive = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (closed when it has been sent)
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted(one for one in report.folder.rglob("*") if one.is_file()):
                packed.write(path, path.relative_to(report.folder))
    size = archive.seek(0, SEEK_END)
    archive.seek(0)
    file_name = f"{kind}-{name}.zip"
    headers = {
        "Content-Disposition": f"attachment; filename=\"memory.zip\"; filename*=UTF-8''{quote(file_name, safe='')}",
        "Content-Length": str(size),
    }
    return StreamingResponse(_sent(archive), media_type="application/zip", headers=headers)


def _sent(archive: IO[bytes]) -> Iterator[bytes]:
    with archive:
        while chunk := archive.read(CHUNK):
            yield chunk


LINK = Link(
    title="Exports", group="System", place=4, icon="M12 4v11M8 11l4 4 4-4M4 20h16", shows="memory files as an archive"
)
ROUTES: list[Page] = [reads("/exports", listing, link=LINK), reads("/exports/download", download, role="curator")]
