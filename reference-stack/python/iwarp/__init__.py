# SPDX-License-Identifier: BSD-2-Clause
"""libiwarp from Python: RDMA over TCP without an RNIC, a driver or privileges.

    with iwarp.Context() as context:
        qp = context.connect("192.0.2.1", 7174)
        qp.send(b"good day")
        for report in context.reports():
            if isinstance(report, iwarp.Completion) and report.work is iwarp.Work.RECEIVE:
                print(report.data)

A context has no threads: octets move only within Context.run() and Context.reports(), and one thread at a time may use
it and what belongs to it. Work can be posted as soon as a queue pair exists, and each posted work has one Completion.
Receives are posted by the context: `receives` of `octets` each, and a new one for each that a message took.
docs/libiwarp.md has the same functions in C.
"""

from __future__ import annotations

import ctypes
import enum
import math
import select
import time
from dataclasses import dataclass
from typing import Any, Iterator, Optional, Union

from . import _library as c
from ._library import library

__all__ = [
    "Access", "AtomicOperation", "Completion", "Context", "Error", "Event", "EventKind", "Listener", "QueuePair",
    "Region", "Status", "Terminate", "Work", "resolve",
]

RECEIVES, OCTETS = 16, 65536  # posted for each queue pair, unless something else is asked for


class Error(Exception):
    """What libiwarp says: one sentence."""


class Access(enum.IntFlag):
    """What may be done with a region: enum iwarp_access."""

    LOCAL_READ = 1
    LOCAL_WRITE = 2
    REMOTE_READ = 4
    REMOTE_WRITE = 8
    REMOTE_ATOMIC = 16


class Status(enum.IntEnum):
    """What became of work: enum iwarp_status."""

    OK = 0
    FLUSHED = 1

    def __str__(self) -> str:
        return library.iwarp_status_text(self).decode()


class Work(enum.IntEnum):
    """enum iwarp_work"""

    RECEIVE = 0
    SEND = 1
    WRITE = 2
    READ = 3
    ATOMIC = 4
    IMMEDIATE = 5

    def __str__(self) -> str:
        return library.iwarp_work_text(self).decode()


class EventKind(enum.IntEnum):
    """What became of a connection: enum iwarp_qp_event_kind."""

    ACCEPTED = 0
    CONNECT_REQUEST = 1
    ESTABLISHED = 2
    REJECTED = 3
    CONNECT_FAILED = 4
    ERROR = 5
    TERMINATED = 6
    CLOSED = 7
    COMPLETION = 8

    def __str__(self) -> str:
        return library.iwarp_qp_event_text(self).decode()


class AtomicOperation(enum.IntEnum):
    """enum iwarp_atomic_opcode, without what draft-03 alone has"""

    FETCH_ADD = 0
    COMPARE_SWAP = 2


@dataclass(frozen=True)
class Terminate:
    """The triple of a Terminate (RFC 5040 4.8)."""

    layer: int
    etype: int
    code: int


@dataclass(frozen=True)
class Completion:
    """What became of the work `id`. `data`: a receive's message; `value`: what was there before an atomic."""

    qp: "QueuePair"
    id: int
    work: Work
    status: Status
    octets: int
    data: bytes = b""
    solicited: bool = False
    invalidated: Optional[int] = None
    value: int = 0

    @property
    def ok(self) -> bool:
        return self.status is Status.OK


@dataclass(frozen=True)
class Event:
    """What became of a connection. CLOSED is the last of a queue pair."""

    kind: EventKind
    qp: "QueuePair"
    private_data: bytes = b""
    ird: int = 0
    ord: int = 0
    text: str = ""
    requirement: Optional[str] = None
    terminate: Optional[Terminate] = None


def _check(result: int, why: c.Sentence) -> None:
    if result != 0:
        raise Error(why.text.decode(errors="replace"))


def _handle(pointer: Optional[int], why: c.Sentence) -> int:
    if not pointer:
        raise Error(why.text.decode(errors="replace"))
    return pointer


def resolve(name: str) -> str:
    """The first numeric address of a host. It waits for the resolver."""
    why, address = c.Sentence(), ctypes.create_string_buffer(c.ADDRESS_OCTETS)
    _check(library.iwarp_resolve(name.encode(), address, why), why)
    return address.value.decode()


