"""Tests the operations for administration and monitoring, and the names in the generated client."""

import enum
import re
import uuid

import darkroom_client.models
import pytest
import yaml
from conftest import contract
from darkroom_client import AuthenticatedClient
from darkroom_client.api.operations import (
    cancel_prefetch,
    get_cache_entries,
    get_caches,
    get_contract,
    get_health,
    get_liveness,
    get_metrics,
    get_prefetch_job,
    get_readiness,
    list_prefetch_jobs,
    purge_cache,
    start_prefetch,
    watch_prefetch,
)
from darkroom_client.api.images import get_image
from darkroom_client.models import (
    CacheTiers,
    Health,
    PrefetchOrder,
    Problem,
    ProblemType,
    Purge,
    StoreMode,
    Tier,
    WaitMode,
)

from servers import RunningServer


def test_get_caches(admin: AuthenticatedClient) -> None:
    get_image.sync_detailed(client=admin, url="local:///formats/photo.jpg", w=10, wait=WaitMode.STORED)
    before = get_caches.sync(client=admin)
    get_image.sync_detailed(client=admin, url="local:///formats/photo.jpg", w=10)
    after = get_caches.sync(client=admin)
    assert isinstance(before, CacheTiers) and isinstance(after, CacheTiers)
    assert before.memory.entries >= 2 and before.disk.entries >= 2
    assert 0 < before.memory.bytes_ <= before.memory.budget_bytes
    assert after.memory.hits > before.memory.hits


def test_purge_cache(admin: AuthenticatedClient, server: RunningServer) -> None:
    url = f"{server.origin}/photo.jpg"
    get_image.sync_detailed(client=admin, url=url, w=10, store=StoreMode.MEMORY)
    listed = purge_cache.sync(client=admin, url=url, dry_run=True)
    assert isinstance(listed, Purge) and listed.dry_run and not listed.soft
    assert [source.url for source in listed.list_] == [url]
    purged = purge_cache.sync(client=admin, tag="photo")
    assert isinstance(purged, Purge) and not purged.dry_run
    assert (purged.sources, purged.entries, purged.bytes_) == (1, listed.entries, listed.bytes_)
    again = purge_cache.sync(client=admin, url=url)
    assert isinstance(again, Purge) and (again.sources, again.entries, again.bytes_) == (0, 0, 0)


def test_purge_cache_without_a_selector(admin: AuthenticatedClient) -> None:
    problem = purge_cache.sync(client=admin)
    assert isinstance(problem, Problem) and problem.type_ == ProblemType.INVALID_PARAMETER


def test_purge_cache_of_one_tier(admin: AuthenticatedClient) -> None:
    get_image.sync_detailed(client=admin, url="local:///formats/photo.jpg", w=11, wait=WaitMode.STORED)
    purge_cache.sync(client=admin, all_=True, tier=Tier.MEMORY)
    tiers = get_caches.sync(client=admin)
    assert isinstance(tiers, CacheTiers) and tiers.memory.entries == 0 and tiers.disk.entries >= 2


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        *((operation, {}) for operation in (get_caches, get_metrics, purge_cache, list_prefetch_jobs)),
        *((operation, {"id": uuid.UUID(int=1)}) for operation in (get_prefetch_job, watch_prefetch, cancel_prefetch)),
        (get_cache_entries, {"url": "local:///sample.jpg"}),
        (start_prefetch, {"body": PrefetchOrder(urls=["local:///sample.jpg"])}),
    ],
)
def test_operations_that_require_the_token(
    intruder: AuthenticatedClient, operation: object, arguments: dict[str, object]
) -> None:
    answer = operation.sync_detailed(client=intruder, **arguments)
    assert answer.status_code == 401 and answer.parsed.type_ == ProblemType.ADMIN_TOKEN_WRONG
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")


def test_get_metrics(admin: AuthenticatedClient) -> None:
    text = get_metrics.sync(client=admin)
    assert isinstance(text, str)
    described = set(re.findall(r"^# HELP (\S+) \S", text, re.MULTILINE))
    typed = set(re.findall(r"^# TYPE (\S+) (?:counter|gauge|histogram)$", text, re.MULTILINE))
    assert described == typed and "darkroom_image_answers_total" in typed


def test_get_contract(admin: AuthenticatedClient) -> None:
    text = get_contract.sync(client=admin)
    assert isinstance(text, str) and yaml.safe_load(text) == contract()


@pytest.mark.parametrize("operation", [get_liveness, get_readiness, get_health])
def test_health(admin: AuthenticatedClient, operation: object) -> None:
    health = operation.sync(client=admin)
    assert isinstance(health, Health) and health.status == "ok"


def test_names_of_the_generated_client() -> None:
    """Values that are no identifiers get numbered names, unless x-enum-varnames gives them one."""
    models = vars(darkroom_client.models).values()
    enums = [model for model in models if isinstance(model, type) and issubclass(model, enum.Enum)]
    assert enums and not [f"{kind.__name__}.{name}" for kind in enums for name in kind.__members__ if "VALUE_" in name]
