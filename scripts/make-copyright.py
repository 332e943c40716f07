#!/usr/bin/env python3
"""Writes what must accompany the executable, because the Swift runtime and packages are linked into it.

    make-copyright.py [--build .build] copyright   the copyright file, in Debian's machine-readable format 1.0
    make-copyright.py [--build .build] notices     the NOTICE files of the packages (Apache License, section 4(d))

Packages, versions and licenses come from the checkouts in the build folder. All packages that the build resolves are named;
not every file of them is part of the executable.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from resolved import BUILD, ROOT, Package, resolved_packages

ICU = ROOT / "deploy/debian/licenses/icu"
BOOST = ROOT / "deploy/debian/licenses/boost"
SOURCE_SUFFIXES = {".swift", ".c", ".cc", ".h", ".S", ".inc"}
HOLDER = re.compile(r"Copyright\s*(?:\([cC]\)|©)?\s*(?P<holder>.+)")
ENDING = re.compile(r"\s*(?:\*/|</p>|\\n.*|All rights reserved\.?|\")\s*$", re.IGNORECASE)
# Sentences of licenses about copyright.
NO_HOLDER = re.compile(r"\[|notice|owner|license|law", re.IGNORECASE)
YEARS = re.compile(r"^(?:-\s*)?(?:YEARS\b|\d{4})?(?:\s*(?:-|,|and|, and)\s*\d{4})*[,.]?\s*")
COMMENT = re.compile(r"/\*.*?\*/|(?:^//[^\n]*\n)+", re.DOTALL | re.MULTILINE)
EXCEPTION = "Runtime Library Exception"

APACHE = """On Debian systems, the text of the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0."""
SWIFT = f"""{APACHE}

