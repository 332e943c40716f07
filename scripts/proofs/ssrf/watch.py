"""Records every connection attempt and every datagram in the namespace."""

import socket
import struct
from contextlib import suppress
from ipaddress import ip_address
from typing import NamedTuple

EVERYTHING, OUTGOING = 0x0003, 4
SO_RCVBUFFORCE = 33
IPV4, IPV6 = 0x0800, 0x86DD
TCP, UDP = 6, 17
SYN, ACK = 0x02, 0x10


class Contact(NamedTuple):
    source: str
    address: str
    port: int
    kind: str

    def __str__(self) -> str:
        return f"{self.kind} to {self.address} port {self.port}"


class Watch:
    """Packets are queued here before they are answered, so the contacts of a request precede its response."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(EVERYTHING))
        with suppress(PermissionError):
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self.socket.setblocking(False)

    def contacts(self) -> list[Contact]:
        """New contacts since the last call."""
        found = []
        while True:
            try:
                packet, (_, protocol, kind, *_) = self.socket.recvfrom(65_536)
            except BlockingIOError:
                return found
            if kind != OUTGOING and (contact := self.parsed(packet, protocol)):
                found.append(contact)

    @staticmethod
    def parsed(packet: bytes, protocol: int) -> Contact | None:
        if protocol == IPV4 and len(packet) >= 20:
            start, transport = (packet[0] & 15) * 4, packet[9]
            source, address = ip_address(packet[12:16]), ip_address(packet[16:20])
        elif protocol == IPV6 and len(packet) >= 40:
            start, transport = 40, packet[6]
            source, address = ip_address(packet[8:24]), ip_address(packet[24:40])
        else:
            return None
        if len(packet) < start + 4:
            return None
        (port,) = struct.unpack("!H", packet[start + 2 : start + 4])
        is_start = transport == TCP and packet[start + 13] & (SYN | ACK) == SYN
        if not is_start and transport != UDP:
            return None
        return Contact(str(source), str(address), port, "connection" if is_start else "datagram")
