"""The real object store, and the failures that it can have."""

import datetime
import hashlib
import hmac
import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

from server import ROOT, Answer

SCRIPT = ROOT / "scripts/object-store"


class Store:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.start()

    def start(self) -> None:
        result = subprocess.run([SCRIPT, "start", self.folder], stdout=subprocess.PIPE, text=True)
        if result.returncode:
            raise ChildProcessError("the store did not start")
        described = json.loads(result.stdout)
        self.address = described["endpoint"].removeprefix("http://")
        self.region, self.bucket = described["region"], described["bucket"]
        self.access_key, self.secret_key = described["access_key"], described["secret_key"]
        self.gateway = described["gateway_pid"]

    @property
    def credentials(self) -> dict[str, str]:
        return {"AWS_ACCESS_KEY_ID": self.access_key, "AWS_SECRET_ACCESS_KEY": self.secret_key}

    # Outages.

    def pause(self) -> None:
        """Connections are accepted, and nothing is answered."""
        os.kill(self.gateway, signal.SIGSTOP)

    def go_on(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.gateway, signal.SIGCONT)

    def refuse(self) -> None:
        """Connections are refused."""
        os.kill(self.gateway, signal.SIGKILL)
        while b"radosgw" in command_line(self.gateway):
            time.sleep(0.05)

    def fill(self) -> None:
        """Writes fail with QuotaExceeded; reads and deletions work."""
        self.administer("quota", "set", "--quota-scope=user", "--uid=test", "--max-size=1", "--max-objects=1")
        self.administer("quota", "enable", "--quota-scope=user", "--uid=test")

    def empty(self) -> None:
        self.administer("quota", "disable", "--quota-scope=user", "--uid=test")

    def administer(self, *command: str) -> None:
        configuration = ["-c", str(self.folder / "ceph.conf"), "--name", "client.rgw"]
        subprocess.run(["radosgw-admin", *configuration, *command], check=True, capture_output=True, timeout=60)

    def end(self) -> None:
        self.go_on()
        subprocess.run([SCRIPT, "crash", self.folder], check=True)
        subprocess.run([SCRIPT, "wipe", self.folder], check=True)

    # What it holds.

    def keys(self, prefix: str) -> list[str]:
        found, token = [], ""
        while True:
            query = {"list-type": "2", "prefix": prefix} | ({"continuation-token": token} if token else {})
            answer = self.ask("GET", query=query)
            if answer.status != 200:
                raise OSError(f"the list of objects is {answer.status}: {answer.body[:200]!r}")
            tree = ElementTree.fromstring(answer.body)
            space = tree.tag.partition("}")[0] + "}"
            found += [element.text for element in tree.iter(f"{space}Key")]
            token = tree.findtext(f"{space}NextContinuationToken")
            if not token:
                return found

    def settled(self, prefix: str, seconds: float = 20) -> int:
        """The number of objects once none was added for a second: everything queued is written."""
        deadline, before, since = time.monotonic() + seconds, -1, time.monotonic()
        while time.monotonic() < deadline:
            if (now := len(self.keys(prefix))) != before:
                before, since = now, time.monotonic()
            elif time.monotonic() - since > 1:
                break
            time.sleep(0.2)
        return before

    def ask(
        self, method: str, key: str = "", query: dict[str, str] | None = None, body: bytes = b"", address: str = "",
    ) -> Answer:
        """One signed request, through another address if there is a proxy in front."""
        host, path = address or self.address, quote(f"/{self.bucket}/{key}".rstrip("/"))
        encoded = urlencode(sorted((query or {}).items()), quote_via=quote, safe="")
        headers = self.signed(method, host, path, encoded, body)
        began = time.monotonic()
        connection = HTTPConnection(host, timeout=10)
        try:
            connection.request(method, f"{path}?{encoded}" if encoded else path, body or None, headers)
            response = connection.getresponse()
            fields = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, fields, response.read(), time.monotonic() - began)
        except HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            connection.close()

    def signed(self, method: str, host: str, path: str, query: str, body: bytes) -> dict[str, str]:
        """AWS Signature Version 4."""
        timestamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        payload = hashlib.sha256(body).hexdigest()
        headers = {"host": host, "x-amz-content-sha256": payload, "x-amz-date": timestamp}
        names, scope = ";".join(headers), f"{timestamp[:8]}/{self.region}/s3/aws4_request"
        lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
        request = hashlib.sha256("\n".join([method, path, query, lines, names, payload]).encode()).hexdigest()
        key = f"AWS4{self.secret_key}".encode()
        for part in (*scope.split("/"), "\n".join(["AWS4-HMAC-SHA256", timestamp, scope, request])):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        credential = f"Credential={self.access_key}/{scope}, SignedHeaders={names}, Signature={key.hex()}"
        return headers | {"authorization": f"AWS4-HMAC-SHA256 {credential}"}


def command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
