"""Checks that a built server conforms to openapi/openapi.yaml.

`client` generates clients from the document with openapi-python-client and calls every operation through them. `fuzz`
runs schemathesis, which generates valid and invalid requests and applies all of its checks and the checks of fuzz/hooks.py
to each response. `iiif` runs the published validator of the IIIF Image API. Each part starts its own server on a free
loopback port, with fixtures as sources.
"""

import argparse
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import iiif
from servers import DOCUMENT, ROOT, TOKEN, RunningServer, running

HERE = Path(__file__).resolve().parent
FUZZ_SECONDS = 1_200
SEED = 20261121


def main() -> int:
    arguments = parse_arguments()
    if not os.access(arguments.server, os.X_OK):
        print(f"conformance: no executable at {arguments.server}; build it with `swift build`", file=sys.stderr)
        return 2
    parts = {
        "client": lambda: run_client(arguments.server),
        "fuzz": lambda: run_fuzz(arguments.server, arguments.seed, arguments.examples),
        "iiif": lambda: iiif.run(arguments.server, arguments.seed),
    }
    for name in [arguments.part] if arguments.part else list(parts):
        start = time.monotonic()
        status = parts[name]()
        result = "failed" if status else "passed"
        print(f"conformance: {name} {result} after {time.monotonic() - start:.0f} s", flush=True)
        if status:
            return status
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=["client", "fuzz", "iiif"], help="the part to run (default: all)")
    parser.add_argument("--server", type=Path, default=ROOT / ".build/debug/darkroom", help="path of the executable")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of fuzzer and validator (default: %(default)s)")
    parser.add_argument("--examples", type=int, default=60, help="generated requests per operation (default: 60)")
    return parser.parse_args()


def run_client(server: Path) -> int:
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(HERE / "client"), "-o", "python_files=test_*.py"]
    return subprocess.run(
        [sys.executable, "-B", "-m", "pytest", *options, str(HERE / "client")],
        env=os.environ | {"CONFORMANCE_SERVER": str(server.resolve()), "PYTHONPATH": str(HERE)},
    ).returncode


def run_fuzz(server: Path, seed: int, examples: int) -> int:
    print(f"conformance: fuzzing with --seed {seed}", flush=True)
    with running(server, DARKROOM_FACES="true") as target:
        return subprocess.run(
            fuzz_command(target, seed, examples),
            cwd=target.folder,
            env=fuzz_environment(target),
            timeout=FUZZ_SECONDS,
        ).returncode


def fuzz_command(target: RunningServer, seed: int, examples: int) -> list[str]:
    schemathesis = Path(sys.executable).parent / "schemathesis"
    options = ["--config-file", str(HERE / "fuzz/schemathesis.toml"), "--no-color"]
    limits = ["--seed", str(seed), "--max-examples", str(examples)]
    return [str(schemathesis), *options, "run", str(DOCUMENT), "--url", target.base, *limits]


def finds_faces(target: RunningServer) -> bool:
    """Whether the executable has the detector of faces."""
    with urllib.request.urlopen(f"{target.base}/openapi.json") as contract:
        return '"#/components/parameters/redact"' in contract.read().decode()


def fuzz_environment(target: RunningServer) -> dict[str, str]:
    """The variables that schemathesis.toml and hooks.py read."""
    return os.environ | {
        "CONFORMANCE_TOKEN": TOKEN,
        "CONFORMANCE_ORIGIN": target.origin,
        "CONFORMANCE_FACES": str(finds_faces(target)).lower(),
        "NO_PROXY": "127.0.0.1",
        "PYTHONPATH": str(HERE / "fuzz"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "SCHEMATHESIS_HOOKS": "hooks",
    }


if __name__ == "__main__":
    sys.exit(main())
