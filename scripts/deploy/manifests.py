"""Checks the Kubernetes manifests: against the API's schemas, against each other, and against the server's settings."""

import ipaddress
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml

from running import ask, darkroom

# The oldest has the preStop action "sleep" enabled by default.
VERSIONS = ("1.30", "1.34", "1.37")
KEYS = [{"id": "k1", "secret": "0123456789abcdef" * 4}]
TOKEN = "deploy-check-token-0123456789"
PUBLIC = ("1.1.1.1", "93.184.216.34", "223.255.255.1", "2606:4700::1111", "2a00:1450::1")
PRIVATE = (
    "10.96.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "192.168.1.1", "100.64.0.1", "168.63.129.16",
    "224.0.0.1", "255.255.255.255", "::1", "fd00::1", "fe80::1", "2002:a00::1", "64:ff9b::a00:1", "ff02::1",
)
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}

Resources = dict[tuple[str, str], dict[str, Any]]


def checks(folder: Path) -> Iterator[tuple[str, Callable[[Path], None]]]:
    base = folder / "base"
    for kustomization in sorted(folder.rglob("kustomization.yaml")):
        name = kustomization.parent.relative_to(folder)
        yield f"kubernetes/{name}: kustomization.yaml lists every file", lambda _, at=kustomization: listing(at)
    resources = {(one["kind"], one["metadata"]["name"]): one for one in documents(base)}
    settings = yaml.safe_load((base / "darkroom.yaml").read_text())
    for check in (schemas, labels, ports, volumes, restricted, budgets, network):
        yield f"kubernetes/base: {check.__doc__}", lambda _, run=check: run(resources, settings)
    yield "kubernetes/base: the server starts with the settings", partial(start, base, {})
    yield "kubernetes/base: the server refuses the example's secrets", partial(refuse_example, base, resources)
    yield "kubernetes/components/monitoring: Prometheus finds the metrics", lambda _: monitoring(folder, resources)
    for overlay in sorted((folder / "overlays").iterdir()):
        name = overlay.relative_to(folder)
        if renders():
            yield f"kubernetes/{name}: the rendered resources are valid and start", partial(rendered, base, overlay)
        else:
            print(f"skipped kubernetes/{name}: kubectl with Kustomize 4 or later, which renders it, is not installed")


def renders() -> bool:
    """Debian's kubectl has a Kustomize that is too old, and does not state its version."""
    if not shutil.which("kubectl"):
        return False
    shown = subprocess.run(["kubectl", "version", "--client"], capture_output=True, text=True).stdout
    return re.search(r"Kustomize Version: v([4-9]|\d\d)\.", shown) is not None


