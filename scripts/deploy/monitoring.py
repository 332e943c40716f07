"""Checks dashboard and alerts: with promtool, and against a scrape of a running server."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from running import ask, children, darkroom, wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
RUNBOOK = ROOT / "docs/runbook.md"
TOKEN = "deploy-check-token-0123456789"
NOWHERE = "http://127.0.0.1:9"
# Labels that Prometheus adds to each series.
TARGET = {"job", "instance"}
SELECTOR = re.compile(r'\b(?P<metric>(?:darkroom|process)_\w+|up)\b(?:\{(?P<matchers>(?:[^{}"]|"[^"]*")*)\})?')
MATCHER = re.compile(r'(?P<label>\w+)\s*(?P<operator>=~|!~|!=|=)\s*"(?P<value>[^"]*)"')
GROUPING = re.compile(r"\b(?:by|without|on|ignoring)\s*\((?P<labels>[\w\s,]*)\)")
SAMPLE = re.compile(r"(?P<metric>\w+)(?:\{(?P<labels>.*)\})? \S+")
LABEL = re.compile(r'(?P<label>\w+)="(?P<value>(?:[^"\\]|\\.)*)"')

Series = dict[str, dict[str, set[str]]]
"""The values of each label, by the names of samples."""


class Query(NamedTuple):
    """A query, and where it is used."""

    place: str
    text: str
    legend: str
    """Text that may name labels of the result."""


def checks(folder: Path) -> Iterator[tuple[str, Callable[[Path], None]]]:
    rules, test = folder / "prometheus/alerts.yaml", folder / "prometheus/alerts-test.yaml"
    sample, dashboard = folder / "prometheus/prometheus.yaml", folder / "grafana/darkroom.json"
    yield "prometheus: the configuration is valid", lambda _: promtool("check", "config", "--syntax-only", sample)
    yield "prometheus: alerts are valid", lambda _: promtool("check", "rules", rules)
    yield "prometheus: alerts fire when they should", lambda _: promtool("test", "rules", test)
    yield "prometheus: alerts have a delay, a severity, advice, a test and a section of the runbook", lambda _: advice(rules, test)
    yield "grafana: panels are complete", lambda _: panels(dashboard)
    yield "grafana: queries are valid", lambda _: valid(queries_of_dashboard(dashboard))
    yield "metrics: a scrape is what Prometheus expects", lambda server: promtool("check", "metrics", text=scrape(server))
    yield "prometheus: metrics and labels of alerts exist", partial(exist, queries_of_rules(rules))
    yield "grafana: metrics and labels of panels exist", partial(exist, queries_of_dashboard(dashboard))


def promtool(*arguments: str | Path, text: str | None = None) -> None:
    name = shutil.which("promtool") or ROOT / ".build/prometheus/promtool"
    run = subprocess.run([name, *arguments], input=text, capture_output=True, text=True)
    # `check metrics` reports names that break conventions, with exit status 3.
    assert run.returncode == 0, f"promtool {arguments[0]} {arguments[1]}: {run.stdout}{run.stderr}"


# Files.


def queries_of_rules(file: Path) -> list[Query]:
    rules = [rule for group in yaml.safe_load(file.read_text())["groups"] for rule in group["rules"]]
    return [Query(rule["alert"], rule["expr"], " ".join(rule["annotations"].values())) for rule in rules]


def queries_of_dashboard(file: Path) -> list[Query]:
    dashboard = json.loads(file.read_text())
    found = [
        Query(panel["title"], plain(target["expr"]), target["legendFormat"])
        for panel in dashboard["panels"] for target in panel.get("targets", [])
    ]
    found += [Query(one["name"], plain(one["expr"]), one["titleFormat"]) for one in dashboard["annotations"]["list"]]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            selector, label = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["definition"]).groups()
            found.append(Query(variable["name"], f"count by ({label}) ({plain(selector)})", ""))
    return found


def plain(query: str) -> str:
    """A query with values in place of Grafana's variables."""
    query = query.replace("$__rate_interval", "5m").replace("$job", ".+").replace("$instance", ".+")
    assert "$" not in query, f"a variable is unknown: {query}"
    return query


def advice(rules: Path, test: Path) -> None:
    tested = test.read_text()
    sections = re.findall(r"^## (Darkroom\w+)$", RUNBOOK.read_text(), re.MULTILINE)
    alerts = [rule["alert"] for group in yaml.safe_load(rules.read_text())["groups"] for rule in group["rules"]]
    assert sections == alerts, f"sections of the runbook, {sections}, are not the alerts in their order, {alerts}"
    for group in yaml.safe_load(rules.read_text())["groups"]:
        for rule in group["rules"]:
            name = rule["alert"]
            assert rule.get("for"), f"{name} has no delay."
            assert rule["labels"]["severity"] in ("critical", "warning"), f"{name}: {rule['labels']}"
            assert rule["annotations"]["summary"] and len(rule["annotations"]["description"]) > 80, f"{name} has no advice."
            url = rule["annotations"]["runbook_url"]
            assert url == f"docs/runbook.md#{name.lower()}", f"{name}: {url}"
            assert f'alertname="{name}"' in tested, f"{name} has no test."


