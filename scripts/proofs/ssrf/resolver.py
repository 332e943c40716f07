"""A DNS server over UDP and TCP that responds as an attacker would."""

import socket
import socketserver
import struct
import threading
from collections import Counter
from collections.abc import Callable
from ipaddress import ip_address

from ssrf import names
from ssrf.names import NOBODY
from ssrf.namespace import RESOLVER

A, CNAME, AAAA = 1, 5, 28
UDP_BYTES = 512
ANSWERED, TRUNCATED, NO_SUCH_NAME = 0x8180, 0x8380, 0x8183
Answers = Callable[[str, int], list[tuple[str, str]]]


class Resolver:
    def __init__(self, answers: Answers = names.answers) -> None:
        """`answers` returns the records of a name that was asked for so many times before; none = there is no such name."""
        self.answers = answers
        self.asked: Counter[tuple[str, int]] = Counter()
        self.lock = threading.Lock()
        resolver = self

        class OverUDP(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                question, listener = self.request
                if reply := resolver.reply(question, at_most=UDP_BYTES):
                    listener.sendto(reply, self.client_address)

        class OverTCP(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                while len(prefix := self.rfile.read(2)) == 2:
                    if reply := resolver.reply(self.rfile.read(int.from_bytes(prefix)), at_most=65_535):
                        self.wfile.write(struct.pack("!H", len(reply)) + reply)

        for kind, handler in ((socketserver.ThreadingUDPServer, OverUDP), (socketserver.ThreadingTCPServer, OverTCP)):
            listener = kind((RESOLVER, 53), handler)
            listener.daemon_threads = True
            threading.Thread(target=listener.serve_forever, daemon=True).start()

    def reply(self, question: bytes, at_most: int) -> bytes | None:
        name, end = self.name(question)
        (kind,) = struct.unpack("!H", question[end : end + 2])
        with self.lock:
            records = self.answers(name, self.asked[name, kind])
            self.asked[name, kind] += 1
        if records == NOBODY:
            return None
        body = [packed for record in records if (packed := self.record(record, kind))]
        head = lambda flags, count: question[:2] + struct.pack("!HHHHH", flags, 1, count, 0, 0) + question[12 : end + 4]
        whole = head(ANSWERED if records else NO_SUCH_NAME, len(body)) + b"".join(body)
        return whole if len(whole) <= at_most else head(TRUNCATED, 0)

    @staticmethod
    def name(question: bytes) -> tuple[str, int]:
        """The requested name in lower case, and its end offset."""
        labels, at = [], 12
        while length := question[at]:
            labels.append(question[at + 1 : at + 1 + length].decode("latin-1").lower())
            at += 1 + length
        return ".".join(labels), at + 1

    @staticmethod
    def record(record: tuple[str, str], kind: int) -> bytes | None:
        """An (owner, value) pair as a record of the given type; None if it has another type."""
        owner, value = record
        wire = lambda name: b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\x00"
        try:
            address = ip_address(value)
        except ValueError:
            data, own_kind = wire(value), CNAME
        else:
            data, own_kind = address.packed, A if address.version == 4 else AAAA
        if own_kind not in (kind, CNAME):
            return None
        return wire(owner) + struct.pack("!HHIH", own_kind, 1, 0, len(data)) + data
