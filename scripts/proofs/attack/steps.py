"""Lists of effects, whose costs compound: each effect sees the result of the ones before it."""

from collections.abc import Iterator

from attack.judge import Check, refused_as_expensive
from attack.lab import Lab, cost, image
from costs.dialects import darkroom
from costs.proof import FACTOR, MOST_SECONDS, SETTINGS, breach
from costs.search import Search

SIZE = (2725, 2225)
NAME = "large.jpg"
TOO_MANY = (["trim"] * 64, ["ro:90", "scale:99p"] * 31, ["blur:1"] * 9)
LONGEST = (
    ["trim"] * 8, ["ro:90", "scale:99p"] * 8, ["blur:9"] * 8, ["sharp:1", "bg:auto", "fill:blur:1:1:1:1"] * 8,
    ["trim", "ro:90", "scale:99p", "flip", "blur:1", "sharp:1", "round:9", "hue:9"] * 8,
)


def compounding_steps(lab: Lab) -> Iterator[Check]:
    """More equal effects than a list may have are refused, and the longest lists take at most three times their estimate."""
    images = lab.new_folder()
    (images / NAME).write_bytes(lab.photograph(*SIZE))
    with lab.server(f"--local-root={images}", *SETTINGS) as server:
        for steps in TOO_MANY:
            path = image(f"local:///{NAME}", f"steps={','.join(steps)}")
            yield refused_as_expensive(f"{len(steps)} steps, {steps[0]} …", cost(server, path), {"steps"})
        search = Search(server, [NAME], seed=0)
        search.calibrate(NAME)
        for steps in LONGEST:
            found = search.measured(darkroom(NAME, {"steps": ",".join(steps)}))
            what = f"{len(steps)} steps, {steps[0]} …"
            if not found:
                path = image(f"local:///{NAME}", f"steps={','.join(steps)}")
                yield refused_as_expensive(what, cost(server, path), {"steps", "width"})
                continue
            seen = f"{found.status}, {found.seconds:.2f} s of processor, {found.predicted_seconds:.2f} s estimated"
            bound = f"200 or a refusal, at most {FACTOR:g} times that and {MOST_SECONDS:g} s"
            yield Check(found.status in (200, 400, 422) and not breach(found), f"{what}: {seen} ({bound})")


ATTACKS = [compounding_steps]
