"""The attack: every case through every entry point, with a check of all contacts after each response."""

import argparse
import json
import re
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

from server import ROOT, TOKEN, Answer, Server, encoded
from ssrf import names, namespace
from ssrf.cases import BLOCK, NOTHING, Case, of_corpus, own
from ssrf.listeners import Handler, Listeners, redirect
from ssrf.watch import Contact, Watch

CLIENT = "127.0.0.99"
"""The source address of the proof's own requests."""
ORIGIN = "http://public.test"
ADMIN = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
STATUSES = (301, 302, 303, 307, 308)
SETTINGS = ("--insecure-tls-hosts=*", "--log-level=warning", "--queue-depth=10000")
UNGUARDED = ("--allow-networks=0.0.0.0/0,::/0",)
# 502: a name that leads to a forbidden address is answered like an unknown one.
REFUSALS = (400, 403, 502)
# `http:/10.0.0.1/` is a host in a URL parameter, but a path of the same host in a redirect.
ABSOLUTE = re.compile(r"\s*\w+:[/\\]{2}")
BATCH, BATCH_SECONDS = 400, 60


class Attempt(NamedTuple):
    entrance: str
    target: str
    case: Case
    expected: str


def run(arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    namespace.prepare()
    folder = arguments.corpus
    cases = own() + (of_corpus(folder / "ssrf") if (folder / "ssrf").is_dir() else [])
    with tempfile.TemporaryDirectory(prefix="darkroom-ssrf-") as name:
        proof = Proof(arguments.server, Path(name), folder)
        if not proof.harness_sees() or arguments.only_prove_harness:
            return 0 if arguments.only_prove_harness and not proof.breaches else 1
        proof.attack(cases)
    corpus = f"with the cases of {folder}" if (folder / "ssrf").is_dir() else f"no corpus at {folder}"
    print(f"ssrf: {len(cases):,} URLs, {corpus}; {time.monotonic() - began:.0f} s")
    for entrance, count in proof.done.items():
        print(f"{count:8,} {entrance}")
    print(f"{sum(proof.statuses.values()):8,} answers: " + ", ".join(f"{n:,} × {s}" for s, n in sorted(proof.statuses.items())))
    print(f"{proof.public_contacts:8,} contacts with public addresses, {len(proof.breaches)} breaches")
    for breach in proof.breaches[:20]:
        print(f"ssrf: {breach}", file=sys.stderr)
    return 1 if proof.breaches else 0


class Proof:
    def __init__(self, binary: Path, folder: Path, corpus: Path) -> None:
        self.binary, self.folder, self.corpus = binary, folder, corpus
        self.watch, self.resolver = Watch(), start_resolver()
        self.listeners = Listeners(folder)
        self.done: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.breaches: list[str] = []
        self.public_contacts = 0
        Handler.public = {names.PUBLIC, names.PUBLIC6}

    def server(self, *settings: str) -> Server:
        server = Server(self.binary, self.folder, *SETTINGS, *settings)
        server.wait_until_it_listens()
        return server

    def harness_sees(self) -> bool:
        """Without the address guard, contact with every reachable forbidden address must be detected."""
        cases = [case for case in own() if case.expected == BLOCK and case.url.startswith("http://") and may_connect(case.literal)]
        server, unseen = self.server(*UNGUARDED), []
        try:
            for case in cases:
                self.watch.contacts()
                self.ask(server, f"/image?w=2&url={encoded(case.url)}")
                if all(self.is_ours(contact, frozenset()) for contact in self.watch.contacts()):
                    unseen.append(case.url)
        finally:
            server.stop()
        print(
            f"ssrf: without its address guard, the server contacted {len(cases) - len(unseen):,} of {len(cases):,} reachable forbidden "
            f"addresses; canaries returned {self.listeners.canary_requests:,} images",
            flush=True,
        )
        for url in unseen[:20]:
            print(f"ssrf: not detected without the guard: {url!r}", file=sys.stderr)
        return not unseen and self.listeners.canary_requests > 0

    def attack(self, cases: list[Case]) -> None:
        server = self.server()
        try:
            for attempt in self.attempts(cases):
                self.judge(attempt, self.ask(server, attempt.target), self.watch.contacts())
            self.prefetch(server, [case for case in cases if case.expected == BLOCK])
            if status := server.stop():
                self.breaches.append(f"the server exited with status {status}")
            self.look("what came after all answers", self.watch.contacts(), frozenset())
        finally:
            server.kill()

    def attempts(self, cases: list[Case]) -> Iterator[Attempt]:
        for case in cases:
            url = encoded(case.url)
            yield Attempt("/image?url=", f"/image?w=2&url={url}", case, case.expected)
            yield Attempt("/info?url=", f"/info?url={url}", case, case.expected)
            yield Attempt("/explain?fetch=true", f"/explain?w=2&fetch=true&url={url}", case, NOTHING)
            fallback = f"/image?w=2&url={encoded(ORIGIN + '/broken')}&default={url}"
            yield Attempt("default=", fallback, case, NOTHING)
            yield from self.redirects(case)
        yield from self.drawings([case.url for case in cases if case.expected == BLOCK and case.url.isprintable()])
        yield from self.changing_names()

    def redirects(self, case: Case) -> Iterator[Attempt]:
        if any(character in case.url for character in "\r\n\0"):
            return
        for status in STATUSES:
            yield self.redirected(f"redirect {status}", redirect(status, case.url), case)
        yield self.redirected("three redirects", redirect(302, case.url, hops=3), case)
        scheme, _, rest = case.url.partition("://")
        if scheme == "http" and rest:
            yield self.redirected("redirect without a scheme", redirect(302, "//" + rest), case)

    def redirected(self, entrance: str, path: str, case: Case) -> Attempt:
        return Attempt(entrance, f"/image?w=2&url={encoded(ORIGIN + path)}", case, NOTHING)

    def drawings(self, urls: list[str]) -> Iterator[Attempt]:
        """SVGs that make their renderer fetch other resources."""
        texts = [svg(url) for url in urls[:: max(1, len(urls) // 40)]] + [svg("file:///etc/passwd")]
        files = [*(ROOT / "Fixtures/images/svg").glob("*.svg"), *(self.corpus / "svg-ssrf").glob("*.svg")]
        for number, body in enumerate([text.encode() for text in texts] + [file.read_bytes() for file in files]):
            self.listeners.svgs[f"/{number}.svg"] = body
            target = f"/image?w=20&url={encoded(f'{ORIGIN}/{number}.svg')}"
            yield Attempt("SVG with external references", target, Case(f"SVG {number}", NOTHING), NOTHING)

    def changing_names(self) -> Iterator[Attempt]:
        """Names that change to a private address, each looked up often enough."""
        for number in range(6):
            for name in [*names.REBINDING, names.REBINDING_AND_DROPPING]:
                case = Case(f"http://{name}/{number}", NOTHING, frozenset([names.DROPS]))
                yield Attempt("rebinding", f"/image?w=2&url={encoded(case.url)}", case, NOTHING)
                path = redirect(302, case.url + "/again")
                yield self.redirected("rebinding", path, case)
            time.sleep(names.MEMORY_SECONDS)
        case = Case(f"http://{names.SILENT}/", NOTHING)
        yield Attempt("name without a response", f"/image?w=2&url={encoded(case.url)}", case, NOTHING)

    def prefetch(self, server: Server, cases: list[Case]) -> None:
        urls = [case.url for case in cases]
        urls = [url for url in urls if self.ask(server, "/prefetch", "POST", [url]).status == 202]
        urls += [ORIGIN + redirect(307, url) for url in urls if url.isprintable() and ABSOLUTE.match(url)]
        for at in range(0, len(urls), BATCH):
            answer = self.ask(server, "/prefetch", "POST", urls[at : at + BATCH])
            job, deadline = answer.headers.get("location", ""), time.monotonic() + BATCH_SECONDS
            while (state := json.loads(self.ask(server, job).body))["state"] == "running" and time.monotonic() < deadline:
                time.sleep(0.05)
            self.done["/prefetch"] += state["total"]
            if state["state"] == "running" or state["failed"] != state["total"]:
                self.breaches.append(f"of a prefetch job of {state['total']} forbidden addresses {state['failed']} failed")
        self.look("/prefetch", self.watch.contacts(), frozenset())

    def ask(self, server: Server, path: str, method: str = "GET", urls: list[str] | None = None) -> Answer:
        body = json.dumps({"urls": urls, "widths": [2]}).encode() if urls else None
        headers = ADMIN if path.startswith("/prefetch") or "/prefetch/" in path else {}
        try:
            return server.ask(path, method, headers, body, source=CLIENT)
        except (OSError, HTTPException) as error:
            self.breaches.append(f"no response to {path[:300]}: {error!r}")
            return Answer(0, {}, b"", 0)

    def judge(self, attempt: Attempt, answer: Answer, contacts: list[Contact]) -> None:
        self.done[attempt.entrance] += 1
        self.statuses[answer.status] += 1
        what = f"{attempt.entrance} {attempt.case.url!r}"
        self.look(what, contacts, attempt.case.addresses)
        if answer.status == 500 or attempt.expected == BLOCK and answer.status not in REFUSALS:
            self.breaches.append(f"{what} returned {answer.status} {answer.problem}")
        is_relative = "redirect" in attempt.entrance and not ABSOLUTE.match(attempt.case.url)
        if attempt.case.expected == BLOCK and answer.status == 200 and "explain" not in attempt.target and not is_relative:
            self.breaches.append(f"{what} returned an image")

    def look(self, what: str, contacts: list[Contact], addresses: frozenset[str]) -> None:
        for contact in contacts:
            if not self.is_ours(contact, addresses):
                self.breaches.append(f"{what} led to a {contact}")
            elif contact.source != CLIENT:
                self.public_contacts += 1

    def is_ours(self, contact: Contact, addresses: frozenset[str]) -> bool:
        """Whether a contact is one of the proof's own requests, or allowed."""
        if contact.source == CLIENT or contact.port == 53 and contact.address == namespace.RESOLVER:
            return True
        answers_of_dns = contact.source == namespace.RESOLVER and contact.kind == "datagram"
        return answers_of_dns or contact.address in {names.PUBLIC, names.PUBLIC6} | addresses


def start_resolver():
    from ssrf.resolver import Resolver

    return Resolver()


@lru_cache
def may_connect(address: str) -> bool:
    """Excludes multicast, broadcast, and link-local without an interface, which the kernel refuses."""
    try:
        socket.create_connection((address, 80), 2).close()
    except OSError:
        return False
    return bool(address)


def svg(url: str) -> str:
    return (
        f'<?xml version="1.0"?><?xml-stylesheet href="{escaped(url)}" type="text/css"?>'
        f'<!DOCTYPE svg [<!ENTITY e SYSTEM "{escaped(url)}">]>'
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" width="20" height="20">'
        f'<style>@import url("{escaped(url)}");</style><image x:href="{escaped(url)}" width="9" height="9"/>'
        f'<use href="{escaped(url)}#a"/><text>&e;</text></svg>'
    )


def escaped(url: str) -> str:
    return url.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
