"""Builds the documentation site from README.md, docs/ and the files that they link to. A broken link fails.

The list of pages in README.md is the navigation. Files outside docs/ that a page links to become pages with their text.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
README = ROOT / "README.md"
# Pages outside of docs/, by their name on the site.
PAGES = {README: "index.md"} | {ROOT / name: name for name in ("SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "Fixtures/README.md")}
# Pages that search leaves out: they mention everything, and answer no question of a user.
UNSEARCHED = {"CHANGELOG.md", "Fixtures/README.md", "proofs.md"}
# Words that people search for, by the page that answers, beside the words of the page.
WORDS = {
    "caching.md": "purge invalidate ttl stale revalidate cache-control",
    "capacity.md": "memory usage cpu ram sizing instances cost",
    "cards.md": "open-graph og:image social card twitter title template several images gradient",
    "cdn.md": "cdn fastly cloudfront bunny edge",
    "clients.md": "javascript python php ruby go java csharp sdk",
    "command-line.md": "cli batch convert files",
    "deploying.md": "kubernetes k8s helm nginx haproxy caddy ingress load-balancer tls https http2",
    "development.md": "localhost 127.0.0.1 private-network development",
    "errors.md": "403 404 502 503 problem error",
    "formats.md": "avif webp jxl jpeg-xl svg png gif heic convert format animation",
    "front-end.md": "nextjs next.js react nuxt astro vue picture placeholder lqip",
    "iiif.md": "iiif openseadragon deep-zoom tiles",
    "installing.md": "docker container debian package apt systemd install",
    "isolation.md": "sandbox seccomp landlock",
    "library.md": "swift package spm",
    "marks.md": "watermark logo overlay",
    "metrics.md": "prometheus metrics",
    "migrating.md": "imgix cloudinary migrate",
    "object-storage.md": "s3 minio r2 gcs bucket",
    "observability.md": "health check probe liveness readiness logs traces opentelemetry grafana",
    "parameters.md": "upscale enlarge resize crop rotate blur round corners face",
    "production.md": "tutorial quickstart getting started production",
    "quality.md": "quality ssimulacra compression",
    "running.md": "reload sighup shutdown production unix-socket",
    "settings.md": "timeout environment variables configuration yaml options",
    "signing.md": "authentication authorization signature signed token hmac cors rate limit presets",
    "srcset.md": "srcset responsive sizes",
    "tenants.md": "quota multi-tenant",
    "uploads.md": "upload post",
}
LINK = re.compile(r"(?<=\]\()(?P<path>[^)\s#]*)(?P<anchor>#[^)\s]*)?(?=\))")
FENCED = re.compile(r"(^ *```.*?^ *```[^\n]*$)", re.MULTILINE | re.DOTALL)
LANGUAGES = {".cfg": "text", ".conf": "nginx", ".js": "js", ".json": "json", ".yaml": "yaml", ".swift": "swift", ".py": "python", ".go": "go"}
# Larger files are linked as they are.
MAX_PAGE_BYTES = 40_000


class Site:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: set[Path] = set()
        """Files outside of docs/ that have become pages."""
        self.broken: list[str] = []

    def stage(self) -> None:
        """Copies everything that the generator reads to the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(ROOT / "docs", self.folder, ignore=shutil.ignore_patterns("*.md"))
        assets = self.folder / "assets"
        assets.mkdir()
        for name in ("site.css", "favicon.svg"):
            shutil.copy(HERE / name, assets)
        for page in [*PAGES, *sorted((ROOT / "docs").glob("*.md"))]:
            self.write(name_of(page), searched(name_of(page)) + self.linked(page))

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def linked(self, page: Path) -> str:
        """The text of a page with links that hold on the site."""
        depth = name_of(page).count("/")

        def target(match: re.Match) -> str:
            path, anchor = match["path"], match["anchor"] or ""
            if not path or ":" in path:
                return match[0]
            file = (page.parent / path).resolve()
            if not file.exists() or not file.is_relative_to(ROOT):
                self.broken.append(f"{page.relative_to(ROOT)}: {path}")
                return match[0]
            return "../" * depth + self.name_for(file) + anchor

        parts = FENCED.split(page.read_text())
        return "".join(part if at % 2 else LINK.sub(target, part) for at, part in enumerate(parts))

    def name_for(self, file: Path) -> str:
        """The name of a file on the site, to which it is added if it is not there."""
        if file in PAGES or file.is_relative_to(ROOT / "docs"):
            return name_of(file)
        name = f"files/{file.relative_to(ROOT)}"
        if file.is_file() and file.stat().st_size > MAX_PAGE_BYTES:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, self.folder / name)
            return name
        name += "/index.md" if file.is_dir() else ".md"
        if file not in self.files:
            self.files.add(file)
            self.write(name, self.folder_page(file, name) if file.is_dir() else file_page(file))
        return name

    def folder_page(self, folder: Path, name: str) -> str:
        up = "../" * name.count("/")
        tracked = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
        rows = [f"- [{file}]({up}{self.name_for(ROOT / file)})" for file in tracked if (ROOT / file).is_file()]
        return "\n".join([*hidden(f"{folder.relative_to(ROOT)}/"), *rows, ""])


