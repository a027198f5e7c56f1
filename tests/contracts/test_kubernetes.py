"""deploy/kubernetes agrees with the code and with Kubernetes' own schemas; offline, as kubectl builds it."""

import json
import re
import subprocess
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from slowwave.coordination.keys import HIGH_QUEUE, QUEUES
from slowwave.settings import PREFIX, Settings, known_keys, load_settings, variable_of
from slowwave_server.workers.celery_settings import SOFT_SHUTDOWN_SECONDS, celery_settings
from slowwave_server.workers.cli.main import app as shell
from slowwave_server.workers.exporter.catalogue import CATALOGUE
from slowwave_server.workers.exporter.catalogue import PREFIX as METRIC
from slowwave_server.workers.liveness import LOOK_SECONDS, PATIENCE_SECONDS
from tests.support.compose import queues_of
from tests.support.documents import ROOT
from tests.support.manifests import (
    CONTROLLERS,
    KUBERNETES,
    OVERLAYS,
    Resource,
    built,
    container,
    of_kind,
    pod,
    variables,
)
from tests.support.shelling import tree

FOLDERS = (*(f"overlays/{name}" for name in OVERLAYS), "migrate")
VERSIONS = ("1.29", "1.37")
KEDA = json.loads((ROOT / "tests" / "contracts" / "keda.schema.json").read_text(encoding="utf-8"))
PAGE = ROOT / "docs" / "kubernetes.md"

each_folder = pytest.mark.parametrize("folder", FOLDERS)
each_overlay = pytest.mark.parametrize("overlay", FOLDERS[:-1])


def _controllers(folder: str) -> dict[str, Resource]:
    return of_kind(built(folder), *CONTROLLERS)


def _workers(folder: str) -> dict[str, list[str]]:
    commands = {name: container(found).get("args", []) for name, found in _controllers(folder).items()}
    return {name: words for name, words in commands.items() if "worker" in words}


def _check(resource: Resource, version: str) -> None:
    # Both take seconds, which each process of the suite would pay.
    import jsonschema  # noqa: PLC0415
    import kubernetes_validate  # noqa: PLC0415

    if resource["apiVersion"].startswith("keda.sh/"):
        jsonschema.Draft202012Validator(KEDA).validate(resource)
    else:
        kubernetes_validate.validate(resource, version, strict=True)


