#!/usr/bin/env python3
"""Tests the packages in clients/, in each language whose toolchain is installed.

Each package's own tests sign the vectors of Fixtures/signatures.json. Its example, which docs/clients.md shows, then signs
for a server that is started here: every URL must be answered, and refused after any change. The tests of JavaScript also run the functions of
docs/front-end.md against that server and another one without keys.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VECTORS = ROOT / "Fixtures/signatures.json"
PAGE = ROOT / "docs/clients.md"


@dataclass
class Client:
    """A package: the program it needs, the commands of its tests, and its example with the command that runs it."""

    folder: str
    program: str
    tests: list[str]
    example: str
    run: str


# Commands run in a copy of the package, whose compiled files go to $OUT.
CLIENTS = [
    Client("javascript", "node", ["node --test"], "example.js", "node example.js"),
    Client("python", "python3", ["python3 -B -m unittest"], "example.py", "python3 -B example.py"),
    Client("php", "php", ["php tests/SignerTest.php"], "example.php", "php example.php"),
    Client("ruby", "ruby", ["ruby -w -Ilib test/darkroom_urls_test.rb"], "example.rb", "ruby -w -Ilib example.rb"),
    Client("go", "go", ["go vet ./...", "go test ./..."], "example/main.go", "go run ./example"),
    Client(
        "java", "javac",
        [
            "javac --release 11 -Xlint:all -Xlint:-options -Werror -d $OUT src/darkroom/*.java test/*.java Example.java",
            "java -cp $OUT SignerTest $VECTORS",
        ],
        "Example.java", "javac -d $OUT src/darkroom/*.java Example.java && java -cp $OUT Example",
    ),
    Client(
        "csharp", "mcs",
        [
            "mcs -warnaserror -out:$OUT/test.exe -r:System.Runtime.Serialization Signer.cs SignerTest.cs",
            "mono $OUT/test.exe $VECTORS",
        ],
        "Example.cs", "mcs -warnaserror -out:$OUT/example.exe Signer.cs Example.cs && mono $OUT/example.exe",
    ),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default=".build/debug/darkroom", help="executable of the server")
    parser.add_argument("--only", choices=[client.folder for client in CLIENTS], help="test one language")
    arguments = parser.parse_args()
    chosen = [client for client in CLIENTS if arguments.only in (None, client.folder)]
    missing = [client for client in chosen if not shutil.which(client.program)]
    tested = [client for client in chosen if client not in missing]
    failed = 0
    with contextlib.ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory())
        base = stack.enter_context(server(ROOT / arguments.server, Path(name), signed=True))
        os.environ["DARKROOM_SIGNED_URL"] = base
        os.environ["DARKROOM_OPEN_URL"] = stack.enter_context(server(ROOT / arguments.server, Path(name), signed=False))
        check_vectors(base)
        for client in tested:
            start = time.monotonic()
            found = list(problems(client, base, Path(name)))
            print(f"{client.folder}: {'; '.join(found) or 'ok'} ({time.monotonic() - start:.1f} s)", flush=True)
            failed += bool(found)
    for client in missing:
        print(f"{client.folder}: not tested, because {client.program} is not installed")
    print(f"{len(tested) - failed} passed, {failed} failed, {len(missing)} skipped")
    return 1 if failed or not tested else 0


def problems(client: Client, base: str, folder: Path) -> Iterator[str]:
    """Runs the tests of one package, and the example against the server."""
    # The tests find vectors and page at the same relative paths.
    copy = folder / "clients" / client.folder
    shutil.copytree(ROOT / "clients" / client.folder, copy)
    for file in [VECTORS, ROOT / "docs/front-end.md"]:
        target = folder / file.relative_to(ROOT)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(file, target)
    out = folder / "out" / client.folder
    out.mkdir(parents=True)
    keys = json.loads(VECTORS.read_text(encoding="utf-8"))["keys"]
    environment = os.environ | {
        "OUT": f"{out}", "VECTORS": f"{VECTORS}", "SIGNING_SECRET": keys["k1"], "GOFLAGS": "-mod=mod", "GOPROXY": "off"
    }

    def run(command: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["bash", "-euc", command], cwd=copy, env=environment, capture_output=True, encoding="utf-8", timeout=300
        )

    for command in client.tests:
        done = run(command)
        if done.returncode != 0:
            yield f"{command} failed:\n{done.stdout}{done.stderr}"
            return
    example = (copy / client.example).read_text(encoding="utf-8")
    if example not in PAGE.read_text(encoding="utf-8"):
        yield f"docs/clients.md does not show clients/{client.folder}/{client.example} as it is"
    (copy / client.example).write_text(
        example.replace("https://img.example.com", base).replace("https://example.com/photo.jpg", "local:///sample.jpg"),
        encoding="utf-8",
    )
    done = run(client.run)
    urls = re.findall(r"http://[^\s,]+", done.stdout)
    if done.returncode != 0 or len(urls) != 7:
        yield f"{client.run} printed no seven URLs:\n{done.stdout}{done.stderr}"
        return
    for url in urls:
        if (status := answer(url)[0]) != 200:
            yield f"{url} is answered with {status}"
        for changed in changes(url):
            status, problem = answer(changed)
            if (status, problem) != (403, "/problems/signature-wrong"):
                yield f"{changed} is answered with {status} {problem}"


def changes(url: str) -> Iterator[str]:
    """Spellings of a signed URL that are another request, or have another signature."""
    if "/signed/" in url:
        yield url[:-2] + ("AA" if not url.endswith("AA") else "BA")
        yield url.replace("/k1.", "/k2.")
        return
    yield url.replace("local%3A%2F%2F%2Fsample.jpg", "local%3A%2F%2F%2Fother.jpg")
    yield url + "&q=50"
    yield url.replace("&s=k1.", "&s=k2.")
    yield re.sub(r"&s=k1\.(.)", lambda match: "&s=k1." + ("B" if match[1] == "A" else "A"), url)
    if "exp=" in url:
        yield re.sub(r"exp=(\d+)", lambda match: f"exp={int(match[1]) + 1}", url)


def check_vectors(base: str) -> None:
    """Sends the vectors that only a server with presets and uploads accepts. Their source is not an allowed one."""
    for row in json.loads(VECTORS.read_text(encoding="utf-8"))["signed"]:
        body = None if "url" in row["parameters"] else (ROOT / "Fixtures/images/sample.jpg").read_bytes()
        status, problem = answer(base + row["url"], body)
        if body and status != 200 or not body and problem != "/problems/source-not-allowed":
            sys.exit(f"The vector '{row['name']}' is answered with {status} {problem}.")


def answer(url: str, body: bytes | None = None) -> tuple[int, str]:
    """Returns the status of a response, and the type of its problem if it is one."""
    request = urllib.request.Request(url, data=body, headers={"Content-Type": "image/jpeg"} if body else {})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            response.read()
            return response.status, ""
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())["type"]


@contextlib.contextmanager
def server(executable: Path, folder: Path, *, signed: bool) -> Iterator[str]:
    """Runs the server on a free port, with the keys of the vectors if it is signed, and yields its URL."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DARKROOM_")}
    if signed:
        keys = json.loads(VECTORS.read_text(encoding="utf-8"))["keys"]
        environment["DARKROOM_SIGNING_KEYS"] = ",".join(f"{key}:{secret}" for key, secret in keys.items())
    process = subprocess.Popen(
        [
            executable, "serve", "--host", "127.0.0.1", "--port", "0", "--log-level", "error",
            "--cache-dir", folder / ("cache-signed" if signed else "cache-open"),
            "--local-root", ROOT / "Fixtures/images", "--allow-hosts", "images.invalid", "--presets", "avatar=w=96&h=96&fit=cover",
            "--uploads", "true",
        ],
        env=environment, stdout=subprocess.PIPE, encoding="utf-8",
    )
    try:
        for line in process.stdout:
            if match := re.search(r"http://127\.0\.0\.1:\d+", line):
                yield match[0]
                return
        sys.exit("The server did not start.")
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