As an exception, if you use this Software to compile your source code and portions of this Software are embedded into the
binary product as a result, you may redistribute such product without providing attribution as would otherwise be required by
Sections 4(a), 4(b) and 4(d) of the License."""
CC0 = """On Debian systems, the text of CC0 1.0 Universal is in /usr/share/common-licenses/CC0-1.0."""
EXPAT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to
whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""
LICENSES = {"Apache-2.0": APACHE, "Apache-2.0 with Runtime Library Exception": SWIFT, "Expat": EXPAT, "CC0-1.0": CC0}


@dataclass
class Bundled:
    """Foreign code inside of a package, under a license of its own."""

    path: str
    license: str
    holders: list[str]
    # The file whose first comment with terms is the license, unless that is one of LICENSES.
    terms: str | None = None

    def is_in(self, package: Package) -> bool:
        return self.path.startswith(f"{package.name}/")

    def source(self, package: Package) -> Path:
        return package.folder.parent / self.path


BUNDLED = [
    Bundled("Yams/Sources/CYaml", "Expat", ["2017-2020 Ingy döt Net", "2006-2016 Kirill Simonov"]),
    Bundled("swift-certificates/Sources/X509/X509BaseTypes/TimeCalculations.swift", "Expat", ["2005-2020 Rich Felker, et al."]),
    Bundled(
        "swift-crypto/Sources/CXKCP", "CC0-1.0",
        ["Guido Bertoni, Joan Daemen, Michaël Peeters and Gilles Van Assche"]),
    Bundled(
        "swift-crypto/Sources/CXKCP/FIPS202-opt64/brg_endian.h", "Gladman", ["1998-2008 Brian Gladman, Worcester, UK"],
        terms="swift-crypto/Sources/CXKCP/FIPS202-opt64/brg_endian.h"),
    Bundled("swift-nio/Sources/CNIOLLHTTP", "Expat", ["2018 Fedor Indutny"]),
    Bundled(
        "swift-nio/Sources/CNIOSHA1", "BSD-3-Clause", ["1995-1998 WIDE Project"],
        terms="swift-nio/Sources/CNIOSHA1/c_nio_sha1.c"),
    Bundled(
        "swift-nio-extras/Sources/CNIOExtrasZlib", "Zlib", ["1995-2024 Jean-loup Gailly and Mark Adler"],
        terms="swift-nio-extras/Sources/CNIOExtrasZlib/include/nioextras-zlib.h"),
]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, default=BUILD)
    parser.add_argument("document", choices=["copyright", "notices"])
    arguments = parser.parse_args()
    packages = resolved_packages(arguments.build)
    problems = [*unknown(packages)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    lines = copyright_lines(packages) if arguments.document == "copyright" else notice_lines(packages)
    sys.stdout.write("\n".join(lines).rstrip("\n") + "\n")
    return 0


def unknown(packages: list[Package]) -> Iterator[str]:
    """Licenses that this script cannot describe, so that an update of a package does not add one unnoticed."""
    for package in packages:
        if license_name(package) is None:
            yield f"{package.name}: its license is neither the Apache License 2.0 nor Expat; describe it in {__file__}"
        for nested in package.folder.glob("Sources/**/*LICENSE*"):
            if not any(nested.is_relative_to(each.source(package)) for each in BUNDLED):
                nested = nested.relative_to(package.folder.parent)
                yield f"{nested}: a license of its own; describe it in BUNDLED of {__file__}"
    for bundled in BUNDLED:
        if not any(bundled.is_in(package) and bundled.source(package).exists() for package in packages):
            yield f"{bundled.path}: not in the checkouts; remove it from BUNDLED of {__file__}"


def license_file(package: Package) -> Path:
    return next(iter(sorted(package.folder.glob("LICENSE*"))))


def license_name(package: Package) -> str | None:
    text = license_file(package).read_text(encoding="utf-8")
    if "Apache License" in text:
        return "Apache-2.0 with Runtime Library Exception" if EXCEPTION in text else "Apache-2.0"
    return "Expat" if words(EXPAT) in words(text) else None


def words(text: str) -> str:
    return " ".join(text.split())


def copyright_lines(packages: list[Package]) -> Iterator[str]:
    yield "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    yield "Upstream-Name: Darkroom"
    yield "Comment: The executable contains the Swift runtime with ICU, code of dlib, and code of the packages below."
    yield from paragraph("*", ["2026 The Darkroom authors"], "Apache-2.0")
    yield from paragraph(
        "swift-runtime/*", ["2014-2026 Apple Inc. and the Swift project authors"],
        "Apache-2.0 with Runtime Library Exception",
        comment="The standard library, Foundation and Dispatch, linked statically.")
    yield from paragraph(
        "swift-runtime/icu/*", ["2016-2024 Unicode, Inc.", "1995-2016 International Business Machines Corporation and others",
        "2006-2011 the V8 project authors"], "Unicode-3.0", ICU.read_text(encoding="utf-8"),
        comment="ICU 76 in FoundationICU. Its data contains no dictionaries for word breaks.")
    yield from paragraph(
        "dlib/*", ["2003-2021 Davis E. King"], "BSL-1.0", BOOST.read_text(encoding="utf-8"),
        comment="The detector of frontal faces, compiled from headers. Not in executables that were built without them.")
    for package in packages:
        yield from paragraph(
            f"{package.name}/*", holders(package), license_name(package), comment=f"Version {package.version}.")
        for bundled in BUNDLED:
            if bundled.is_in(package):
                yield from bundled_lines(bundled, package)
    for name, text in LICENSES.items():
        yield ""
        yield from license_field(name, text)


def bundled_lines(bundled: Bundled, package: Package) -> Iterator[str]:
    pattern = f"{bundled.path}/*" if bundled.source(package).is_dir() else bundled.path
    terms = license_comment(package.folder.parent / bundled.terms) if bundled.terms else None
    yield from paragraph(pattern, bundled.holders, bundled.license, terms)


def license_comment(file: Path) -> str:
    """The terms in a file's first comment that has some, without the comment's marks."""
    for comment in COMMENT.findall(file.read_text(encoding="utf-8")):
        if re.search(r"redistribution|permission", comment, re.IGNORECASE):
            return "\n".join(re.sub(r"^\s*(?:/\*+-?|\*/|\*|//)? ?", "", line).rstrip() for line in comment.splitlines()).strip("-\n ")
    raise SystemExit(f"{file}: no license terms in its comments")


def holders(package: Package) -> list[str]:
    """The distinct copyright holders that a package's license and sources name, the latter without years."""
    bundled = [each.source(package) for each in BUNDLED]
    folders = [package.folder / "Sources", package.folder / "GRDB"]
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.suffix in SOURCE_SUFFIXES]
    files = [file for file in files if file.is_file() and not any(file.is_relative_to(path) for path in bundled)]
    found: dict[str, None] = {}
    for file in [license_file(package), *files]:
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines()[:40]:
            match = HOLDER.search(line)
            holder = match["holder"] if match else ""
            if file.parent != package.folder:
                holder = YEARS.sub("", holder)
            holder = ENDING.sub("", holder).strip(" .*;")
            if holder[:1].isalnum() and not NO_HOLDER.search(holder):
                found[holder] = None
    return list(found) or ["the authors of the package"]


def notice_lines(packages: list[Package]) -> Iterator[str]:
    for package in packages:
        for notice in sorted(package.folder.glob("NOTICE*")):
            yield f"==== {package.name}"
            yield notice.read_text(encoding="utf-8")


def paragraph(files: str, names: list[str], license: str, text: str | None = None, comment: str | None = None) -> Iterator[str]:
    yield ""
    yield f"Files: {files}"
    yield f"Copyright: {names[0]}"
    yield from (f" {name}" for name in names[1:])
    if text:
        yield from license_field(license, text)
    else:
        yield f"License: {license}"
    if comment:
        yield f"Comment: {comment}"


def license_field(name: str, text: str) -> Iterator[str]:
    yield f"License: {name}"
    yield from (f" {line}" if line.strip() else " ." for line in text.strip("\n").splitlines())


if __name__ == "__main__":
    sys.exit(main())