def name_of(page: Path) -> str:
    return PAGES.get(page) or str(page.relative_to(ROOT / "docs"))


def searched(name: str) -> str:
    """The beginning of a page that says how search treats it."""
    if name in UNSEARCHED:
        return "---\nsearch: {exclude: true}\n---\n\n"
    return f"---\ntags: {json.dumps(WORDS[name].split())}\n---\n\n" if name in WORDS else ""


def hidden(title: str) -> list[str]:
    """The beginning of a page that search leaves out."""
    return ["---", f"title: {title}", "search: {exclude: true}", "---", "", f"# {title}", ""]


def file_page(file: Path) -> str:
    language = LANGUAGES.get(file.suffix, "text")
    return "\n".join([*hidden(str(file.relative_to(ROOT))), f"````{language}", file.read_text().rstrip("\n"), "````", ""])


def navigation() -> Iterator[str]:
    """The questions of README.md and the pages below each, as YAML."""
    yield from ("nav:", "  - Darkroom: index.md")
    pages = README.read_text().partition("\n## Documentation\n")[2]
    group, listed = "Pages", {"README.md"}
    for line in pages.splitlines():
        if question := re.fullmatch(r"\*\*(.+)\*\*", line):
            group = question[1]
        for title, name in re.findall(r"\[([^]]+)\]\((?:docs/)?([A-Za-z-]+\.md)\)", line):
            if group:
                yield f"  - {group!r}:"
                group = ""
            if name not in listed:
                listed.add(name)
                yield f"      - {title.removesuffix('.md').capitalize() if title == name else title}: {name}"
    yield "not_in_nav: |\n  /files/\n  Fixtures/README.md"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / ".build/site", help="folder of the site (.build/site)")
    options = parser.parse_args()
    site = Site(ROOT / ".build/site-source")
    site.stage()
    for link in site.broken:
        print(f"broken link: {link}", file=sys.stderr)
    if site.broken:
        return 1
    configuration = ROOT / ".build/site-source.yml"
    text = [f"docs_dir: {site.folder}", f"site_dir: {options.output.resolve()}", *navigation()]
    configuration.write_text("\n".join([(HERE / "mkdocs.yml").read_text(), *text, ""]))
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "--config-file", configuration]
    built = subprocess.run(command, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=False)
    if built.returncode:
        return built.returncode
    if node := shutil.which("node"):
        asked = subprocess.run([node, HERE / "search.mjs", options.output.resolve()], check=False)
        if asked.returncode:
            return asked.returncode
    else:
        print("The search was not asked: that needs node", file=sys.stderr)
    print(f"python3 -m http.server --directory {options.output} shows the site")
    return 0


if __name__ == "__main__":
    sys.exit(main())
