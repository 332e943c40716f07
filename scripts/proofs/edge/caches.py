"""Varnish and nginx with the samples in deploy/; only their addresses are changed."""

import re
from pathlib import Path

from ports import free_port
from proxy import Proxy, found
from server import ROOT


class Cache(Proxy):
    def __init__(self, folder: Path, *, tags: bool = True) -> None:
        super().__init__()
        self.folder, self.tags = folder / self.name, tags

    def start(self, backend: int) -> None:
        self.backend = backend
        self.folder.mkdir()
        # The worker processes have another user.
        self.folder.chmod(0o777)
        self.run(self.command(), self.folder / "log")

    def command(self) -> list[str]:
        raise NotImplementedError

    @property
    def edge(self) -> str:
        """The member of purge-to."""
        raise NotImplementedError


class Varnish(Cache):
    name = "varnish"
    method = "PURGE"

    def command(self) -> list[str]:
        text = (ROOT / "deploy/varnish/darkroom.vcl").read_text()
        text = replaced(text, '.port = "8080"', f'.port = "{self.backend}"')
        if not self.tags:
            text = replaced(text, "sub vcl_backend_response {", "sub vcl_backend_response {\n    unset beresp.http.xkey;")
        file = self.folder / "darkroom.vcl"
        file.write_text(text)
        return [
            found("varnishd") or "varnishd", "-F", "-f", str(file), "-a", f"127.0.0.1:{self.port}",
            "-n", str(self.folder / "work"), "-s", "malloc,256m", "-T", "none", "-p", "thread_pools=1",
        ]

    @property
    def edge(self) -> str:
        return f"varnish=http://127.0.0.1:{self.port}/;method={self.method}"


class BannedVarnish(Varnish):
    method = "BAN"


class Nginx(Cache):
    name = "nginx"

    def command(self) -> list[str]:
        text = (ROOT / "deploy/nginx/edge.conf").read_text()
        generations = free_port()
        text = replaced(text, "/var/cache/nginx/darkroom", f"{self.folder}/cache")
        text = replaced(text, "127.0.0.1:8080", f"127.0.0.1:{self.backend}")
        text = replaced(text, "listen 80;", f"listen 127.0.0.1:{self.port};")
        text = text.replace("127.0.0.1:8079", f"127.0.0.1:{generations}")
        if not self.tags:
            # Its defense is the generation.
            text = replaced(text, '"$generation $request_uri', '"$request_uri')
        temporary = "\n".join(
            f"{kind}_temp_path {self.folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        file = self.folder / "nginx.conf"
        file.write_text(
            f"daemon off;\nworker_processes 2;\npid {self.folder}/pid;\nerror_log {self.folder}/errors;\n"
            f"events {{ worker_connections 1024; }}\nhttp {{\naccess_log off;\n{temporary}\n{text}\n}}\n")
        return [found("nginx") or "nginx", "-c", str(file), "-p", str(self.folder)]

    @property
    def edge(self) -> str:
        return f"nginx=http://127.0.0.1:{self.port}/purge"


def replaced(text: str, old: str, new: str) -> str:
    assert old in text, f"the sample has no {old}"
    return text.replace(old, new)


def missing() -> list[str]:
    """Debian packages that are not installed."""
    present = {
        "varnish": found("varnishd"),
        "varnish-modules": list(Path("/usr/lib").glob("*/varnish/vmods/libvmod_xkey.so")),
        "nginx": found("nginx"),
    }
    return [package for package, has in present.items() if not has]


def hit(headers: dict[str, str]) -> bool:
    return bool(re.fullmatch("HIT", headers.get("x-cache", "")))
