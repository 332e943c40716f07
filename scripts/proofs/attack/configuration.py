"""Settings that cannot work, and what a machine may have at the next start."""

import os
import socket
import subprocess
from collections.abc import Iterator

from attack.judge import Check, sentence
from attack.lab import Lab, asked, image
from server import Answer, Server

SECONDS = 20
INVALID, MACHINE = 78, 1
"""Exit statuses: units do not start a server again after the first."""
HOSTS = {
    "https://example.com/": "example.com", "example.com:8080": "example.com", ".example.com": "*.example.com",
    "a.org/b": "a.org", "HTTP://USER@EXAMPLE.com": "example.com", "example.com.:443/x": "example.com",
}
"""What is written for a host, and the right form."""
SECRET = "0123456789abcdef0123456789-secret"
FORWARDED = {"X-Forwarded-For": "192.0.2.1"}


def hosts_that_match_nothing(lab: Lab) -> Iterator[Check]:
    """A list of hosts with a scheme, a port, a path or a leading dot stops the start with 78 and shows the right form."""
    for written, right in HOSTS.items():
        files = {
            "allow-hosts": f"allow-hosts: ['{written}']", "insecure-tls-hosts": f"insecure-tls-hosts: ['{written}']",
            "hosts of a key": f"signing-keys: {{k1: {{secret: {SECRET}, hosts: ['{written}']}}}}",
            "cache-key-drop-query": f"cache-key-drop-query: ['{written}=utm_*']",
        }
        for name, text in files.items():
            for command in (["serve", "--port=0"], ["config", "check"]):
                status, errors = ended(lab, command, text)
                holds = status == INVALID and f"write '{right}'" in errors
                yield Check(holds, f"{command[0]}, {name} {written}: {status}, {errors!r} ({INVALID}, write '{right}')")


def exit_statuses(lab: Lab) -> Iterator[Check]:
    """A busy port, a missing folder or file and a folder that cannot be used exit with 1, and mistakes in settings with 78."""
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        file = lab.folder / "file"
        file.touch()
        for text, expected in (
            (f"port: {busy.getsockname()[1]}", MACHINE), ("local-root: /no/such/folder", MACHINE),
            ("signing-keys-file: /no/such/file", MACHINE), ("host: 192.0.2.7\nopen-proxy: true", MACHINE),
            (f"cache-dir: {file}", MACHINE), (f"cache-dir: {file}/cache", MACHINE), ("cache-dir: /proc/cache", MACHINE),
            ("port: x", INVALID), ("prot: 1", INVALID), ("host: 0.0.0.0", INVALID), ("min-fresh: 400d", INVALID),
            ("presets: {a: w=wide}", INVALID), ("- a", INVALID),
        ):
            status, errors = ended(lab, ["serve", "--port=0"] if "port:" not in text else ["serve"], text)
            seen = f"{text.encode().decode('unicode_escape')!r}: {status}, {errors!r}"
            yield Check(status == expected and errors.startswith("Error: "), f"{seen} ({expected}, a sentence)")


def refused_sources(lab: Lab) -> Iterator[Check]:
    """A refused host, port or address names its setting to a client on this machine and in the log, and to no other."""
    url = lab.origin.url("photo/1.jpg")
    named = url.replace("127.0.0.1", "localhost")
    cases = [((), url, "allow-networks"), ((), named, "allow-networks"), (("--allow-hosts=a.org",), url, "allow-hosts")]
    for settings, source, setting in cases:
        server = Server(lab.binary, lab.new_folder(), *settings, *lab.settings)
        server.wait_until_it_listens()
        try:
            own, other = (asked(server, image(source, "w=40"), headers=headers) for headers in ({}, FORWARDED))
        finally:
            server.stop()
        log = server.log.read_text()
        holds = own.status == other.status == 403 and names(own, setting) and not names(other, "allow-") and setting in log
        seen = f"own client: {sentence(own)!r}, one behind a proxy: {sentence(other)!r}"
        yield Check(holds, f"{source} {' '.join(settings)}: {seen} ({setting} named to the first, and in the log)")


def names(answer: Answer, setting: str) -> bool:
    return setting in sentence(answer)


def ended(lab: Lab, command: list[str], text: str) -> tuple[int, str]:
    """The exit status and the errors of a command with this file of settings; 0 if it still runs after some seconds."""
    folder = lab.new_folder()
    file = folder / "darkroom.yaml"
    file.write_text(f"{text}\n")
    is_server = command[0] == "serve"
    options = [f"--config={file}", "--log-level=critical"] if is_server else [str(file)]
    options += [f"--cache-dir={folder / 'cache'}"] if is_server and "cache-dir" not in text else []
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DARKROOM_")}
    try:
        process = subprocess.run(
            [lab.binary, *command, *options], capture_output=True, text=True, env=environment, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 0, "it runs"
    return process.returncode, process.stderr.strip().replace(f"{folder}/", "")


ATTACKS = [hosts_that_match_nothing, exit_statuses, refused_sources]
