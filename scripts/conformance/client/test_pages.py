"""Tests the HTML pages and the contract as JSON."""

import pytest
from conftest import contract
from darkroom_client import AuthenticatedClient
from darkroom_client.api.operations import (
    get_contract_as_json,
    get_playground,
    get_problem,
    get_reference,
    list_problems,
)
from darkroom_client.models import Contract, Problem, ProblemType


def test_get_playground(admin: AuthenticatedClient) -> None:
    answer = get_playground.sync_detailed(client=admin)
    assert isinstance(answer.parsed, str) and answer.parsed.startswith("<!doctype html>")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "script-src 'sha256-" in answer.headers["Content-Security-Policy"]


def test_get_playground_that_the_browser_has_cached(admin: AuthenticatedClient) -> None:
    tag = get_playground.sync_detailed(client=admin).headers["ETag"]
    answer = get_playground.sync_detailed(client=admin.with_headers({"If-None-Match": tag}))
    assert (answer.status_code, answer.content, answer.headers["ETag"]) == (304, b"", tag)


def test_list_problems(admin: AuthenticatedClient) -> None:
    page = list_problems.sync(client=admin)
    assert isinstance(page, str) and page.startswith("<!doctype html>")
    assert [kind for kind in ProblemType if f'href="{kind.removeprefix("/")}"' not in page] == []


@pytest.mark.parametrize("kind", ProblemType)
def test_get_problem(admin: AuthenticatedClient, kind: ProblemType) -> None:
    """The type of a problem is the path of its page."""
    page = get_problem.sync(kind.removeprefix("/problems/"), client=admin)
    assert isinstance(page, str) and f"<code>{kind}</code>" in page
    assert "<h2>Cause</h2>" in page and "<h2>Remedy</h2>" in page


def test_get_problem_of_an_unknown_type(admin: AuthenticatedClient) -> None:
    problem = get_problem.sync("no-such-problem", client=admin)
    assert isinstance(problem, Problem) and problem.type_ == ProblemType.NO_SUCH_ROUTE


def test_get_reference(admin: AuthenticatedClient) -> None:
    """The page names every path and every parameter."""
    page = get_reference.sync(client=admin)
    assert isinstance(page, str) and page.startswith("<!doctype html>")
    assert [path for path in contract()["paths"] if f" {path}<" not in page] == []
    shared = contract()["components"]["parameters"].values()
    assert [parameter["name"] for parameter in shared if f"<code>{parameter['name']}</code>" not in page] == []


def test_get_contract_as_json(admin: AuthenticatedClient) -> None:
    document = get_contract_as_json.sync(client=admin)
    assert isinstance(document, Contract) and document.openapi == "3.1.0"
    assert document.to_dict() == contract()
