"""Generates the client before the tests import it, starts the server, and sees to it that every operation is driven."""

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

from servers import DOCUMENT, KEY_ID, SECRET, TOKEN, Running, running

if TYPE_CHECKING:
    from darkroom_client import AuthenticatedClient

HERE = Path(__file__).resolve().parent
METHODS = {"get", "head", "post", "put", "patch", "delete"}
generated = tempfile.TemporaryDirectory(prefix="darkroom-client-")


def pytest_configure() -> None:
    """A warning of the generator means that it left something out, which fails."""
    generator = Path(sys.executable).parent / "openapi-python-client"
    options = ["--meta", "none", "--config", str(HERE / "generator.yml"), "--fail-on-warning"]
    target = ["--path", str(DOCUMENT), "--output-path", f"{generated.name}/darkroom_client"]
    subprocess.run([str(generator), "generate", *options, *target], check=True)
    sys.path.insert(0, generated.name)


def pytest_unconfigure() -> None:
    generated.cleanup()


class Journal:
    """Which of the document's operations a client has driven to success."""

    def __init__(self) -> None:
        self.undriven = dict(documented())

    def note(self, response: httpx.Response) -> None:
        request = f"{response.request.method} {response.request.url.path}"
        if response.is_success:
            self.undriven = {name: spelled for name, spelled in self.undriven.items() if not spelled.fullmatch(request)}


def documented() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Each operation's id, and what a request for it looks like."""
    for path, item in contract()["paths"].items():
        for method in METHODS & item.keys():
            spelled = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(f"{method.upper()} {path}"))
            yield item[method]["operationId"], re.compile(spelled)


def contract() -> dict[str, Any]:
    return yaml.safe_load(DOCUMENT.read_text())


@pytest.fixture(scope="session")
def things() -> Iterator[Running]:
    with running(Path(os.environ["CONFORMANCE_SERVER"])) as things:
        yield things


@pytest.fixture(scope="session")
def closed_things() -> Iterator[Running]:
    """A server that answers signed requests alone."""
    variables = {"DARKROOM_SIGNING_KEYS": f"{KEY_ID}:{SECRET}", "DARKROOM_PRESETS": "small=w=24&output=png"}
    with running(Path(os.environ["CONFORMANCE_SERVER"]), **variables) as things:
        yield things


@pytest.fixture(scope="session")
def journal() -> Iterator[Journal]:
    journal = Journal()
    yield journal
    undriven = ", ".join(sorted(journal.undriven))
    assert not undriven, f"No test had the generated client do these with success: {undriven}"


@pytest.fixture
def admin(things: Running, journal: Journal) -> "AuthenticatedClient":
    return client(things, journal, TOKEN)


@pytest.fixture
def stranger(things: Running, journal: Journal) -> "AuthenticatedClient":
    """Has a token, but not the right one."""
    return client(things, journal, "not-the-token-of-this-server")


@pytest.fixture
def signer(closed_things: Running, journal: Journal) -> "AuthenticatedClient":
    """Has no right token, but may have keys."""
    return client(closed_things, journal, "not-the-token-of-this-server")


def client(things: Running, journal: Journal, token: str) -> "AuthenticatedClient":
    from darkroom_client import AuthenticatedClient

    watched = {"trust_env": False, "event_hooks": {"response": [journal.note]}}
    return AuthenticatedClient(
        base_url=things.base, token=token, raise_on_unexpected_status=True, timeout=httpx.Timeout(30), httpx_args=watched
    )
