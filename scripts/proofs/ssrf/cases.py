"""URLs and their expected results, from this repository and from a corpus if present."""

import json
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from ssrf import names
from ssrf.spellings import spellings

HERE = Path(__file__).resolve().parent
BLOCK, PUBLIC, NOTHING = "block", "public", "nothing"
"""400, 403 or 502; an image or any refusal; no contact with a canary. Never 500."""


class Case(NamedTuple):
    url: str
    expected: str
    addresses: frozenset[str] = frozenset()
    """Addresses that it may contact besides the public origin."""
    literal: str = ""
    """The address in the URL, if it comes from this repository's table."""


def own() -> list[Case]:
    cases = []
    for line in (HERE / "cases.tsv").read_text().splitlines()[1:]:
        address, expected, _ = line.split("\t")
        allowed = frozenset([address]) if expected == PUBLIC else frozenset()
        cases += [Case(url, expected, allowed, address) for url in spellings(ip_address(address))]
    cases += [Case(f"http://{name}/", BLOCK) for name in [*names.BLOCKED, "localhost", "LOCALHOST", "localhost.", "ip6-localhost"]]
    cases += [Case(f"https://{name}/", BLOCK) for name in names.BLOCKED]
    cases += [Case(f"http://{name}/", PUBLIC) for name in names.ALLOWED]
    return cases


def of_corpus(folder: Path) -> list[Case]:
    rows = [json.loads(line) for line in (folder / "url-cases.jsonl").read_text().splitlines()]
    cases = [case(row["url"], row["expected"], row["whatwg_host"]) for row in rows]
    for line in (folder / "ip-ranges.tsv").read_text().splitlines()[1:]:
        address, expected, *_ = line.split("\t")
        host = f"[{address}]" if ":" in address else address
        cases.append(case(f"http://{host}/", expected, host))
    return cases


def case(url: str, expected: str, host: str) -> Case:
    """A row of the corpus; addresses that it calls public may be contacted."""
    if expected not in ("allow", "public-ip"):
        return Case(url, PUBLIC if expected == "public-name" else BLOCK)
    return Case(url, PUBLIC, frozenset([str(ip_address(host.strip("[]")))]))
