"""Tests prefetch jobs."""

import json
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from darkroom_client import AuthenticatedClient
from darkroom_client.api.operations import (
    cancel_prefetch,
    get_prefetch_job,
    list_prefetch_jobs,
    start_prefetch,
    watch_prefetch,
)
from darkroom_client.api.images import get_image
from darkroom_client.models import (
    CacheMode,
    PrefetchJob,
    PrefetchJobs,
    PrefetchJobState,
    PrefetchOrder,
    Problem,
    ProblemType,
)

from servers import RunningServer

SAMPLE = "local:///sample.jpg"


def test_prefetch_from_start_to_end(admin: AuthenticatedClient, server: RunningServer) -> None:
    photo, missing = f"{server.origin}/photo.jpg", f"{server.origin}/missing.jpg"
    order = PrefetchOrder(urls=[photo, missing], queries=["h=12&output=png"], widths=[24])
    answer = start_prefetch.sync_detailed(client=admin, body=order)
    started = answer.parsed
    assert answer.status_code == 202 and isinstance(started, PrefetchJob)
    assert answer.headers["Location"] == f"/prefetch/{started.id}"
    assert started.total == 4 and abs(datetime.now(UTC) - started.created) < timedelta(minutes=1)

    ended = last_of(watched(admin, started))
    assert (ended.id, ended.created, ended.state) == (started.id, started.created, PrefetchJobState.DONE)
    assert (ended.total, ended.done, ended.failed) == (4, 2, 2) and ended.bytes_ > 0
    failures = {(failure.url, failure.query, failure.type_) for failure in ended.failures}
    kind = ProblemType.SOURCE_NOT_FOUND.value
    assert failures == {(missing, "h=12&output=png", kind), (missing, "w=24", kind)}

    assert get_prefetch_job.sync(started.id, client=admin) == ended
    cached = get_image.sync_detailed(client=admin, url=photo, w=24, cache=CacheMode.ONLY_IF_CACHED)
    assert cached.status_code == 200 and cached.headers["Cache-Status"].startswith("darkroom;hit;")


def test_watch_prefetch(admin: AuthenticatedClient) -> None:
    events = watched(admin, started(admin, PrefetchOrder(urls=[SAMPLE], widths=[30, 31, 32])))
    assert [name for name, _ in events[:-1]] == ["progress"] * (len(events) - 1)
    counts = [job.done for _, job in events]
    assert counts == sorted(counts) and counts[-1] == 3


def test_cancel_prefetch(admin: AuthenticatedClient) -> None:
    order = PrefetchOrder(urls=[SAMPLE], queries=[f"w={width}&output=avif" for width in range(200, 1_000)])
    job = started(admin, order)
    canceled = cancel_prefetch.sync(job.id, client=admin)
    assert isinstance(canceled, PrefetchJob) and canceled.state == PrefetchJobState.CANCELLED
    assert canceled.done < canceled.total == 800
    assert last_of(watched(admin, job)).state == PrefetchJobState.CANCELLED
    again = cancel_prefetch.sync(job.id, client=admin)
    assert isinstance(again, PrefetchJob) and again.state == PrefetchJobState.CANCELLED


def test_list_prefetch_jobs(admin: AuthenticatedClient) -> None:
    jobs = [started(admin, PrefetchOrder(urls=[SAMPLE], widths=[33])) for _ in range(2)]
    listed = list_prefetch_jobs.sync(client=admin)
    assert isinstance(listed, PrefetchJobs)
    assert [job.id for job in listed.jobs[:2]] == [job.id for job in reversed(jobs)]


@pytest.mark.parametrize("operation", [get_prefetch_job, watch_prefetch, cancel_prefetch])
def test_jobs_that_do_not_exist(admin: AuthenticatedClient, operation: object) -> None:
    answer = operation.sync_detailed(uuid.uuid4(), client=admin)
    assert answer.status_code == 404 and answer.parsed.type_ == ProblemType.NO_SUCH_JOB


@pytest.mark.parametrize(
    ("order", "status", "kind", "member"),
    [
        (PrefetchOrder(urls=[]), 400, ProblemType.INVALID_BODY, "urls"),
        (PrefetchOrder(urls=[SAMPLE, "ftp://example.com/"]), 400, ProblemType.INVALID_BODY, "urls[1]"),
        (PrefetchOrder(urls=[SAMPLE], queries=["w=1", "w=0"]), 400, ProblemType.INVALID_BODY, "queries[1]"),
        (PrefetchOrder(urls=[SAMPLE], widths=[9_000]), 400, ProblemType.INVALID_BODY, "widths[0]"),
        (PrefetchOrder(urls=[SAMPLE * 100] * 600), 413, ProblemType.BODY_TOO_LARGE, None),
    ],
    ids=["nothing", "scheme", "query", "width", "bytes"],
)
def test_start_prefetch_problems(
    admin: AuthenticatedClient, order: PrefetchOrder, status: int, kind: ProblemType, member: str | None
) -> None:
    answer = start_prefetch.sync_detailed(client=admin, body=order)
    assert answer.status_code == status and isinstance(answer.parsed, Problem)
    assert answer.parsed.type_ == kind
    assert member is None or answer.parsed.parameter == member


def test_start_prefetch_with_another_type(admin: AuthenticatedClient) -> None:
    answer = admin.get_httpx_client().post("/prefetch", content=b"{}", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
    assert Problem.from_dict(answer.json()).type_ == ProblemType.UNSUPPORTED_BODY


def started(admin: AuthenticatedClient, order: PrefetchOrder) -> PrefetchJob:
    job = start_prefetch.sync(client=admin, body=order)
    assert isinstance(job, PrefetchJob)
    return job


def watched(admin: AuthenticatedClient, job: PrefetchJob) -> list[tuple[str, PrefetchJob]]:
    """The events of a job; the stream must end by itself."""
    answer = watch_prefetch.sync_detailed(job.id, client=admin)
    assert answer.headers["Content-Type"] == "text/event-stream" and isinstance(answer.parsed, str)
    blocks = [block.split("\n") for block in answer.parsed.split("\n\n")[:-1] if not block.startswith(":")]
    return [
        (name.removeprefix("event: "), PrefetchJob.from_dict(json.loads(data.removeprefix("data: "))))
        for name, data in blocks
    ]


def last_of(events: list[tuple[str, PrefetchJob]]) -> PrefetchJob:
    name, job = events[-1]
    assert name == "end"
    return job