class Region:
    """Memory that peers may reach, or that a Read may fill: `stag`, Tagged Offset `to`, and the octets as `view`."""

    def __init__(self, context: "Context", memory: bytearray, access: Access, qp: Optional["QueuePair"]) -> None:
        self._context, self._memory = context, memory
        self._pinned = (ctypes.c_uint8 * len(memory)).from_buffer(memory)  # so it keeps its place
        self.to = ctypes.addressof(self._pinned)
        self.view = memoryview(memory)
        why, region = c.Sentence(), c.Region(base=self.to, length=len(memory), octets=self.to, access=int(access))
        if qp is not None:
            region.stream = library.iwarp_stream_number(library.iwarp_qp_stream(qp._open()))
            if region.stream == 0:
                raise Error("register: the queue pair is not connected")
        _check(library.iwarp_region_register(context._device(), region, why), why)
        self.stag: int = region.stag
        context._regions.add(self)

    def __len__(self) -> int:
        return len(self._memory)

    def invalidate(self) -> None:
        """Peers reach it no longer; the memory stays registered."""
        why = c.Sentence()
        _check(library.iwarp_region_invalidate(self._context._device(), self.stag, why), why)

    def deregister(self) -> None:
        why = c.Sentence()
        _check(library.iwarp_region_deregister(self._context._device(), self.stag, why), why)
        self._context._regions.discard(self)


class QueuePair:
    """A connection. `user` is the program's."""

    def __init__(self, context: "Context", handle: int, receives: int, octets: int) -> None:
        self.user: Any = None
        self._context, self._pointer, self._octets = context, handle, octets
        self._kept: dict[int, Any] = {}  # what the library uses until the completion of this id
        self._next_id = 0
        context._qps[handle] = self
        for _ in range(receives):
            self.receive(octets)

    def _open(self) -> int:
        if not self._pointer:
            raise Error("the queue pair has ended")
        return self._pointer

    def _id(self, kept: Any) -> int:
        self._next_id += 1
        self._kept[self._next_id] = kept
        return self._next_id

    def _post(self, function: Any, work: Any, kept: Any) -> int:
        why = c.Sentence()
        work.id = self._id(kept)
        try:
            _check(function(self._open(), work, why), why)
        except Error:
            del self._kept[work.id]
            raise
        return work.id

    def receive(self, octets: int) -> int:
        """Posts one more receive, for at most so many octets. The context replaces each that a message takes."""
        why, buffer = c.Sentence(), ctypes.create_string_buffer(max(octets, 1))
        number = self._id(buffer)
        try:
            _check(library.iwarp_post_receive(self._open(), number, ctypes.addressof(buffer), octets, why), why)
        except Error:
            del self._kept[number]
            raise
        return number

    def send(self, data: bytes, *, solicited: bool = False, invalidate: Optional[int] = None, fence: bool = False) -> int:
        """With `fence` it goes out after the responses of all earlier Reads and atomics (RFC 5040 5.5)."""
        data = bytes(data)
        work = c.Send(octets=ctypes.cast(data, ctypes.c_void_p), count=len(data), solicited=solicited, fence=fence)
        if invalidate is not None:
            work.invalidate, work.stag = True, invalidate
        return self._post(library.iwarp_post_send, work, data)

    def write(self, data: bytes, stag: int, to: int, *, fence: bool = False) -> int:
        """RDMA Write into the peer's region `stag`, from its Tagged Offset `to` on. `fence` as for a Send."""
        data = bytes(data)
        work = c.Write(octets=ctypes.cast(data, ctypes.c_void_p), count=len(data), stag=stag, to=to, fence=fence)
        return self._post(library.iwarp_post_write, work, data)

    def read(self, sink: Region, stag: int, to: int, count: int, *, offset: int = 0) -> int:
        """RDMA Read of the peer's region `stag` into `sink`, which has LOCAL_WRITE."""
        if offset < 0 or count < 0 or offset + count > len(sink):
            raise Error(f"read: {count} octets at {offset} are not within a sink of {len(sink)}")
        work = c.Read(sink_stag=sink.stag, sink_to=sink.to + offset, source_stag=stag, source_to=to, count=count)
        return self._post(library.iwarp_post_read, work, sink)

    def fetch_add(self, stag: int, to: int, addend: int) -> int:
        """Adds to the 8 octets there; Completion.value is what was there before (RFC 7306 5)."""
        work = c.Atomic(operation=AtomicOperation.FETCH_ADD, stag=stag, to=to, data=addend & 2**64 - 1)
        return self._post(library.iwarp_post_atomic, work, None)

    def compare_swap(self, stag: int, to: int, compare: int, value: int) -> int:
        """Sets the 8 octets there to `value` if they are `compare`; Completion.value is what was there before."""
        whole = 2**64 - 1
        work = c.Atomic(operation=AtomicOperation.COMPARE_SWAP, stag=stag, to=to, data=value, mask=whole,
                        compare=compare, compare_mask=whole)
        return self._post(library.iwarp_post_atomic, work, None)

    def immediate(self, data: bytes, *, solicited: bool = False) -> int:
        """Immediate Data: 8 octets (RFC 7306 6)."""
        if len(data) != 8:
            raise Error(f"immediate: {len(data)} octets, 8 were expected")
        work = c.Immediate(octets=(ctypes.c_uint8 * 8)(*data), solicited=solicited)
        return self._post(library.iwarp_post_immediate, work, None)

    def accept(self, private_data: bytes = b"") -> None:
        why = c.Sentence()
        _check(library.iwarp_accept(self._open(), private_data or None, len(private_data), why), why)

    def reject(self, private_data: bytes = b"") -> None:
        why = c.Sentence()
        _check(library.iwarp_reject(self._open(), private_data or None, len(private_data), why), why)

    def disconnect(self) -> None:
        """Ends it in order: posted work is sent, then a FIN. CLOSED comes when the peer has done the same."""
        if self._pointer:
            library.iwarp_disconnect(self._pointer)

    def free(self) -> None:
        """Ends it at once, with a reset; nothing more is reported of it. After CLOSED it is not needed."""
        if self._pointer:
            library.iwarp_qp_free(self._pointer)
            self._context._qps.pop(self._pointer, None)
            self._pointer = 0
            self._kept.clear()

    @property
    def peer(self) -> tuple[str, int]:
        """The peer's numeric address and port."""
        why, address, port = c.Sentence(), ctypes.create_string_buffer(c.ADDRESS_OCTETS), ctypes.c_uint16()
        _check(library.iwarp_qp_peer(self._open(), address, port, why), why)
        return address.value.decode(), port.value


