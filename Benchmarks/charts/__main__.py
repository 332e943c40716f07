"""Draws charts as SVG, and writes the tables of docs/benchmarks.md, from the JSON of a run. Contacts and measures nothing."""

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "measure"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="charts", description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, required=True, help="figures, as measure writes them")
    parser.add_argument("--docs", type=Path, required=True, help="the folder with benchmarks.md")
    options = parser.parse_args()
    import bars
    import curves
    import figures
    import tables

    if not options.json.exists():
        parser.error(f"{options.json} does not exist; run Benchmarks/run.sh first")
    sections = figures.read(options.json)
    charts = options.docs / "charts"
    charts.mkdir(exist_ok=True)
    drawn = []
    for name, draw in {**bars.CHARTS, **curves.CHARTS}.items():
        section = sections.get(name.partition("-")[0])
        if section:
            (charts / f"{name}.svg").write_text(draw({figure.key: figure for figure in section["figures"]}))
            drawn.append(name)
    tables.rewrite(options.docs / "benchmarks.md", sections, drawn)
    print(f"drawn: {', '.join(drawn)}")


if __name__ == "__main__":
    main()
