"""Measures every decoder, output, step and pair of steps against the cost that plans declare for it.

Processor time counts the job alone, the least of some rounds, relative to the plain case (a JPEG of 2.5 megapixels to
w=400); memory is the growth of the process's resident set to its peak. Exit status 1: a declaration is wrong by more than
a factor of two, other than an exception that `cases.py` names with its reason.
"""

import argparse
import sys
from pathlib import Path

from cases import UNPREDICTED, every
from driver import Driver, Result
from sources import Sources
from table import lines, summary, written

SECTIONS = ("decoder", "output", "step", "animation", "drawing", "pair")
ALLOWED = 2.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="costs", description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", help=f"any of {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--driver", type=Path, required=True)
    parser.add_argument("--photograph", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="for generated sources, which are kept")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=40, help="rows of the table, worst first")
    parser.add_argument("--document", type=Path, help="document with the table to replace")
    parser.add_argument("--figures", type=Path, help="file for all figures, as tab-separated values")
    options = parser.parse_args()
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"unknown sections: {', '.join(sorted(unknown))}; known: {', '.join(SECTIONS)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    results = measured(options)
    wrong = [result for result in results if not result.is_within(ALLOWED) and result.case.name not in UNPREDICTED]
    print(*lines(results, options.rows), sep="\n")
    print(summary(results))
    if options.document:
        written(options.document, results, options.rows)
    return 1 if wrong else 0


def measured(options: argparse.Namespace) -> list[Result]:
    driver = Driver(options.driver, Sources(options.folder, options.photograph), options.rounds)
    cases = [case for case in every(options.driver) if not options.sections or case.section in options.sections]
    print(f"{len(cases)} cases", flush=True)
    results = []
    for result in driver.run(cases):
        results.append(result)
        if options.figures:
            with options.figures.open("a") as file:
                file.write("\t".join(map(str, fields(result))) + "\n")
    return results


def fields(result: Result) -> list[object]:
    case = result.case
    return [
        case.section, case.name, case.size, case.width, f"{result.predicted_milliseconds:.2f}",
        f"{result.milliseconds:.2f}", f"{result.time:.2f}", result.predicted_bytes, result.bytes, f"{result.memory:.2f}"]


if __name__ == "__main__":
    sys.exit(main())
