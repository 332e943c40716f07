"""URLs and what has to become of them: of this repository, and of a corpus beside it where there is one."""

import json
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from ssrf import names
from ssrf.spellings import spellings

HERE = Path(__file__).resolve().parent
BLOCK, PUBLIC, NOTHING = "block", "public", "nothing"
"""400 or 403; a picture or any refusal; only that no canary is contacted. None may be a 500."""


class Case(NamedTuple):
    url: str
    expected: str
    addresses: frozenset[str] = frozenset()
    """Where it may go to besides the public origin."""
    literal: str = ""
    """The address that the URL spells, if it is one of this repository's table."""


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
    """A row in the corpus' words; what it says is public may be contacted."""
    if expected not in ("allow", "public-ip"):
        return Case(url, PUBLIC if expected == "public-name" else BLOCK)
    return Case(url, PUBLIC, frozenset([str(ip_address(host.strip("[]")))]))
