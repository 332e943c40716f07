"""Checks the parts of a release: workflows, the scripts that they run, the bill of materials, and the unit's confinement."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from manifests import same

ROOT = Path(__file__).resolve().parent.parent.parent
WORKFLOWS = ROOT / ".github/workflows"
TOOLS = Path(sys.executable).parent
VERSION = re.compile(r"[\w/-]+@v\d+\.\d+\.\d+")
# What systemd-analyze may rate the unit, in tenths. docs/installing.md explains the rest.
EXPOSURE = 14
DIGEST = f"sha256:{'0123456789abcdef' * 4}"
# Stands in for docker: writes down what it is asked, and reports a digest.
DOCKER = f"""#!/bin/sh
echo "$*" >>"$CALLS"
while [ $# -gt 0 ]; do
    case $1 in
        --metadata-file) echo '{{ "containerimage.digest": "{DIGEST}" }}' >"$2" ;;
        --build-context) find "${{2#build=}}" >>"$CALLS" ;;
        inspect) echo {DIGEST} ;;
    esac
    shift
done
"""


def checks() -> Iterator[tuple[str, Callable[[Path], None]]]:
    yield "workflows: they match GitHub's schema", lambda _: schema()
    yield "workflows: zizmor finds no risk", lambda _: risks()
    yield "workflows: actions are pinned, scripts exist", lambda _: references()
    yield "release: tag, version and changelog must agree", lambda _: versions()
    yield "release: packages get a chart, notes and checksums", lambda _: files()
    yield "release: images are pushed by digest, then tagged together", lambda _: images()
    yield "release: the bill of materials is CycloneDX and names every package", materials
    if shutil.which("systemd-analyze"):
        yield "debian: systemd rates the unit's exposure as documented", lambda _: exposure()
    else:
        print("skipped debian: systemd-analyze, which rates the unit, is not installed")


def schema() -> None:
    run(TOOLS / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows())


def risks() -> None:
    run(TOOLS / "zizmor", "--offline", "--no-progress", *workflows())


def references() -> None:
    for file in workflows():
        text = file.read_text()
        for job in yaml.safe_load(text)["jobs"].values():
            assert job["timeout-minutes"] and "permissions" in job, f"{file.name}: a job has no limit of time or rights."
            for step in job["steps"]:
                assert VERSION.fullmatch(step.get("uses", "a@v1.0.0")), f"{file.name}: {step['uses']}"
        for script in re.findall(r"(?:^|\s)((?:scripts|\.ci)/[\w.-]+)", text):
            assert os.access(ROOT / script, os.X_OK), f"{file.name}: {script} cannot be run."
        for target in re.findall(r"make ([a-z][a-z-]+)(?: [A-Z]+=\S+)?$", text, re.MULTILINE):
            assert f"\n{target}:" in (ROOT / "Makefile").read_text(), f"{file.name}: make {target} does not exist."


def versions() -> None:
    with copy("## [Unreleased]\n\n## [{version}] - 2026-01-01\n\n- An entry.\n") as (tree, version):
        run(tree / "scripts/release-check.sh", "--tag", f"v{version}")
        fails("the tag is v9.9.9", tree / "scripts/release-check.sh", "--tag", "v9.9.9")
    with copy("## [Unreleased]\n\n- An entry.\n") as (tree, version):
        fails("has no section", tree / "scripts/release-check.sh", "--tag", f"v{version}")
    with copy("## [Unreleased]\n\n- Late.\n\n## [{version}] - 2026-01-01\n\n- An entry.\n") as (tree, version):
        fails("entries under [Unreleased]", tree / "scripts/release-check.sh", "--tag", f"v{version}")


def files() -> None:
    with copy("## [Unreleased]\n\n## [{version}] - 2026-01-01\n\n- First.\n\n## [0.0.1] - 2025-01-01\n\n- Old.\n") as (tree, version):
        folder = tree / "dist"
        folder.mkdir()
        names = [f"darkroom_{version}-1_{one}.{ending}" for one in ("amd64", "arm64") for ending in ("deb", "cdx.json")]
        for name in names[:-1]:
            (folder / name).write_text(name)
        command = (tree / "scripts/release-files.sh", f"v{version}", folder, tree / "notes.md")
        fails(f"no {names[-1]}", *command)
        (folder / names[-1]).write_text("last")
        shown = run(*command, env=os.environ | {"GITHUB_REPOSITORY": "somebody/darkroom"})
        same("output", shown, f"version={version}\n")
        alerts = yaml.safe_load((folder / "darkroom-alerts.yaml").read_text())["groups"][0]["rules"]
        runbook = f"https://github.com/somebody/darkroom/blob/v{version}/docs/runbook.md"
        same("runbook", alerts[1]["annotations"]["runbook_url"], f"{runbook}#darkroomdown")
        notes = (tree / "notes.md").read_text()
        assert "- First." in notes and "Old" not in notes, notes
        chart = folder / f"darkroom-chart-{version}.tgz"
        with tarfile.open(chart) as archive:
            assert "darkroom/Chart.yaml" in archive.getnames(), archive.getnames()
        sums = dict(reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines())
        same("files with a checksum", set(sums), {*names, chart.name, "darkroom-alerts.yaml", "darkroom-dashboard.json"})
        for name, found in sums.items():
            same(name, found, hashlib.sha256((folder / name).read_bytes()).hexdigest())


def images() -> None:
    with tempfile.TemporaryDirectory(prefix="deploy-") as name:
        folder, calls = Path(name), Path(name) / "calls"
        (folder / "docker").write_text(DOCKER)
        (folder / "docker").chmod(0o755)
        (folder / "darkroom_1.2.3-1_amd64.deb").touch()
        script = ROOT / "scripts/release-image.sh"
        variables = os.environ | {
            "DOCKER": str(folder / "docker"), "CALLS": str(calls), "GITHUB_REPOSITORY": "Somebody/Darkroom",
            "GITHUB_SHA": "0" * 40, "GITHUB_ACTOR": "somebody", "GITHUB_TOKEN": "secret",
        }
        run(script, "push", folder, folder / "amd64", env=variables)
        same("digest", (folder / "amd64").read_text().strip(), DIGEST)
        asked = calls.read_text()
        assert "darkroom_1.2.3-1_amd64.deb" in asked, "The package is not in the image's context."
        assert "name=ghcr.io/somebody/darkroom,push-by-digest=true" in asked and "secret" not in asked, asked
        for tag, tags in (("v1.2.3", {"1.2.3", "1.2", "latest"}), ("v1.2.3-rc.1", {"1.2.3-rc.1"})):
            calls.unlink()
            shown = run(script, "tag", tag, folder / "amd64", folder / "amd64", env=variables)
            same("output", shown, f"name=ghcr.io/somebody/darkroom\ndigest={DIGEST}\n")
            asked = calls.read_text()
            same("tags", set(re.findall(r"--tag ghcr\.io/somebody/darkroom:(\S+)", asked)), tags)
            same("images", asked.count(f"darkroom@{DIGEST}"), 2)


def materials(server: Path) -> None:
    script = ROOT / "scripts/make-sbom.py"
    text = run(sys.executable, "-B", script, server, env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"})
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    assert problem is None, problem
    bom = json.loads(text)
    names = {component["name"] for component in bom["components"]}
    pinned = {Path(one["location"]).name.removesuffix(".git") for one in json.loads((ROOT / "Package.resolved").read_text())["pins"]}
    assert pinned <= names, f"not named: {pinned - names}"
    # The tested executable is built after `make setup`, which installs dlib's headers.
    assert {"swift-runtime", "libvips42", "dlib"} <= {re.sub(r"t64$", "", name) for name in names}, names
    same("version", bom["metadata"]["component"]["version"], run(server, "--version").strip())
    parts = [part["name"] for component in bom["components"] for part in component.get("components", [])]
    assert "boringssl" in parts, parts


def exposure() -> None:
    unit = ROOT / "deploy/debian/darkroom.service"
    run("systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE}", unit)
    page = (ROOT / "docs/installing.md").read_text()
    assert f"rates the unit {EXPOSURE / 10} (OK)" in page, "docs/installing.md states another rating."


@contextmanager
def copy(changelog: str) -> Iterator[tuple[Path, str]]:
    """A copy of the files that scripts of a release read, with this changelog, and the version."""
    source = Path("Sources/Command/Commands/Darkroom.swift")
    version = re.search(r'static let release = "(.+)"', (ROOT / source).read_text())[1]
    with tempfile.TemporaryDirectory(prefix="deploy-") as name:
        tree = Path(name)
        (tree / source).parent.mkdir(parents=True)
        shutil.copy(ROOT / source, tree / source)
        for part in ("helm", "prometheus", "grafana"):
            shutil.copytree(ROOT / "deploy" / part, tree / "deploy" / part)
        (tree / "scripts").mkdir()
        for script in (ROOT / "scripts").glob("release-*.sh"):
            shutil.copy(script, tree / "scripts")
        (tree / "CHANGELOG.md").write_text(changelog.format(version=version))
        yield tree, version


def workflows() -> list[Path]:
    return sorted(WORKFLOWS.glob("*.yml"))


def fails(words: str, *command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and words in done.stderr, f"status {done.returncode}: {done.stderr}"


def run(*command: str | Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{Path(command[0]).name}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout
