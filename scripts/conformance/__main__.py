"""Holds the built server to openapi/openapi.yaml.

`client` generates a client from the document with openapi-python-client and drives every operation with it, judging
typed results. `fuzz` has schemathesis make up requests, good and bad, and judge each answer with all of its checks and
those of fuzz/hooks.py. Each starts a server of its own on a free port of loopback, with fixtures for sources.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from servers import DOCUMENT, ROOT, TOKEN, Running, running

HERE = Path(__file__).resolve().parent
FUZZ_SECONDS = 600
SEED = 20261121


def main() -> int:
    arguments = parsed()
    if not os.access(arguments.server, os.X_OK):
        print(f"conformance: there is no executable at {arguments.server}; `swift build` makes one", file=sys.stderr)
        return 2
    parts = {
        "client": lambda: driven(arguments.server),
        "fuzz": lambda: fuzzed(arguments.server, arguments.seed, arguments.examples),
    }
    for name in [arguments.part] if arguments.part else list(parts):
        start = time.monotonic()
        status = parts[name]()
        print(f"conformance: {name} {'failed' if status else 'passed'} after {time.monotonic() - start:.0f} s", flush=True)
        if status:
            return status
    return 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=["client", "fuzz"], help="only this one")
    parser.add_argument("--server", type=Path, default=ROOT / ".build/debug/darkroom", help="the executable")
    parser.add_argument("--seed", type=int, default=SEED, help="of what the fuzzer makes up")
    parser.add_argument("--examples", type=int, default=60, help="that the fuzzer makes up for each operation")
    return parser.parse_args()


def driven(server: Path) -> int:
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(HERE / "client"), "-o", "python_files=test_*.py"]
    return subprocess.run(
        [sys.executable, "-B", "-m", "pytest", *options, str(HERE / "client")],
        env=os.environ | {"CONFORMANCE_SERVER": str(server.resolve()), "PYTHONPATH": str(HERE)},
    ).returncode


def fuzzed(server: Path, seed: int, examples: int) -> int:
    print(f"conformance: fuzzing with --seed {seed}", flush=True)
    with running(server) as things:
        return subprocess.run(
            command(things, seed, examples), cwd=things.folder, env=environment(things), timeout=FUZZ_SECONDS
        ).returncode


def command(things: Running, seed: int, examples: int) -> list[str]:
    schemathesis = Path(sys.executable).parent / "schemathesis"
    options = ["--config-file", str(HERE / "fuzz/schemathesis.toml"), "--no-color"]
    limits = ["--seed", str(seed), "--max-examples", str(examples)]
    return [str(schemathesis), *options, "run", str(DOCUMENT), "--url", things.base, *limits]


def environment(things: Running) -> dict[str, str]:
    """What schemathesis.toml and hooks.py read."""
    return os.environ | {
        "CONFORMANCE_TOKEN": TOKEN,
        "CONFORMANCE_ORIGIN": things.origin,
        "NO_PROXY": "127.0.0.1",
        "PYTHONPATH": str(HERE / "fuzz"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "SCHEMATHESIS_HOOKS": "hooks",
    }


if __name__ == "__main__":
    sys.exit(main())