@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_own_schemas_accept_every_resource(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from kubernetes_validate import utils  # noqa: PLC0415 (seconds, as above)

    # It would read all definitions again for each resource.
    monkeypatch.setattr(utils, "schema_contents", cache(utils.schema_contents))
    seen: list[Resource] = []
    for folder in FOLDERS:
        for resource in built(folder):
            if resource not in seen:
                _check(resource, version)
                seen.append(resource)
    assert len(seen) > 30


def test_a_misspelt_key_is_found() -> None:
    """So that the check above can fail."""
    from jsonschema import ValidationError  # noqa: PLC0415 (seconds, as above)

    resources = built("overlays/scaled-out")
    wrong = deepcopy(_controllers("overlays/scaled-out")["beat"])
    wrong["spec"]["template"]["spec"]["containers"][0]["livenessProb"] = {}
    with pytest.raises(ValidationError, match="livenessProb"):
        _check(wrong, VERSIONS[-1])
    scaled = deepcopy(of_kind(resources, "ScaledObject")["worker-flush"])
    scaled["spec"]["triggers"][0]["metadata"]["listLenght"] = "5"
    with pytest.raises(ValidationError):
        _check(scaled, VERSIONS[-1])


def test_every_file_belongs_to_something_that_is_built() -> None:
    named = set()
    for file in KUBERNETES.rglob("kustomization.yaml"):
        tree_ = yaml.safe_load(file.read_text(encoding="utf-8"))
        paths = [*tree_.get("resources", []), *tree_.get("components", [])]
        paths += [patch["path"] for patch in tree_.get("patches", []) if "path" in patch]
        paths += [name for made in tree_.get("configMapGenerator", []) for name in made["files"]]
        named |= {(file.parent / path).resolve() for path in paths}
    folders = {path / "kustomization.yaml" for path in named if path.is_dir()}
    folders |= {KUBERNETES / folder / "kustomization.yaml" for folder in FOLDERS}
    assert {path for path in KUBERNETES.rglob("*") if path.is_file()} == {p for p in named if p.is_file()} | folders


def test_resources_lie_in_one_namespace_that_refuses_open_pods() -> None:
    for folder in FOLDERS:
        for resource in built(folder):
            if resource["kind"] == "Namespace":
                assert resource["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
            else:
                assert resource["metadata"]["namespace"] == "slowwave", resource["metadata"]["name"]


@each_overlay
def test_mistake_33_every_queue_has_a_consumer_and_every_consumer_a_queue(overlay: str) -> None:
    consumers = {name: queues_of(words) for name, words in _workers(overlay).items()}
    assert {queue for queues in consumers.values() for queue in queues} == set(QUEUES)
    for queues in consumers.values():
        assert [queue for queue in QUEUES if queue in queues] == list(queues), "taken from in their order"
    assert consumers["worker-high"] == (HIGH_QUEUE,), "urgent flushes have a worker that nothing else can occupy"
    for name, words in _workers(overlay).items():
        assert words[words.index("-n") + 1] == f"{name.removeprefix('worker-')}@%h"
        assert "-E" in words, "Flower sees tasks through events"


@each_folder
def test_pods_have_no_rights_and_can_write_to_nothing_that_stays(folder: str) -> None:
    for name, controller in _controllers(folder).items():
        spec, own = pod(controller), container(controller)
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["runAsUser"] == 10001, "the user of the image"
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert own["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert own["resources"]["requests"].keys() == {"cpu", "memory"}, name
        assert own["resources"]["limits"].keys() == {"memory"}, "a throttled worker misses its leases"


@each_folder
def test_no_variable_is_put_in_by_the_cluster_that_a_program_would_refuse(folder: str) -> None:
    """A Service named slowwave-x would be SLOWWAVE_X_PORT, an unknown setting, in every pod of its namespace."""
    known = {variable_of(key) for key in known_keys()} | {"SLOWWAVE_CONFIG"}
    for controller in _controllers(folder).values():
        assert pod(controller)["enableServiceLinks"] is False
        assert {name for name in variables(controller) if name.startswith(PREFIX)} <= known


def test_secrets_are_named_and_never_written() -> None:
    referred = set()
    for folder in FOLDERS:
        assert of_kind(built(folder), "Secret") == {}
        for controller in _controllers(folder).values():
            for name, value in variables(controller).items():
                if re.search(r"PASSWORD|_URL$|AUTH|KEY$", name):
                    assert isinstance(value, dict), name
                    referred.add((value["name"], value["key"]))
        for found in of_kind(built(folder), "TriggerAuthentication").values():
            referred |= {(entry["name"], entry["key"]) for entry in found["spec"]["secretTargetRef"]}
    page = PAGE.read_text(encoding="utf-8")
    made: set[tuple[str, str]] = set()
    for block in re.findall(r"create secret generic (\S+)((?:.*\\\n)*.*)", page):
        made |= {(block[0], key) for key in re.findall(r"--from-literal=([a-z-]+)=", block[1])}
    assert made == referred, "docs/kubernetes.md says how each is made"


def test_the_owner_of_the_tables_is_known_to_the_migration_alone() -> None:
    for folder in FOLDERS:
        for name, controller in _controllers(folder).items():
            secrets = {value["name"] for value in variables(controller).values() if isinstance(value, dict)}
            assert ("slowwave-owner" in secrets) == (name == "migrate")
    images = {container(found)["image"] for folder in FOLDERS for found in _controllers(folder).values()}
    assert len(images) == 1, "the migration is of the version that is rolled out"


@each_folder
def test_programs_are_called_as_they_can_be(folder: str) -> None:
    for controller in _controllers(folder).values():
        words = container(controller).get("args") or container(controller)["command"]
        lines = [words] if words[0] != "sh" else [line.split() for line in words[2].splitlines()]
        for line in lines:
            _check_call(line[line.index("slowwave") + 1 :] if "slowwave" in line else line)


def _check_call(words: list[str]) -> None:
    if words[0] == "celery":
        assert words[1:3] == ["-A", "slowwave_server"]
        assert words[3] in {"worker", "beat", "flower"}
        return
    at: Any = tree(shell)
    if words[0] == "--tenant":
        words = words[2:]
    while hasattr(at, "commands"):
        at = at.commands[words.pop(0)]
    known = {option for parameter in at.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


@each_overlay
def test_the_probes_of_workers_and_beat_look_for_the_sign_that_these_give(overlay: str, tmp_path: Path) -> None:
    asked = {name: found for name, found in _controllers(overlay).items() if name.startswith(("worker-", "beat"))}
    assert len(asked) == 5
    for controller in asked.values():
        file = variables(controller)["SLOWWAVE_LIVENESS_FILE"]
        mounts = {mount["mountPath"] for mount in container(controller)["volumeMounts"]}
        assert str(Path(file).parent) in mounts
        command = container(controller)["livenessProbe"]["exec"]["command"]
        assert command == container(controller)["startupProbe"]["exec"]["command"]
        # A worker is silent while it connects again: for as long as Celery waits between two tries, at most.
        (seconds,) = re.findall(r"-newermt '-(\d+) seconds'", command[2])
        assert int(seconds) > PATIENCE_SECONDS + LOOK_SECONDS + 30
    here = tmp_path / "alive"
    probe = [word.replace(file, str(here)) for word in command]
    codes = [subprocess.run(probe, check=False, capture_output=True).returncode]
    here.touch()
    codes.append(subprocess.run(probe, check=False, capture_output=True).returncode)
    subprocess.run(["touch", "-d", f"-{int(seconds) + 1} seconds", str(here)], check=True)
    codes.append(subprocess.run(probe, check=False, capture_output=True).returncode)
    assert [code == 0 for code in codes] == [False, True, False]


@each_overlay
def test_pages_and_figures_are_asked_at_the_port_they_listen_on(overlay: str) -> None:
    resources = built(overlay)
    policies = [
        rule for found in of_kind(resources, "NetworkPolicy").values() for rule in found["spec"].get("ingress", [])
    ]
    let_in = {port["port"] for rule in policies for port in rule["ports"]}
    ports = set()
    for name in ("exporter", "console", "flower", "gateway"):
        own = container(_controllers(overlay)[name])
        (port,) = own["ports"]
        assert any(str(port["containerPort"]) in word for word in own["args"])
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert own[probe]["httpGet"]["port"] == port["name"]
        (served,) = of_kind(resources, "Service")[name]["spec"]["ports"]
        assert served["targetPort"] == port["name"]
        ports.add(port["containerPort"])
    assert let_in == ports


@each_overlay
def test_nothing_is_let_through_unless_it_is_named(overlay: str) -> None:
    policies = of_kind(built(overlay), "NetworkPolicy")
    default = policies["nothing-by-default"]["spec"]
    assert default == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    for name, policy in policies.items():
        for rule in [*policy["spec"].get("ingress", []), *policy["spec"].get("egress", [])]:
            assert rule["ports"], name
    components = {
        found["metadata"]["labels"]["app.kubernetes.io/component"] for found in _controllers(overlay).values()
    }
    for policy in policies.values():
        for match in policy["spec"]["podSelector"].get("matchExpressions", []):
            assert set(match["values"]) <= components


@each_overlay
def test_workers_are_given_longer_than_their_longest_flush_and_their_soft_shutdown(overlay: str) -> None:
    for name in _workers(overlay):
        controller = _controllers(overlay)[name]
        grace = pod(controller)["terminationGracePeriodSeconds"]
        assert grace > celery_settings(Settings())["task_time_limit"] + SOFT_SHUTDOWN_SECONDS
        threads = "threads" in container(controller)["args"]
        assert variables(controller)["REMAP_SIGTERM"] == ("" if threads else "SIGQUIT"), "threads can't stop softly"


@each_overlay
def test_memory_that_is_asked_for_is_what_was_measured(overlay: str) -> None:
    costs = json.loads((ROOT / "docs" / "proof" / "sizing-costs.json").read_text(encoding="utf-8"))
    for name, words in _workers(overlay).items():
        resources = container(_controllers(overlay)[name])["resources"]
        requested, limit = (
            int(resources[kind]["memory"].removesuffix("Mi")) * 2**20 for kind in ("requests", "limits")
        )
        children = 0 if "threads" in words else int(words[words.index("--concurrency") + 1])
        assert requested >= (1 + children) * costs["worker_bytes"], name
        assert limit >= 2 * requested


@each_overlay
def test_i3_no_node_waits_for_ever_to_be_drained_and_none_takes_all_of_a_kind(overlay: str) -> None:
    resources = built(overlay)
    least = {
        found["spec"]["scaleTargetRef"]["name"]: found["spec"]["minReplicaCount"]
        for found in of_kind(resources, "ScaledObject").values()
    }
    budgets = of_kind(resources, "PodDisruptionBudget")
    assert budgets.keys() == _controllers(overlay).keys()
    for name, budget in budgets.items():
        controller = _controllers(overlay)[name]
        spec = budget["spec"]
        count = controller["spec"].get("replicas", least.get(name))
        assert spec["selector"] == controller["spec"]["selector"]
        assert spec.get("maxUnavailable") == 1 or count > spec["minAvailable"] > 0, name


@pytest.mark.parametrize("overlay", FOLDERS[1:-1])
def test_what_scales_is_scaled_by_the_queues_it_takes_from(overlay: str) -> None:
    commands = _workers(overlay)
    secrets = of_kind(built(overlay), "TriggerAuthentication")
    for found in of_kind(built(overlay), "ScaledObject").values():
        target = found["spec"]["scaleTargetRef"]["name"]
        assert "replicas" not in _controllers(overlay)[target]["spec"], "or each apply would undo what KEDA decided"
        lists = [trigger for trigger in found["spec"]["triggers"] if trigger["type"] == "redis"]
        (by_age,) = (trigger for trigger in found["spec"]["triggers"] if trigger["type"] == "prometheus")
        assert by_age["metricType"] == "Value", "an age is not divided by the number of pods"
        assert {trigger["metadata"]["listName"] for trigger in lists} <= set(queues_of(commands[target]))
        assert {trigger["authenticationRef"]["name"] for trigger in lists} <= secrets.keys()
        query = by_age["metadata"]["query"]
        (metric, asked) = re.findall(rf'{METRIC}(\w+){{queue=~"([^"]+)"}}', query)[0]
        assert CATALOGUE[metric].labels == ("queue",)
        assert set(asked.split("|")) <= set(queues_of(commands[target]))
        assert found["spec"]["minReplicaCount"] >= 1, "sweeps find what is due, and a worker runs them"


def test_the_settings_that_are_mounted_are_settings() -> None:
    load_settings({}, file=KUBERNETES / "base" / "slowwave.yaml")
    for folder in FOLDERS[:-1]:
        (settings,) = of_kind(built(folder), "ConfigMap")
        for controller in _controllers(folder).values():
            volumes = {volume["name"]: volume for volume in pod(controller)["volumes"]}
            assert volumes["settings"]["configMap"]["name"] == settings, "changed settings are a rollout"
            assert variables(controller)["SLOWWAVE_CONFIG"] == "/etc/slowwave/slowwave.yaml"