class Listener:
    """Accepts connections: each becomes a queue pair, with an ACCEPTED event."""

    def __init__(self, context: "Context", handle: int, receives: int, octets: int) -> None:
        self._context, self._pointer, self._receives, self._octets = context, handle, receives, octets
        self.port: int = library.iwarp_listener_port(handle)
        context._listeners[handle] = self

    def close(self) -> None:
        """Stops listening. Its queue pairs continue."""
        if self._pointer:
            library.iwarp_listener_free(self._pointer)
            self._context._listeners.pop(self._pointer, None)
            self._pointer = 0


class Context:
    """A device, its queue pairs and their reports. close(), or the end of `with`, ends all of them."""

    def __init__(self, *, ird_max: int = 0, ord_max: int = 0, regions_max: int = 0, seed: int = 0) -> None:
        why = c.Sentence()
        device = c.DeviceConfig(ird_max=ird_max, ord_max=ord_max, regions_max=regions_max, seed=seed)
        self._qps: dict[int, QueuePair] = {}
        self._listeners: dict[int, Listener] = {}
        self._regions: set[Region] = set()
        self._pointer: int = 0
        self._pointer = _handle(library.iwarp_context_new(device, why), why)
        self._cq = library.iwarp_cq_new(self._pointer)
        if not self._cq:
            self.close()
            raise Error("out of memory")

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        if getattr(self, "_pointer", 0):
            library.iwarp_context_free(self._pointer)
            self._pointer = 0
            for qp in self._qps.values():
                qp._pointer = 0
                qp._kept.clear()
            for listener in self._listeners.values():
                listener._pointer = 0
            self._qps, self._listeners, self._regions = {}, {}, set()

    def _open(self) -> int:
        if not self._pointer:
            raise Error("the context is closed")
        return self._pointer

    def _device(self) -> int:
        return library.iwarp_context_device(self._open())

    def _options(self, settings: dict[str, Any]) -> c.QpOptions:
        """`settings` has members of struct iwarp_stream_config, with private_data as octets."""
        options = c.QpOptions()
        library.iwarp_qp_options_default(options, self._cq)
        data = bytes(settings.pop("private_data", b""))
        if len(data) > c.PRIVATE_DATA_MAX:
            raise Error(f"{len(data)} octets of Private Data, at most {c.PRIVATE_DATA_MAX} were expected")
        ctypes.memmove(options.stream.private_data, data, len(data))
        options.stream.private_octets = len(data)
        own = {"role", "number", "emss", "srq", "faults", "private_octets"}
        known = {name for name, _ in c.StreamConfig._fields_} - own
        for name, value in settings.items():
            if name not in known:
                raise TypeError(f"'{name}' is no option of a queue pair; expected one of {', '.join(sorted(known))}")
            setattr(options.stream, name, value)
        return options

    def register(self, memory: Union[int, bytearray], access: Access, qp: Optional[QueuePair] = None) -> Region:
        """Registers a bytearray, or so many octets of zeros, which keep their place until Region.deregister().

        With `qp` only its peer reaches the region, and may invalidate it (RFC 5040 8.1.1).
        """
        return Region(self, bytearray(memory) if isinstance(memory, int) else memory, access, qp)

    def listen(self, host: str = "127.0.0.1", port: int = 0, *, receives: int = RECEIVES, octets: int = OCTETS,
               ask: bool = False, **settings: Any) -> Listener:
        """`ask`: each CONNECT_REQUEST waits for accept() or reject(). `settings`: of struct iwarp_stream_config."""
        why, options = c.Sentence(), self._options(settings)
        if ask:
            options.stream.accept = 1
        handle = library.iwarp_listen(self._open(), resolve(host).encode(), port, options, why)
        return Listener(self, _handle(handle, why), receives, octets)

    def connect(self, host: str, port: int, *, receives: int = RECEIVES, octets: int = OCTETS,
                **settings: Any) -> QueuePair:
        """Begins to connect; ESTABLISHED, REJECTED or CONNECT_FAILED says what came of it."""
        why, options = c.Sentence(), self._options(settings)
        handle = library.iwarp_connect(self._open(), resolve(host).encode(), port, options, why)
        return QueuePair(self, _handle(handle, why), receives, octets)

    def run(self, timeout: Optional[float] = None) -> bool:
        """Moves octets until a report waits (True), or for so many seconds. Signals are handled meanwhile."""
        why, end = c.Sentence(), None if timeout is None else time.monotonic() + timeout
        while True:
            status = library.iwarp_context_run(self._open(), 0, why)
            if status != 0:
                if status < 0:
                    raise Error(why.text.decode(errors="replace"))
                return True
            if not self._qps and not self._listeners:
                raise Error("no listener and no queue pair: no event can come")
            waits = [] if end is None else [end - time.monotonic()]
            due = library.iwarp_context_timeout(self._pointer)
            waits += [due / 1000] if due >= 0 else []
            if end is not None and end <= time.monotonic():
                return False
            poll = select.poll()
            poll.register(library.iwarp_context_fd(self._pointer), select.POLLIN)
            poll.poll(math.ceil(1000 * max(min(waits), 0)) if waits else None)

    def reports(self, timeout: Optional[float] = None) -> Iterator[Union[Completion, Event]]:
        """Completions and events as they come, until nothing has come for `timeout` seconds (None: never), or no
        listener and no queue pair is left."""
        while self._pointer and (self._qps or self._listeners) and self.run(timeout):
            completion = c.Completion()
            while self._pointer and library.iwarp_poll_cq(self._cq, completion, 1):
                report = self._completed(completion)
                if report is not None:
                    yield report
            event = c.QpEvent()
            while self._pointer and library.iwarp_next_event(self._pointer, event):
                told = self._happened(event)
                if told is None:
                    continue
                yield told
                if told.kind is EventKind.CLOSED:
                    told.qp.free()

    def _completed(self, completion: c.Completion) -> Optional[Completion]:
        qp = self._qps.get(completion.qp or 0)
        if qp is None:
            return None
        kept, data = qp._kept.pop(completion.id, None), b""
        work, status = Work(completion.work), Status(completion.status)
        if work is Work.RECEIVE and status is Status.OK and kept is not None:
            data = kept.raw[: completion.octets]
            try:
                qp.receive(len(kept))
            except Error:
                pass  # it is ending
        return Completion(qp, completion.id, work, status, completion.octets, data, completion.solicited,
                          completion.stag if completion.invalidated else None, completion.value)

    def _happened(self, event: c.QpEvent) -> Optional[Event]:
        kind, detail = EventKind(event.kind), event.detail
        if kind is EventKind.COMPLETION:
            return None
        qp = self._qps.get(event.qp)
        if qp is None:  # ACCEPTED
            listener = self._listeners.get(event.listener or 0)
            receives, octets = (listener._receives, listener._octets) if listener else (RECEIVES, OCTETS)
            qp = QueuePair(self, event.qp, receives, octets)
        start, private = detail.start, b""
        if kind in (EventKind.CONNECT_REQUEST, EventKind.ESTABLISHED, EventKind.REJECTED) and start.private_data:
            word = 4 if start.enhanced and start.revision >= 2 and start.private_octets >= 4 else 0  # RFC 6581 6
            private = ctypes.string_at(start.private_data + word, start.private_octets - word)
        triple = detail.triple and Terminate(detail.triple >> 12 & 0xF, detail.triple >> 8 & 0xF, detail.triple & 0xFF)
        return Event(kind, qp, private, detail.ird, detail.ord, detail.text.decode(errors="replace"),
                     detail.requirement.decode() if detail.requirement else None, triple or None)