def documents(folder: Path) -> Iterator[dict[str, Any]]:
    for name in [*yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"], "secret.example.yaml"]:
        yield from yaml.safe_load_all((folder / name).read_text())


def listing(kustomization: Path) -> None:
    content = yaml.safe_load(kustomization.read_text())
    listed = [*content.get("resources", []), *(patch["path"] for patch in content.get("patches", []))]
    listed += [name for generator in content.get("configMapGenerator", []) for name in generator["files"]]
    present = {file.name for file in kustomization.parent.iterdir() if not file.name.endswith(".example.yaml")}
    files = {name for name in listed if not name.startswith("..")} | {kustomization.name}
    same("files", files, present)
    for name in listed:
        assert (kustomization.parent / name).exists(), f"{name} does not exist."


def schemas(resources: Resources, _: dict) -> None:
    """resources match their schemas"""
    for resource in resources.values():
        for version in VERSIONS:
            kubernetes_validate.validate(resource, version, strict=True)


def labels(resources: Resources, _: dict) -> None:
    """selectors and names lead to the pods"""
    deployment = resources["Deployment", "darkroom"]["spec"]
    pod = deployment["template"]["metadata"]["labels"]
    spread = deployment["template"]["spec"]["topologySpreadConstraints"][0]["labelSelector"]
    selectors = [deployment["selector"], spread, resources["PodDisruptionBudget", "darkroom"]["spec"]["selector"],
                 resources["NetworkPolicy", "darkroom"]["spec"]["podSelector"]]
    found = [selector["matchLabels"] for selector in selectors]
    found += [resource["spec"]["selector"] for (kind, _), resource in resources.items() if kind == "Service"]
    for selector in found:
        same("a selector", selector, pod)
    target = resources["HorizontalPodAutoscaler", "darkroom"]["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) in resources, target
    assert "replicas" not in deployment, "The HorizontalPodAutoscaler decides the number of replicas."


def ports(resources: Resources, settings: dict) -> None:
    """ports agree with the settings"""
    spec = resources["Deployment", "darkroom"]["spec"]["template"]["spec"]
    container = spec["containers"][0]
    named = {port["name"]: port["containerPort"] for port in container["ports"]}
    same("ports", named, {"http": settings["port"], "admin": settings["admin-port"]})
    services = [one["spec"] for (kind, _), one in resources.items() if kind == "Service"]
    policy = resources["NetworkPolicy", "darkroom"]["spec"]
    used = [port["targetPort"] for service in services for port in service["ports"]]
    used += [container[probe]["httpGet"]["port"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")]
    used += [port["port"] for rule in policy["ingress"] for port in rule["ports"]]
    same("names of ports", set(used), set(named))
    assert spec["enableServiceLinks"] is False, "DARKROOM_PORT=tcp://… would be the setting port."


def volumes(resources: Resources, settings: dict) -> None:
    """volumes are where the settings say"""
    spec = resources["Deployment", "darkroom"]["spec"]["template"]["spec"]
    container = spec["containers"][0]
    mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
    same("volumes", {volume["name"] for volume in spec["volumes"]}, set(mounts))
    same("--config", container["command"][-1], f"--config={mounts['settings']['mountPath']}")
    same("cache-dir", settings["cache-dir"], mounts["cache"]["mountPath"])
    assert not mounts["cache"].get("readOnly")
    keys = next(volume["secret"] for volume in spec["volumes"] if "secret" in volume)
    path = f"{mounts['keys']['mountPath']}/{keys['items'][0]['path']}"
    same("signing-keys-file", settings["signing-keys-file"], path)
    secret = resources["Secret", keys["secretName"]]["stringData"]
    token = container["env"][0]["valueFrom"]["secretKeyRef"]
    same("keys of the Secret", {keys["items"][0]["key"], token["key"]}, set(secret))
    same("the Secret of the token", token["name"], keys["secretName"])
    same("the ConfigMap", next(one["configMap"]["name"] for one in spec["volumes"] if "configMap" in one), "darkroom")


def restricted(resources: Resources, _: dict) -> None:
    """pods meet the restricted Pod Security Standard"""
    spec = resources["Deployment", "darkroom"]["spec"]["template"]["spec"]
    pod, container = spec["securityContext"], spec["containers"][0]["securityContext"]
    assert pod["runAsNonRoot"] is True and pod["runAsUser"] > 0, pod
    same("seccomp", pod["seccompProfile"], {"type": "RuntimeDefault"})
    same("the container", container, {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                      "capabilities": {"drop": ["ALL"]}})


def budgets(resources: Resources, settings: dict) -> None:
    """memory, disk and time suffice for the settings"""
    spec = resources["Deployment", "darkroom"]["spec"]["template"]["spec"]
    container = spec["containers"][0]
    requests, limits = container["resources"]["requests"], container["resources"]["limits"]
    # Downloads and responses that wait for slow clients may each hold half of memory-budget in addition.
    held = ("cache-memory-bytes", "cache-decoded-bytes", "memory-budget")
    memory = sum(bytes_of(settings[name]) for name in held) + (256 << 20)
    memory += max(bytes_of(settings["memory-budget"]), bytes_of(settings["worker-memory"]))
    assert memory <= bytes_of(limits["memory"]), f"{memory} bytes of memory, limit {limits['memory']}"
    same("request and limit of memory", requests["memory"], limits["memory"])
    same("pixel-workers", settings["pixel-workers"], int(requests["cpu"]))
    volume = bytes_of(next(one["emptyDir"]["sizeLimit"] for one in spec["volumes"] if "emptyDir" in one))
    assert bytes_of(settings["cache-disk-bytes"]) * 1.2 < volume < bytes_of(limits["ephemeral-storage"]), "disk"
    pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    # The service port and the admin port shut down one after the other.
    grace = pause + 2 * seconds_of(settings["shutdown-grace"]) + 5
    same("terminationGracePeriodSeconds", spec["terminationGracePeriodSeconds"], grace)
    assert seconds_of(settings["request-timeout"]) <= seconds_of(settings["shutdown-grace"])


def network(resources: Resources, _: dict) -> None:
    """egress leads to public addresses and DNS only"""
    dns, origins = resources["NetworkPolicy", "darkroom"]["spec"]["egress"]
    same("DNS", {(port["port"], port["protocol"]) for port in dns["ports"]}, {(53, "UDP"), (53, "TCP")})
    same("ports of origins", {port["port"] for port in origins["ports"]}, {80, 443})
    blocks = [peer["ipBlock"] for peer in origins["to"]]
    for block in blocks:
        for exception in block["except"]:
            assert ipaddress.ip_network(exception).subnet_of(ipaddress.ip_network(block["cidr"])), exception

    def allows(address: str) -> bool:
        def is_in(network: str) -> bool:
            return ipaddress.ip_address(address) in ipaddress.ip_network(network)

        return any(is_in(block["cidr"]) and not any(map(is_in, block["except"])) for block in blocks)

    for address in PUBLIC:
        assert allows(address), f"{address} is refused."
    for address in PRIVATE:
        assert not allows(address), f"{address} is allowed."
    # The server's own list has the same networks.
    source = Path(__file__).resolve().parent.parent.parent / "Sources/Network/Addresses/AddressPolicy.swift"
    listed = re.findall(r"\bv4\((\d+), (\d+), (\d+), (\d+), (\d+)\)", source.read_text())
    same("exceptions", set(blocks[0]["except"]), {f"{a}.{b}.{c}.{d}/{bits}" for a, b, c, d, bits in listed})


def monitoring(folder: Path, resources: Resources) -> None:
    component = folder / "components/monitoring"
    monitor(yaml.safe_load((component / "service-monitor.yaml").read_text()), resources)
    if renders():
        with tempfile.TemporaryDirectory(prefix="deploy-") as overlay:
            text = {"resources": [os.path.relpath(folder / "base", overlay)], "components": [os.path.relpath(component, overlay)]}
            (Path(overlay) / "kustomization.yaml").write_text(yaml.safe_dump(text))
            shown = subprocess.run(["kubectl", "kustomize", overlay], check=True, capture_output=True, text=True).stdout
        assert "kind: ServiceMonitor" in shown and "kind: Deployment" in shown, shown


def monitor(resource: dict[str, Any], resources: Resources) -> None:
    """A ServiceMonitor selects the admin port of one Service, and its job is the one of alerts and dashboard."""
    same("apiVersion", resource["apiVersion"], "monitoring.coreos.com/v1")
    spec = resource["spec"]
    same("fields", set(spec), {"jobLabel", "selector", "endpoints"})
    endpoint, = spec["endpoints"]
    same("fields of the endpoint", set(endpoint), {"port", "interval", "authorization"})
    wanted = set(spec["selector"]["matchLabels"].items())
    services = [one for (kind, _), one in resources.items() if kind == "Service"]
    found = [one for one in services if wanted <= set(one["metadata"]["labels"].items())
             and endpoint["port"] in (port["name"] for port in one["spec"]["ports"])]
    same("Services", [one["metadata"]["name"] for one in found], ["darkroom-admin"])
    same("the job", found[0]["metadata"]["labels"][spec["jobLabel"]], "darkroom")
    token = resources["Deployment", "darkroom"]["spec"]["template"]["spec"]["containers"][0]["env"][0]
    same("the token", endpoint["authorization"]["credentials"], token["valueFrom"]["secretKeyRef"])


def start(base: Path, variables: dict[str, str], server: Path) -> None:
    """Only what must differ outside of a pod is overridden; the file is read as a whole."""
    with tempfile.TemporaryDirectory(prefix="deploy-") as folder:
        keys = Path(folder) / "keys.json"
        keys.write_text(json.dumps(KEYS))
        settings = [f"--config={base / 'darkroom.yaml'}", f"--signing-keys-file={keys}", "--admin-host=127.0.0.1",
                    "--admin-port=0"]
        with darkroom(server, *settings, **{"DARKROOM_ADMIN_TOKEN": TOKEN} | variables) as (port, log):
            for path in ("/health/live", "/health/ready"):
                same(path, ask(port, path).status, 200)
            same("an unsigned request", ask(port, "/image?url=https://example.com/a.jpg").status, 403)
            same("metrics at the service port", ask(port, "/metrics").status, 404)
            assert '"level":' in log.read_text(), "The log is not JSON."


def refuse_example(base: Path, resources: Resources, server: Path) -> None:
    example = resources["Secret", "darkroom"]["stringData"]
    with tempfile.TemporaryDirectory(prefix="deploy-") as folder:
        keys = Path(folder) / "keys.json"
        for name, content, token in (
            ("keys.json", example["keys.json"], TOKEN),
            ("DARKROOM_ADMIN_TOKEN", json.dumps(KEYS), example["admin-token"]),
        ):
            keys.write_text(content)
            flags = [f"--config={base / 'darkroom.yaml'}", f"--signing-keys-file={keys}", "--admin-port=0"]
            try:
                with darkroom(server, *flags, DARKROOM_ADMIN_TOKEN=token):
                    raise AssertionError(f"The server started with {name} of the example.")
            except ChildProcessError as refusal:
                assert "exit status 78" in str(refusal) and name in str(refusal), refusal


def rendered(base: Path, overlay: Path, server: Path) -> None:
    text = subprocess.run(["kubectl", "kustomize", overlay], check=True, capture_output=True, text=True).stdout
    resources = list(yaml.safe_load_all(text))
    for resource in resources:
        for version in VERSIONS:
            kubernetes_validate.validate(resource, version, strict=True)
    deployments = {one["metadata"]["name"]: one for one in resources if one["kind"] == "Deployment"}
    for deployment in deployments.values():
        restricted({("Deployment", "darkroom"): deployment}, {})
    for service in (one for one in resources if one["kind"] == "Service"):
        owners = [one for one in deployments.values() if service["spec"]["selector"] == one["spec"]["selector"]["matchLabels"]]
        assert owners, f"The Service {service['metadata']['name']} leads nowhere."
    container, = deployments["darkroom"]["spec"]["template"]["spec"]["containers"]
    assert "command" in container, "A patch has another name for the container."
    start(base, {one["name"]: one["value"] for one in container["env"] if "value" in one}, server)


def same(what: str, found: object, expected: object) -> None:
    assert found == expected, f"{what}: {found}, not {expected}"


def bytes_of(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)([A-Za-z]+)", text).groups()
    return int(number) * UNITS[unit]


def seconds_of(text: str) -> int:
    return int(text.removesuffix("s"))
