"""Images that a deployment pulls: each has its registry's digest, or stands in the list of those without one."""

import hashlib
import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from proof.release.images import UNPINNED, NotAnswered, ask_registry, files, listed, pin, unpinned, used
from tests.support.documents import ROOT

MANIFEST = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []})
DIGEST = f"sha256:{hashlib.sha256(MANIFEST.encode()).hexdigest()}"
OTHER = f"sha256:{'1' * 64}"


class _Registry(BaseHTTPRequestHandler):
    """The part of the OCI distribution protocol that answers for one image, `any/redis:8`."""

    def do_GET(self) -> None:
        found = self.path in {"/v2/", "/v2/any/redis/manifests/8"}
        body = MANIFEST.encode() if found and "manifests" in self.path else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/vnd.oci.image.index.v1+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SimpleNamespace]:
    """A registry on the loopback address, which skopeo may ask without TLS."""
    if shutil.which("skopeo") is None:
        pytest.skip("skopeo is not installed")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Registry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"127.0.0.1:{server.server_port}"
        settings = tmp_path / "registries.conf"
        settings.write_text(f'[[registry]]\nlocation = "{host}"\ninsecure = true\n')
        yield SimpleNamespace(host=host, options=("--registries-conf", str(settings)))
        server.shutdown()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Copies of the files that name images."""
    for file in (*files(ROOT), ROOT / UNPINNED):
        copy = tmp_path / "tree" / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    return tmp_path / "tree"


def test_every_image_has_a_digest_or_a_reason_for_having_none() -> None:
    reasons = listed(ROOT)
    assert unpinned(ROOT) == reasons.keys(), f"`make digests`, or say in {UNPINNED} why not"
    assert all(reasons.values())
    assert {image.partition(":")[0] for image in used(ROOT)} == {
        "pgvector/pgvector",
        "prom/prometheus",
        "python",
        "redis",
    }


def test_no_file_has_a_form_of_naming_images_that_is_not_read() -> None:
    """Another instruction, or another key, would be an image that nobody pins."""
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    assert "# syntax=" not in dockerfile
    stages = {line.split()[-1] for line in dockerfile.splitlines() if line.startswith("FROM ") and " AS " in line}
    assert {line.split("=")[1].split()[0] for line in dockerfile.splitlines() if "--from=" in line} <= stages


def test_pinning_writes_each_digest_behind_its_tag(tree: Path) -> None:
    images = unpinned(tree) | {image.partition("@")[0] for image in used(tree)}
    asked: list[str] = []

    def digest_of(image: str) -> str:
        asked.append(image)
        return DIGEST

    assert pin(tree, digest_of).keys() == images
    assert sorted(asked) == sorted(images), "each is asked for once"
    assert used(tree) == {f"{image}@{DIGEST}" for image in images}
    assert (unpinned(tree), listed(tree)) == (set(), {})
    assert "image: slowwave:local\n" in (tree / "compose.yaml").read_text()
    assert pin(tree, lambda _: OTHER)
    assert used(tree) == {f"{image}@{OTHER}" for image in images}, "a second time renews them"


def test_where_one_registry_is_silent_no_file_changes(tree: Path) -> None:
    before = {file: file.read_text() for file in files(tree)}

    def digest_of(image: str) -> str:
        if image.startswith("redis"):
            raise NotAnswered(f"the registry of {image} did not answer")
        return DIGEST

    with pytest.raises(NotAnswered):
        pin(tree, digest_of)
    assert {file: file.read_text() for file in files(tree)} == before


def test_a_digest_is_that_of_the_registrys_manifest(registry: SimpleNamespace) -> None:
    assert ask_registry(f"{registry.host}/any/redis:8", registry.options) == DIGEST


def test_an_image_that_a_registry_lacks_has_no_digest(registry: SimpleNamespace) -> None:
    with pytest.raises(NotAnswered, match=r"the registry of \S+/any/other:8 did not answer: .+"):
        ask_registry(f"{registry.host}/any/other:8", registry.options)
