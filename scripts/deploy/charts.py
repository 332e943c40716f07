"""Checks the Helm chart: rendered manifests are valid, and with the default values equal to the base of Kustomize."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml

import manifests
from manifests import VERSIONS, same

Values = dict[str, Any]
Resource = dict[str, Any]
IMAGE = {"image": {"repository": "registry.example.com/darkroom"}}
# Every value that adds or removes something.
FULL = {
    "image": {"repository": "registry.example.com/darkroom", "digest": f"sha256:{'0' * 64}", "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "registry"}],
    "settings": {"allow-hosts": ["*.example.com"], "worker-memory": None, "queue-depth": 4096},
    "env": [{"name": "DARKROOM_S3_REGION", "value": "eu-central-1"}],
    "autoscaling": {"enabled": False},
    "replicaCount": 5,
    "podDisruptionBudget": {"enabled": False},
    "networkPolicy": {"extraEgress": [{"to": [{"ipBlock": {"cidr": "10.0.0.9/32"}}], "ports": [{"port": 9000}]}]},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "podLabels": {"team": "web"}, "podAnnotations": {"example.com/note": "text"}, "nodeSelector": {"disk": "fast"},
    "tolerations": [{"key": "images", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
}
MISTAKES = [
    ({}, "image.repository"),
    ({"image": {"repositry": "registry.example.com/darkroom"}}, "repositry"),
    (IMAGE | {"settings": {"port": "http"}}, "port"),
    (IMAGE | {"replicas": 3}, "replicas"),
]


def checks(folder: Path) -> Iterator[tuple[str, Callable[[Path], None]]]:
    chart = folder / "helm/darkroom"
    base = folder / "kubernetes/base"
    if not shutil.which("helm") and not find_spec("helm_python"):
        print("skipped helm: neither helm nor its library for this platform is installed")
        return
    yield "helm: lint finds no mistake", lambda _: lint(chart)
    yield "helm: the default values render the base of Kustomize", lambda _: compare(chart, base)
    yield "helm: the server starts with the rendered settings", partial(start, chart)
    yield "helm: a rendering with all values is valid", lambda _: full(chart)
    yield "helm: names follow the release", lambda _: names(chart)
    yield "helm: mistakes in values are refused", lambda _: refuse(chart)


def lint(chart: Path) -> None:
    if shutil.which("helm"):
        values = [f"--set=image.repository={IMAGE['image']['repository']}"]
        run = subprocess.run(["helm", "lint", "--strict", chart, *values], capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
    else:
        import helm_python

        report = helm_python.lint(chart, IMAGE, strict=True)
        # Severity 1 is information, such as the recommendation of an icon.
        found = [one for one in report["messages"] if one["severity"] != 1]
        assert report["total_charts_linted"] == 1 and not found and not report["errors"], report


def render(chart: Path, values: Values, name: str = "darkroom") -> dict[tuple[str, str], Resource]:
    """The resources of `helm template`, by kind and name; fails with what Helm says."""
    if shutil.which("helm"):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump(values, file)
            file.flush()
            run = subprocess.run(["helm", "template", name, chart, "--values", file.name], capture_output=True, text=True)
        if run.returncode != 0:
            raise ValueError(run.stderr)
        text = run.stdout
    else:
        import helm_python

        with helm_python.Chart.load(chart) as loaded:
            try:
                loaded.validate_schema(values)
                rendered = loaded.render(values, name=name, namespace="darkroom", is_install=True)
            except helm_python.HelmError as error:
                raise ValueError(str(error)) from None
        text = "\n---\n".join(text for file, text in rendered.items() if file.endswith(".yaml"))
    documents = [one for one in yaml.safe_load_all(text) if one]
    return {(one["kind"], one["metadata"]["name"]): one for one in documents}


def compare(chart: Path, base: Path) -> None:
    rendered = render(chart, IMAGE)
    settings = settings_of(rendered)
    same("settings", settings, yaml.safe_load((base / "darkroom.yaml").read_text()))
    expected = {(one["kind"], one["metadata"]["name"]): one for one in manifests.documents(base)}
    secret = expected.pop(("Secret", "darkroom"))
    configuration = rendered.pop(("ConfigMap", "darkroom"))
    same("resources", set(rendered), set(expected))
    for key, resource in expected.items():
        same(" ".join(key), plain(rendered[key]), plain(resource))
    resources = rendered | {("Secret", "darkroom"): secret, ("ConfigMap", "darkroom"): configuration}
    for check in (manifests.schemas, manifests.labels, manifests.ports, manifests.volumes, manifests.restricted,
                  manifests.budgets, manifests.network):
        check(resources, settings)


def plain(value: Any) -> Any:
    """Without what a chart and Kustomize say in their own ways: labels beside the name, annotations, and the image."""
    if isinstance(value, dict):
        own = ("annotations", "image", "imagePullPolicy", "app.kubernetes.io/instance", "app.kubernetes.io/version",
               "app.kubernetes.io/managed-by", "helm.sh/chart")
        return {name: plain(one) for name, one in value.items() if name not in own}
    return [plain(one) for one in value] if isinstance(value, list) else value


def start(chart: Path, server: Path) -> None:
    for values in (IMAGE, FULL):
        with tempfile.TemporaryDirectory(prefix="deploy-") as name:
            configuration, = (one for (kind, _), one in render(chart, values).items() if kind == "ConfigMap")
            (Path(name) / "darkroom.yaml").write_text(configuration["data"]["darkroom.yaml"])
            manifests.start(Path(name), {}, server)


def full(chart: Path) -> None:
    resources = render(chart, FULL)
    monitor = resources.pop(("ServiceMonitor", "darkroom"))
    for resource in resources.values():
        for version in VERSIONS:
            kubernetes_validate.validate(resource, version, strict=True)
    manifests.restricted(resources, {})
    manifests.monitor(monitor, resources)
    kinds = {kind for kind, _ in resources}
    assert not kinds & {"HorizontalPodAutoscaler", "PodDisruptionBudget"}, kinds
    deployment = resources["Deployment", "darkroom"]["spec"]
    same("replicas", deployment["replicas"], 5)
    pod = deployment["template"]
    same("the image", pod["spec"]["containers"][0]["image"], f"registry.example.com/darkroom@sha256:{'0' * 64}")
    assert set(deployment["selector"]["matchLabels"].items()) < set(pod["metadata"]["labels"].items())
    assert "10.0.0.9" in json.dumps(resources["NetworkPolicy", "darkroom"])
    settings = settings_of(resources)
    assert "worker-memory" not in settings and settings["allow-hosts"] == ["*.example.com"], settings


def names(chart: Path) -> None:
    for release, name in (("images", "images-darkroom"), ("darkroom-eu", "darkroom-eu")):
        resources = render(chart, IMAGE | {"serviceMonitor": {"enabled": True}}, release)
        same("names", {found.removesuffix("-admin") for _, found in resources}, {name})
        pod = resources["Deployment", name]["spec"]["template"]
        volume, = (one["configMap"]["name"] for one in pod["spec"]["volumes"] if "configMap" in one)
        same("the ConfigMap", volume, name)
        same("the instance", pod["metadata"]["labels"]["app.kubernetes.io/instance"], release)
        same("the target", resources["HorizontalPodAutoscaler", name]["spec"]["scaleTargetRef"]["name"], name)


def refuse(chart: Path) -> None:
    for values, word in MISTAKES:
        try:
            render(chart, values)
        except ValueError as refusal:
            assert word in str(refusal), f"{values}: {refusal}"
        else:
            raise AssertionError(f"{values} are accepted.")


def settings_of(resources: dict[tuple[str, str], Resource]) -> dict[str, Any]:
    configuration, = (one for (kind, _), one in resources.items() if kind == "ConfigMap")
    return yaml.safe_load(configuration["data"]["darkroom.yaml"])
