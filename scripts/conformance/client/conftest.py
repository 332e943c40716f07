"""Generates the clients before the tests import them, starts the servers, and checks that every operation is called."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import yaml

from servers import DOCUMENT, KEY_ID, ROOT, SECRET, TOKEN, RunningServer, running

if TYPE_CHECKING:
    from darkroom_client import AuthenticatedClient

CONFIGURATION = ROOT / "openapi/python-client.yml"
METHODS = {"get", "head", "post", "put", "patch", "delete"}
generated = tempfile.TemporaryDirectory(prefix="darkroom-client-")


def pytest_configure() -> None:
    """Generates one client with the project's configuration and one without any.

    With the configuration, a warning is an error: it means that the generator omitted something.
    """
    generate("darkroom_client", "--config", str(CONFIGURATION), "--fail-on-warning")
    generate("unconfigured_client")
    sys.path.insert(0, generated.name)


def generate(package: str, *options: str) -> None:
    generator = Path(sys.executable).parent / "openapi-python-client"
    paths = ["--path", str(DOCUMENT), "--output-path", f"{generated.name}/{package}"]
    result = subprocess.run(
        [str(generator), "generate", "--meta", "none", *options, *paths], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


def pytest_unconfigure() -> None:
    generated.cleanup()


class Journal:
    """The operations of the document that no client has called successfully yet."""

    def __init__(self) -> None:
        self.uncalled = dict(documented())

    def record(self, response: httpx.Response) -> None:
        path = response.request.url.raw_path.decode().partition("?")[0]
        request = f"{response.request.method} {path}"
        if response.is_success or response.is_redirect:
            self.uncalled = {name: pattern for name, pattern in self.uncalled.items() if not pattern.fullmatch(request)}


def documented() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The id of each operation, and a pattern that matches its requests."""
    for path, item in contract()["paths"].items():
        for method in METHODS & item.keys():
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(f"{method.upper()} {path}"))
            yield item[method]["operationId"], re.compile(pattern)


def contract() -> dict[str, Any]:
    return yaml.safe_load(DOCUMENT.read_text())


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    # The contract of a server that looks for faces is the whole document.
    with running(Path(os.environ["CONFORMANCE_SERVER"]), DARKROOM_FACES="true") as server:
        yield server


@pytest.fixture(scope="session")
def signing_server() -> Iterator[RunningServer]:
    """A server that accepts only signed requests."""
    variables = {"DARKROOM_SIGNING_KEYS": f"{KEY_ID}:{SECRET}", "DARKROOM_PRESETS": "small=w=24&output=png"}
    with running(Path(os.environ["CONFORMANCE_SERVER"]), **variables) as server:
        yield server


@pytest.fixture(scope="session")
def journal() -> Iterator[Journal]:
    journal = Journal()
    yield journal
    uncalled = ", ".join(sorted(journal.uncalled))
    assert not uncalled, f"No test called these operations successfully through a generated client: {uncalled}"


@pytest.fixture
def admin(server: RunningServer, journal: Journal) -> "AuthenticatedClient":
    return client(server, journal, TOKEN)


@pytest.fixture
def intruder(server: RunningServer, journal: Journal) -> "AuthenticatedClient":
    """A client with a wrong admin token."""
    return client(server, journal, "not-the-token-of-this-server")


@pytest.fixture
def signer(signing_server: RunningServer, journal: Journal) -> "AuthenticatedClient":
    """A client of the signing server with a wrong admin token."""
    return client(signing_server, journal, "not-the-token-of-this-server")


def client(server: RunningServer, journal: Journal, token: str) -> "AuthenticatedClient":
    from darkroom_client import AuthenticatedClient

    return AuthenticatedClient(
        base_url=server.base,
        token=token,
        raise_on_unexpected_status=True,
        timeout=httpx.Timeout(120),
        httpx_args={"trust_env": False, "event_hooks": {"response": [journal.record]}},
    )
