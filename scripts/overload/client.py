"""An HTTP/1.1 client for load: raw sockets on one event loop, kept alive, from any loopback address."""
import asyncio
import time


class Answer:
    """What came back, when, and how long it took from when it was meant to be asked."""

    def __init__(self, status, fields, seconds, at):
        self.status, self.fields, self.seconds, self.at = status, fields, seconds, at

    def field(self, name):
        for line in self.fields.split(b"\r\n"):
            key, _, value = line.partition(b":")
            if key.strip().lower() == name:
                return value.strip().decode()
        return None


class Connection(asyncio.Protocol):
    """One exchange at a time."""

    def connection_made(self, transport):
        self.transport, self.waiting = transport, None
        self.head, self.missing = b"", None

    def ask(self, request):
        self.waiting = asyncio.get_running_loop().create_future()
        self.head, self.missing = b"", None
        self.transport.write(request)
        return self.waiting

    def data_received(self, data):
        if self.missing is None:
            self.head += data
            end = self.head.find(b"\r\n\r\n")
            if end < 0:
                return
            body, self.head = self.head[end + 4:], self.head[:end]
            lower = self.head.lower()
            at = lower.find(b"content-length:")
            length = int(lower[at + 15:].split(b"\r\n", 1)[0]) if at >= 0 else 0
            self.missing = length - len(body)
        else:
            self.missing -= len(data)
        if self.missing <= 0 and self.waiting and not self.waiting.done():
            self.waiting.set_result(self.head)

    def connection_lost(self, error):
        if self.waiting and not self.waiting.done():
            self.waiting.set_exception(error or ConnectionResetError("closed"))


class Client:
    """Somebody with an address of their own, and as many connections as they need."""

    def __init__(self, port, address):
        self.port, self.address = port, address
        self.idle, self.answers, self.failures, self.tasks = [], [], [], set()

    async def get(self, target, due=None):
        due = due or time.monotonic()
        try:
            if self.idle:
                connection = self.idle.pop()
            else:
                _, connection = await asyncio.get_running_loop().create_connection(
                    Connection, "127.0.0.1", self.port, local_addr=(self.address, 0))
            head = await connection.ask(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % target.encode())
        except OSError as error:
            self.failures.append(f"{target}: {error!r}")
            return None
        if not connection.transport.is_closing():
            self.idle.append(connection)
        now = time.monotonic()
        line, _, fields = head.partition(b"\r\n")
        answer = Answer(int(line.split()[1]), fields, now - due, now)
        self.answers.append(answer)
        return answer

    async def offer(self, targets, per_second, seconds):
        """Asks at a steady rate, whether or not anything comes back: an open loop."""
        loop, start = asyncio.get_running_loop(), time.monotonic()
        for number in range(int(per_second * seconds)):
            due = start + number / per_second
            if (wait := due - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            task = loop.create_task(self.get(next(targets), due))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        while self.tasks:
            await asyncio.wait(set(self.tasks))

    async def repeat(self, targets, until, at_once, pause=0):
        """Asks again as soon as an answer is there: a closed loop."""
        async def one():
            while time.monotonic() < until:
                await self.get(next(targets))
                if pause:
                    await asyncio.sleep(pause)
        await asyncio.gather(*(one() for _ in range(at_once)))

    def close(self):
        for connection in self.idle:
            connection.transport.close()
