"""Objects of the shared store as an attacker with access to its folder would write them.

The format is `SharedObject`: a mark, the length of the head, the head, its SHA-256, and the body.
"""

import hashlib
import re
import struct
from typing import NamedTuple

MARK = b"DKRM\x01"
LEAD_BYTES, DIGEST_BYTES = len(MARK) + 4, 32
LEAST, GREATEST = -(2**63), 2**63 - 1
YEAR_9999 = 253_402_300_799_999
PURGES = "1/p/"
LYING_WIDTHS = (GREATEST, GREATEST - 1, 2**64, 2**62, 2**32, 2**31 - 1, 1_000_000_001, 1_000_000_000, 0, -1, LEAST, 1e300)


class Forged(NamedTuple):
    """The fields of an object's head, and its body."""

    kind: int
    source: bytes
    entry: bytes
    written_at: int
    order: int
    record: bytes
    metadata: bytes
    body_bytes: int
    body_digest: bytes
    body: bytes

    @staticmethod
    def read(data: bytes) -> "Forged":
        (length,) = struct.unpack_from(">I", data, len(MARK))
        head, body = data[LEAD_BYTES : LEAD_BYTES + length], data[LEAD_BYTES + length :]
        kind, source, entry, written_at, order = struct.unpack_from(">B32s32sqq", head)
        at, sized = 81, []
        for _ in range(2):
            (count,) = struct.unpack_from(">I", head, at)
            sized.append(head[at + 4 : at + 4 + count])
            at += 4 + count
        body_bytes, digest = struct.unpack_from(">Q32s", head, at)
        return Forged(kind, source, entry, written_at, order, *sized, body_bytes, digest, body)

    def data(self) -> bytes:
        """The object with a correct digest of its head."""
        fields = struct.pack(">B32s32sqq", self.kind, self.source, self.entry, self.written_at, self.order)
        for sized in (self.record, self.metadata):
            fields += struct.pack(">I", len(sized)) + sized
        fields += struct.pack(">Q32s", self.body_bytes, self.body_digest)
        protected = MARK + struct.pack(">I", len(fields) + DIGEST_BYTES) + fields
        return protected + hashlib.sha256(protected).digest() + self.body


def purges(real: Forged) -> dict[str, bytes]:
    """The purge at impossible and implausible times, with and without an object that is valid at its name."""
    found = {}
    for number, time in enumerate((GREATEST, GREATEST - 1, YEAR_9999, LEAST % 2**64, 2**64 - 1)):
        name = f"{PURGES}{time:016x}-{number:016x}-l"
        key, stated = hashlib.sha256(name.encode()).digest(), min(time, GREATEST)
        found[name] = real._replace(source=key, entry=key, written_at=stated, order=stated).data()
        found[name[:-1] + "s"] = b""
    return found


def stating(real: Forged, width: float) -> bytes:
    """The object with a document of `/info` that states this width for the upright image."""
    body = re.sub(rb'("upright_width"\s*:\s*)[0-9]+', rf"\g<1>{width}".encode(), real.body)
    return real._replace(body=body, body_bytes=len(body), body_digest=hashlib.sha256(body).digest()).data()


def implausible(real: Forged) -> list[bytes]:
    """The object with each field out of its range."""
    changes: list[dict[str, int | bytes]] = [
        {"written_at": LEAST}, {"written_at": GREATEST}, {"written_at": -1}, {"order": LEAST}, {"order": GREATEST},
        {"written_at": YEAR_9999, "order": YEAR_9999}, {"body_bytes": 2**64 - 1}, {"body_bytes": 2**63 - 1},
        {"body_bytes": 0}, {"kind": 0}, {"kind": 255}, {"metadata": b""}, {"metadata": b"\xff" * 4096}, {"record": b""},
        {"record": b"\xff" * 4096}, {"record": real.record[:-1]}, {"metadata": real.metadata[::-1]},
        {"body": real.body[:-1]}, {"body": real.body + b"!"},
    ]
    return [real._replace(**change).data() for change in changes]


def garbage(real: Forged) -> list[bytes]:
    """Bytes that are no object."""
    data = real.data()
    return [
        b"", b"\x00", MARK, MARK + b"\xff\xff\xff\xff", MARK + bytes(4), MARK + b"\x00\x07\xff\xff" + bytes(99),
        data[:40], data[:-40], bytes(200_000), b"\xff" * 5_000, MARK + (40).to_bytes(4) + bytes(40),
        data[:5] + b"\x7f" + data[6:],
    ]
