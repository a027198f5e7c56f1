"""deploy/kubernetes as kubectl builds it: no cluster is needed for that."""

import shutil
import subprocess
from functools import cache
from typing import Any

import pytest
import yaml

from tests.support.documents import ROOT

KUBERNETES = ROOT / "deploy" / "kubernetes"
OVERLAYS = ("small", "scaled-out", "with-model")
CONTROLLERS = ("Deployment", "StatefulSet", "Job")

Resource = dict[str, Any]


@cache
def built(folder: str) -> tuple[Resource, ...]:
    """The resources of a folder with a kustomization. Skips where kubectl is not installed."""
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    command = ["kubectl", "kustomize", str(KUBERNETES / folder)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, result.stderr
    return tuple(yaml.safe_load_all(result.stdout))


def of_kind(resources: tuple[Resource, ...], *kinds: str) -> dict[str, Resource]:
    """Those of these kinds, by name."""
    return {found["metadata"]["name"]: found for found in resources if found["kind"] in kinds}


def container(controller: Resource) -> Resource:
    """The one container of its pods."""
    (only,) = pod(controller)["containers"]
    found: Resource = only
    return found


def pod(controller: Resource) -> Resource:
    """The template of its pods."""
    found: Resource = controller["spec"]["template"]["spec"]
    return found


def variables(controller: Resource) -> dict[str, Any]:
    """The variables of its container: plain text, or the key of a Secret."""
    return {
        entry["name"]: entry.get("value", entry.get("valueFrom", {}).get("secretKeyRef"))
        for entry in container(controller).get("env", [])
    }
