"""The responses of the resolver by name. Every other name is a public host."""

import re

PUBLIC, PUBLIC6 = "93.184.215.14", "2606:2800:21f:cb07::14"
DROPS = "93.184.215.66"
"""Also public, but closes each connection without a response."""
NOBODY = [("", "nobody answers")]

# For each name its addresses in response order, or the name that it is an alias of.
FIXED: dict[str, list[str]] = {
    "private-10.test": ["10.1.2.3"],
    "private-172.test": ["172.16.9.9"],
    "private-192.test": ["192.168.1.1"],
    "metadata.test": ["169.254.169.254"],
    "loopback.test": ["127.0.0.1"],
    "loopback-high.test": ["127.255.255.254"],
    "zero.test": ["0.0.0.0"],
    "shared.test": ["100.64.0.1"],
    "loopback6.test": ["::1"],
    "unique-local.test": ["fd00::1"],
    "mapped.test": ["::ffff:10.0.0.1"],
    "compatible.test": ["::10.0.0.1"],
    "nat64.test": ["64:ff9b::10.0.0.1"],
    "nat64-local.test": ["64:ff9b:1::10.0.0.1"],
    "6to4.test": ["2002:a00:1::1"],
    "teredo.test": ["2001:0:a00:1::1"],
    "private-first.test": ["10.0.0.1", PUBLIC],
    "private-last.test": [PUBLIC, "10.0.0.1"],
    "private-between.test": [PUBLIC, "192.168.0.1", DROPS],
    "private-after-a-dropping-one.test": [DROPS, "10.0.0.1"],
    "private-only-in-aaaa.test": [PUBLIC, "fd00::1"],
    "private-only-in-a.test": [PUBLIC6, "10.0.0.1"],
    "loopback-only-in-aaaa.test": [PUBLIC, "::1"],
    "private-in-a-long-answer.test": [*(f"93.184.{n}.14" for n in range(100, 180)), "10.0.0.1"],
    "alias.test": ["alias-2.test"],
    "alias-2.test": ["alias-3.test"],
    "alias-3.test": ["127.0.0.1"],
    "alias-of-localhost.test": ["localhost"],
    "alias-of-public-and-private.test": ["private-last.test"],
    "localhost": ["127.0.0.1"],
    "localtest.me": ["127.0.0.1"],
    "www.localtest.me": ["127.0.0.1"],
    "metadata.nicob.net": ["169.254.169.254"],
    "spoofed.burpcollaborator.net": ["127.0.0.1"],
}
BLOCKED = [name for name in FIXED if name.endswith(".test")]
ALLOWED = {"public.test": [PUBLIC], "public-both.test": [PUBLIC, PUBLIC6], "public-alias.test": ["public.test"]}
SILENT = "silent.test"
# Names that resolve to a public address first, and to a private one from the second, third or fourth lookup on.
REBINDING = [f"rebind-{after}-{to}.test" for after in (1, 2, 3) for to in ("10.0.0.1", "127.0.0.1", "169.254.169.254")]
# The same, but the public address drops the connection, so that a retry may resolve the name again.
REBINDING_AND_DROPPING = "rebind-drop.test"
MEMORY_SECONDS = 5
"""How long the server remembers addresses, and so does not look a name up again."""
EMBEDDED = re.compile(r"(?:^|\.)(\d+\.\d+\.\d+\.\d+)\.(?:nip\.io|xip\.io|1time\.)")


def answers(name: str, asked_before: int) -> list[tuple[str, str]]:
    """(owner, value) pairs; a value that is not an address makes the owner an alias of it."""
    if name == SILENT:
        return NOBODY
    if name == REBINDING_AND_DROPPING:
        return [(name, DROPS if asked_before == 0 else "10.0.0.1")]
    if name in REBINDING:
        after, to = name.removeprefix("rebind-").removesuffix(".test").split("-", 1)
        return [(name, PUBLIC if asked_before < int(after) else to)]
    if found := EMBEDDED.search(name):
        return [(name, found[1])]
    values = FIXED.get(name) or ALLOWED.get(name) or [PUBLIC]
    records = [(name, value) for value in values]
    is_alias = len(values) == 1 and not values[0][0].isdigit() and ":" not in values[0]
    return records + (answers(values[0], 0) if is_alias else [])
