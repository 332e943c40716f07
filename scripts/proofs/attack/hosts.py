"""A restart with shorter lists of hosts and networks, on a cache that still has images that were allowed before."""

from collections.abc import Iterator

from attack.judge import Check
from attack.lab import LOOPBACK, Lab, asked, image
from attack.origin import Origin
from server import Answer, Server, encoded

KEPT, FORBIDDEN = "127.0.0.1", "127.0.0.4"


def shorter_allow_hosts(lab: Lab) -> Iterator[Check]:
    """Cached images of a host that `allow-hosts` no longer names are refused, at known and at new sizes."""
    first = (LOOPBACK, f"--allow-hosts={KEPT},{FORBIDDEN}")
    yield from after_restart(lab, first, (LOOPBACK, f"--allow-hosts={KEPT}"))


def shorter_allow_networks(lab: Lab) -> Iterator[Check]:
    """Cached images of an address that `allow-networks` no longer contains are refused alike."""
    yield from after_restart(lab, (LOOPBACK,), (f"--allow-networks={KEPT}/32",))


def after_restart(lab: Lab, first: tuple[str, ...], second: tuple[str, ...]) -> Iterator[Check]:
    folder, origin = lab.new_folder(), Origin(FORBIDDEN)
    origin.documents["photo"] = lab.origin.documents["photo"]
    forbidden, kept = origin.url("photo/1.jpg"), lab.origin.url("photo/1.jpg")
    missing = lab.origin.url("none/1.jpg")
    paths = [
        image(forbidden, "w=40"), f"/info?url={encoded(forbidden)}", image(kept, f"w=50&mark={encoded(forbidden)}"),
        image(missing, f"w=50&default={encoded(forbidden)}"), f"/iiif/{encoded(forbidden)}/full/60,/0/default.jpg",
    ]
    new = [
        image(forbidden, "w=41"), image(forbidden, "w=40&cache=only-if-cached"),
        image(forbidden, "w=40&cache=force-cache"), image(kept, f"w=51&mark={encoded(forbidden)}"),
        f"/iiif/{encoded(forbidden)}/full/61,/0/default.jpg",
    ]
    try:
        with lab.server(*first, "--iiif=true", folder=folder) as server:
            before = [asked(server, path) for path in paths]
            stored = asked(server, image(kept, "w=40"))
        yield Check(
            all(answer.status == 200 for answer in [*before, stored]),
            f"allowed at first: {[answer.status for answer in before]} (each 200)",
        )
        with lab.server(*second, "--iiif=true", folder=folder) as server:
            for path in [*paths, *new]:
                yield refused(server, path)
            other = asked(server, image(kept, "w=40"))
            yield Check(other.status == 200, f"the other host: {other.status} (200)")
    finally:
        origin.close()


def refused(server: Server, path: str) -> Check:
    answer: Answer = asked(server, path)
    # The image behind `default` may be left out in favor of the problem of the source itself.
    statuses = {403, 404, 502} if "default=" in path else {403}
    seen = f"{answer.status} {answer.problem} {answer.headers.get('cache-status', '')}"
    return Check(answer.status in statuses, f"{path}: {seen} ({' or '.join(map(str, sorted(statuses)))})")


ATTACKS = [shorter_allow_hosts, shorter_allow_networks]