def panels(file: Path) -> None:
    text = file.read_text()
    dashboard = json.loads(text)
    assert text == json.dumps(dashboard, indent=2, ensure_ascii=False) + "\n", "The indentation is not two blanks."
    identifiers = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(identifiers)) == len(identifiers), "Two panels have one id."
    cells: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        at, title = panel["gridPos"], panel["title"]
        mine = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not mine & cells and max(mine)[0] < 24, f"{title} overlaps another panel, or the edge."
        cells |= mine
        if panel["type"] == "row":
            continue
        assert len(panel["description"]) > 40, f"{title} has no description."
        assert panel["datasource"]["uid"] == "${datasource}", f"{title} has a data source of its own."
        assert panel["type"] == "heatmap" or panel["fieldConfig"]["defaults"]["unit"], f"{title} has no unit."


def valid(queries: list[Query]) -> None:
    rules: list[dict[str, Any]] = [{"record": f"query:{number}", "expr": one.text} for number, one in enumerate(queries)]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}, file)
        file.flush()
        promtool("check", "rules", Path(file.name))


# Metrics.


def exist(queries: list[Query], server: Path) -> None:
    series = samples(scrape(server))
    problems = [f"{query.place}: {problem}" for query in queries for problem in problems_of(query, series)]
    assert queries and not problems, "; ".join(problems)


def problems_of(query: Query, series: Series) -> Iterator[str]:
    known = set(TARGET)
    for selector in SELECTOR.finditer(query.text):
        name, matchers = selector["metric"], selector["matchers"] or ""
        labels = {} if name == "up" else series.get(name)
        if labels is None:
            yield f"no metric {name}"
            continue
        known |= set(labels)
        for matcher in MATCHER.finditer(matchers):
            if matcher["label"] not in TARGET:
                yield from problems_of_matcher(name, matcher, labels)
    used = {label for group in GROUPING.finditer(query.text) for label in re.findall(r"\w+", group["labels"])}
    used |= set(re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", query.legend))
    yield from (f"no label {label}" for label in sorted(used - known))


def problems_of_matcher(name: str, matcher: re.Match, labels: dict[str, set[str]]) -> Iterator[str]:
    label, value = matcher["label"], matcher["value"]
    if label not in labels:
        yield f"no label {label} of {name}"
        return
    # Each alternative has to exist, so that a misspelled one is noticed.
    for alternative in value.split("|") if "~" in matcher["operator"] else [re.escape(value)]:
        if not any(re.fullmatch(alternative, one) for one in labels[label]):
            yield f"no series {name}{{{label}={alternative!r}}}"


def samples(text: str) -> Series:
    series: Series = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            sample = SAMPLE.fullmatch(line)
            labels = series.setdefault(sample["metric"], {})
            for label in LABEL.finditer(sample["labels"] or ""):
                labels.setdefault(label["label"], set()).add(label["value"])
    return series


@cache
def scrape(server: Path) -> str:
    """The metrics of a server that has answered requests of each kind, and of which a worker was killed."""
    # Nothing listens for objects and spans, but they are counted.
    keys = tempfile.NamedTemporaryFile("w", suffix=".json")
    json.dump([{"id": "k1", "secret": "k" * 32, "cache": "1MiB", "processor": "60s/m", "egress": "1GiB/d"}], keys)
    keys.flush()
    settings = [f"--local-root={ROOT / 'Fixtures/images'}", "--shared-store=s3://darkroom", f"--s3-endpoint={NOWHERE}",
                f"--otlp-endpoint={NOWHERE}", f"--signing-keys-file={keys.name}",
                f"--purge-to=varnish={NOWHERE}/", "--response-tags=xkey"]
    token = {"Authorization": f"Bearer {TOKEN}"}
    variables = {"DARKROOM_ADMIN_TOKEN": TOKEN, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
    with darkroom(server, *settings, **variables) as (port, _):

        def metrics() -> str:
            answer = ask(port, "/metrics", token)
            assert answer.status == 200, answer
            return answer.body.decode()

        image = "/image?url=local:///sample.jpg&w=160"
        tag = ask(port, image, token).headers["etag"]
        assert ask(port, image, token | {"If-None-Match": tag}).status == 304, tag
        for target, status in (
            (image, 200),
            ("/image?url=local:///hostile/header-only.jpg", 422),
            ("/image?url=local:///none.jpg", 404),
            ("/image?w=0", 400),
            ("/signed/k1.signature/dXJs", 403),
            ("/health/ready", 200),
        ):
            answer = ask(port, target, token)
            assert answer.status == status, (target, answer)
        crashed = 'darkroom_worker_ends_total{reason="crashed"} '
        assert crashed + "0\n" in metrics(), "A worker crashed."
        processes = [one for child in children(os.getpid()) for one in children(child)]
        worker = next(one for one in processes if Path(f"/proc/{one}/comm").read_text() == "darkroom-worker\n")
        os.kill(worker, signal.SIGKILL)
        wait_until(lambda: crashed + "1\n" in metrics())
        return metrics()
