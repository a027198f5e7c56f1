"""Front-end files of other projects are those of the registry, unchanged, and each has its licence beside it."""

import hashlib

from slowwave_server.workers.console.templating import FOLDER

VENDOR = FOLDER / "static" / "vendor"
LICENCES = {"htmx.org": "htmx.LICENSE.txt", "idiomorph": "idiomorph.LICENSE.txt", "uplot": "uplot.LICENSE.txt"}


def test_every_vendored_file_has_its_pinned_digest_and_licence() -> None:
    listed = [line.split() for line in (VENDOR / "VENDORED.txt").read_text().splitlines()[2:]]
    assert {file for _, _, file, _ in listed} == {one.name for one in VENDOR.iterdir() if one.suffix in {".js", ".css"}}
    for package, _licence, file, digest in listed:
        assert hashlib.sha256((VENDOR / file).read_bytes()).hexdigest() == digest, file
        assert (VENDOR / LICENCES[package.split("@")[0]]).read_text().strip()
