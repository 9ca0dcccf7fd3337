# SPDX-License-Identifier: BSD-2-Clause
"""DDP and RDMAP of one stream (RFC 5041, RFC 5040, RFC 7306): octets of FPDUs in, work of the ULP in, segments and events out."""
import collections
import struct

TAGGED, UNTAGGED = struct.Struct("!BBIQ"), struct.Struct("!BBIIII")
READ_REQUEST = struct.Struct("!IQIIQ")
ATOMIC_REQUEST, ATOMIC_RESPONSE = struct.Struct("!IIIQQQQQ"), struct.Struct("!IQ")
WRITE, READ, RESPONSE, SEND, TERMINATE, IMMEDIATE, ATOMIC, ATOMIC_DONE = 0, 1, 2, 3, 7, 8, 10, 11
SENDS = range(3, 7)
MASK32, MASK64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
FETCH_ADD, SWAP, COMPARE_SWAP = 0, 1, 2


class Fault(Exception):
    """What a Terminate says: the triple, whether DDP's header is quoted and RDMAP's."""

    def __init__(self, triple, rdmap=False):
        super().__init__(f"{triple:04x}")
        self.triple, self.rdmap = triple, rdmap


class Wait(Exception):
    """The segment stays in TCP until something else has happened."""


class Region:
    def __init__(self, stag, base, length, access, pd, stream):
        self.stag, self.base, self.access, self.pd, self.stream = stag, base, access, pd, stream
        self.octets, self.valid, self.bound = bytearray(length), True, length


class Work:
    """Something that the ULP has posted."""

    def __init__(self, kind, ident, **more):
        self.kind, self.ident, self.sent, self.done, self.octets = kind, ident, False, False, 0
        self.__dict__.update(more)


class Segment:
    """A segment that came."""

    def __init__(self, ulpdu):
        self.ulpdu = ulpdu
        if len(ulpdu) < 2 or len(ulpdu) < (TAGGED.size if ulpdu[0] & 0x80 else UNTAGGED.size):
            raise Fault(0x1000)
        self.tagged, self.last = ulpdu[0] & 0x80 != 0, ulpdu[0] & 0x40 != 0
        self.dv, self.rv, self.opcode = ulpdu[0] & 3, ulpdu[1] >> 6, ulpdu[1] & 0xF
        if self.tagged:
            _, _, self.stag, self.to = TAGGED.unpack_from(ulpdu)
            self.data = ulpdu[TAGGED.size :]
        else:
            _, _, self.invalidate, self.qn, self.msn, self.mo = UNTAGGED.unpack_from(ulpdu)
            self.data = ulpdu[UNTAGGED.size :]

    def quote(self):
        return self.ulpdu[: TAGGED.size if self.tagged else UNTAGGED.size]


class Stack:
    """`host` is the connection: pd, number, ird, ord, segment_max(), event(), say_done(), regions(), later(seconds, f), end(how)."""

    def __init__(self, host, habits):
        self.host, self.on = host, habits.is_on
        self.receives = collections.deque()
        self.partial, self.came, self.whole = None, 0, None  # of the Send that is being received
        first = 0 if self.on("f-msn-zero") else 1
        self.send_msn = [first, first, 1, 1]
        self.receive_msn = [1, 1, 1, 1]
        self.posted = collections.deque()  # work of the ULP, in the order of posting
        self.open = collections.deque()  # own Reads and atomics that are not answered
        self.asked = collections.deque()  # the peer's, that are not answered
        self.queue = collections.deque()  # messages that wait to become segments
        self.making = None  # the message that is being sent
        self.answering = 0  # it is a Response
        self.may_send = False
        self.terminated = False
        self.received_any = False
        self.slow_until = 0

    # --- Segments out -----------------------------------------------------------------------------------------------------

    def tagged(self, opcode, stag, to, data, last):
        on = self.on
        if on("f-stag-reversed"):
            stag = int.from_bytes(stag.to_bytes(4, "big"), "little")
        if on("f-to-32"):
            to &= MASK32
        return TAGGED.pack(self.first_octet(True, last), self.second_octet(opcode), stag, to & MASK64) + data

    def untagged(self, opcode, qn, msn, mo, data, last, invalidate=0):
        on = self.on
        first = self.first_octet(opcode in SENDS and on("f-t-send"), last, opcode)
        if opcode in SENDS and on("f-qn"):
            qn = 1
        if on("f-mo-zero"):
            mo = 0
        return UNTAGGED.pack(first, self.second_octet(opcode), invalidate, qn, msn, mo) + data

    def first_octet(self, tagged, last, opcode=None):
        on = self.on
        last = True if on("f-l-always") else False if on("f-l-never") and opcode in SENDS else last
        return tagged << 7 | last << 6 | (0x10 if on("f-rsvd") else 0) | (0 if on("f-dv") else 1)

    def second_octet(self, opcode):
        if self.on("f-se-plain") and opcode in (5, 6):
            opcode -= 2
        return (0 if self.on("f-rv") else 1) << 6 | opcode

    def next_msn(self, qn, opcode):
        msn = self.send_msn[qn]
        if opcode in SENDS and self.on("f-msn-stays"):
            return msn
        self.send_msn[qn] = (msn + 1) & MASK32
        if self.on("f-msn-shared") and qn < 2:
            self.send_msn[1 - qn] = self.send_msn[qn]
        return msn

    def pieces(self, data, header):
        """Cuts: (offset, piece, last) of a message."""
        room, at, turn = self.host.segment_max() - header, 0, 0
        while True:
            size = room if not self.on("fpdus-uneven") else max(1, room - 100 * (turn % 3) - turn % 2)
            piece = data[at : at + size]
            yield at, piece, at + len(piece) == len(data)
            at, turn = at + len(piece), turn + 1
            if at >= len(data):
                return

    def untagged_segments(self, opcode, qn, data, invalidate=0):
        msn = self.next_msn(qn, opcode)
        cuts = list(self.pieces(data, UNTAGGED.size))
        numbered = list(enumerate(cuts))
        if self.on("backwards"):  # L = 1 is sent last, and has the highest MO
            numbered[:-1] = reversed(numbered[:-1])
        for index, (at, piece, last) in numbered:
            yield self.untagged(opcode, qn, msn, index if self.on("f-mo-count") else at, piece, last, invalidate)

    def tagged_segments(self, opcode, stag, to, data):
        cuts = self.pieces(data, TAGGED.size)
        if self.on("backwards"):  # L = 1 is sent last, whatever its TO
            cuts = list(cuts)[::-1]
            cuts = [(at, piece, i == len(cuts) - 1) for i, (at, piece, _) in enumerate(cuts)]
        for at, piece, last in cuts:
            yield self.tagged(opcode, stag, to if self.on("f-to-stays") else to + at, piece, last)

    def next_ulpdu(self):
        """The next segment to send, or None."""
        if self.terminated:
            return None
        while True:
            if self.making:
                ulpdu = next(self.making, None)
                if ulpdu is not None:
                    return ulpdu
                self.making, self.answering = None, 0
                self.host.resume()
            self.making = self.next_message()
            if self.making is None:
                return None

    def next_message(self):
        if not self.may_send:
            return None
        answer = self.next_answer()
        if answer is not None:
            return answer
        for work in self.posted:
            if work.sent:
                continue
            return self.begin_work(work)
        return None

    # --- Work of the ULP --------------------------------------------------------------------------------------------------

    def is_idle(self):
        """Nothing is to be sent that can be sent without more of the peer."""
        return self.making is None and not self.asked and all(w.sent or w.kind in ("read", "atomic") for w in self.posted)

    def post(self, work):
        self.posted.append(work)
        self.host.kick()

    def begin_work(self, work):
        """The segments of this work, or None if it has to wait."""
        kind = work.kind
        if kind in ("read", "atomic"):
            most = self.host.ord if not self.on("f-ord") else 1000
            most = min(most, 1 if self.on("reads-one-by-one") else 2 if self.on("reads-in-pairs") else most)
            if len(self.open) >= most:
                return None
            work.sent = True
            self.open.append(work)
            if kind == "read":
                length = work.length & 0xFFFF if self.on("f-read-size-16") else work.length
                work.got = 0
                body = READ_REQUEST.pack(work.sink_stag, work.sink_to & MASK64, length, work.source_stag, work.source_to & MASK64)
                return self.untagged_segments(READ, 1, body)
            work.request_id = self.send_msn[1]
            body = ATOMIC_REQUEST.pack(work.operation, work.request_id, work.stag, work.to & MASK64, work.data & MASK64,
                                       work.mask & MASK64, work.compare & MASK64, work.compare_mask & MASK64)
            return self.untagged_segments(ATOMIC, 1, body)
        work.sent = True
        if kind == "send":
            segments = self.untagged_segments(work.opcode, 0, work.data, work.invalidate)
        elif kind == "write":
            segments = self.tagged_segments(WRITE, work.stag, work.to, work.data)
        elif kind == "immediate":
            segments = self.untagged_segments(IMMEDIATE + work.solicited, 0, work.data)
        else:
            segments = iter(())
        return self.until_done(work, segments)

    def until_done(self, work, segments):
        yield from segments
        work.octets = len(getattr(work, "data", b"") or b"") if work.kind != "atomic" else 8
        self.finish(work)

    def finish(self, work):
        work.done = True
        while self.posted and self.posted[0].done:
            first = self.posted.popleft()
            if first.kind == "close":
                self.host.later(0, lambda: self.host.end("fin"))
            else:
                self.host.say_done(first)

    def flush(self):
        for work in self.posted:
            if work.ident is not None and work.kind != "close" and not self.on("f-not-flushed"):
                self.host.event("flushed", work=work.kind, id=work.ident)
        for ident, _ in self.receives:
            if ident is not None and not self.on("f-not-flushed"):
                self.host.event("flushed", work="receive", id=ident)
        self.posted.clear()
        self.receives.clear()
        self.open.clear()
        self.asked.clear()

    # --- Answers to the peer's Reads and atomics ------------------------------------------------------------------------

    def next_answer(self):
        if not self.asked:
            return None
        at = 0
        if self.on("f-responses-reversed") and len(self.asked) > 1:
            at = 1
        request = self.asked[at]
        if self.host.now() < request["at"]:
            self.host.later(request["at"] - self.host.now(), self.host.kick)
            return None
        try:
            if request["kind"] == "atomic" and "value" not in request:
                request["value"] = self.execute(request)
            if request["kind"] == "read" and self.on("read-checked-late"):
                self.check_read(request)
            data = request.get("data")
            if request["kind"] == "read" and data is None:
                data = self.source_of(request)
        except Fault as fault:
            self.terminate(fault, request["segment"])
            return None
        del self.asked[at]
        self.answering = 1
        if request["kind"] == "atomic":
            ident = request["msn"] if self.on("f-atomic-id") else request["id"]
            return self.untagged_segments(ATOMIC_DONE, 3, ATOMIC_RESPONSE.pack(ident, request["value"]))
        stag, to = request["sink_stag"], request["sink_to"]
        if not data and self.on("tag-free"):
            stag, to = 0, 0
        if self.on("f-response-to"):
            to = 0
        if self.on("f-response-stag"):
            stag = stag + 1 & MASK32
        return self.tagged_segments(RESPONSE, stag, to, data)

    def source_of(self, request):
        if request["length"] == 0:
            return b""
        region = self.host.regions().get(request["source_stag"])
        if region is None or not region.valid:
            raise Fault(0x0100, True)
        at = (request["source_to"] - region.base & MASK64) + (1 if self.on("f-read-source") else 0)
        return bytes(region.octets[at : at + request["length"]])

    def check_read(self, request):
        if request["length"] == 0:
            return
        self.check(request["source_stag"], request["source_to"], request["length"], "remote_read", 0x0100)

    def check(self, stag, to, length, right, kind):
        """The region; kind: 0x0100 for errors of RDMAP, 0x1100 for those of DDP."""
        on, ddp = self.on, kind == 0x1100
        region = self.host.regions().get(stag)
        if region is None and on("f-stag-unchecked") and self.host.regions():
            region = list(self.host.regions().values())[-1]
            to = region.base
        if region is None or not region.valid:
            raise Fault(kind, not ddp)
        own = region.stream == self.host.number if region.stream is not None else region.pd == self.host.pd
        checks = [
            (own or on("f-pd-unchecked"), 0x02 if ddp else 0x03),
            (right in region.access or on("f-rights-unchecked") or on("f-write-right-read") and "remote_read" in region.access,
             None if ddp else 0x02),
            (to + length <= 1 << 64, 0x03 if ddp and not on("bounds-code") else 0x04 if not on("bounds-code") else 0x01),
            (self.within(region, to, length), 0x01),
        ]
        if on("invalid-first"):
            checks.reverse()
        for good, code in checks:
            if not good:
                raise Fault(0x0102 if code is None else kind | code, not ddp and code is not None)
        return region

    def within(self, region, to, length):
        on = self.on
        begin = to >= region.base or on("f-bounds-one") and to + 1 >= region.base
        end = to + length <= region.base + region.bound + (1 if on("f-bounds-one") else 0)
        return begin and (end or on("f-bounds-end") and to <= region.base + region.bound)

    def execute(self, request):
        region = self.check(request["stag"], request["to"], 8, "remote_atomic", 0x0100)
        at = request["to"] - region.base
        if at % 8:  # a region begins at a multiple of 8
            raise Fault(0x0207)
        old = int.from_bytes(region.octets[at : at + 8], "little")
        operation, data, mask = request["operation"], request["data"], request["mask"]
        if self.on("f-swap-mask"):
            mask = 0 if operation == FETCH_ADD else MASK64
        if operation == FETCH_ADD:
            new = fetch_add(old, data, mask)
        elif operation == COMPARE_SWAP:
            same = (old ^ request["compare"]) & request["compare_mask"] == 0
            new = old & ~mask & MASK64 | data & mask if same else old
        else:
            new = data
        region.octets[at : at + 8] = new.to_bytes(8, "little")
        return new if self.on("f-atomic-value") else old

    # --- Segments in ------------------------------------------------------------------------------------------------------

    def take(self, ulpdu):
        """One ULPDU that came. Wait: it is to be given again later."""
        if self.terminated and not self.on("f-terminate-goes-on"):
            return
        segment = None
        try:
            segment = Segment(ulpdu)
            self.judge(segment)
        except Fault as fault:
            if segment is None:
                segment = type("Cut", (), {"ulpdu": ulpdu, "tagged": False, "quote": lambda self: b""})()
            self.received_any = self.may_send = True
            self.terminate(fault, segment)
            return
        if not self.received_any:
            self.received_any = True
            self.may_send = True
            self.host.kick()

    def judge(self, s):
        on = self.on
        if s.dv != self.host.version and not on("f-dv-unchecked"):
            raise Fault(0x1104 if s.tagged else 0x1206)
        if s.tagged:
            self.judge_tagged(s)
            return
        if s.qn > 3 and not on("f-qn-unchecked") or s.qn == 3 and not self.host.extensions:
            raise Fault(0x1201)
        if s.rv != self.host.version and not on("f-rv-unchecked"):
            raise Fault(0x0205)
        due = {0: (3, 4, 5, 6) + ((8, 9) if self.host.extensions else ()), 1: (1,) + ((10,) if self.host.extensions else ()),
               2: (7,), 3: (11,)}
        qn = s.qn if not on("f-qn-unchecked") else {7: 2, 1: 1, 10: 1, 11: 3}.get(s.opcode, 0)
        if s.opcode not in due[qn]:
            if on("f-opcode-unchecked"):
                return
            raise Fault(0x0206)
        if s.msn != self.receive_msn[qn] and not on("f-msn-unchecked"):
            raise Fault(0x1203)
        getattr(self, ("take_send", "take_request", "take_terminate", "take_atomic_response")[qn])(s)

    def advance(self, qn):
        self.receive_msn[qn] = (self.receive_msn[qn] + 1) & MASK32

    def judge_tagged(self, s):
        if s.rv != self.host.version and not self.on("f-rv-unchecked"):
            raise Fault(0x0205)
        if s.opcode == WRITE:
            if not s.data:
                return
            region = self.check(s.stag, s.to, len(s.data), "remote_write", 0x1100)
            self.place(region, s.to, s.data)
        elif s.opcode == RESPONSE:
            self.take_response(s)
        elif not self.on("f-opcode-unchecked"):
            raise Fault(0x0206)

    def place(self, region, to, data):
        at = to - region.base
        if self.on("f-to-aligned"):
            at &= ~7
        if self.on("f-write-lost") and len(data) == 1:
            return
        if at < 0 or at + len(data) > len(region.octets):
            return
        region.octets[at : at + len(data)] = data

    def take_response(self, s):
        work = next((w for w in self.open if w.kind == "read"), None) if self.open and self.open[0].kind == "read" else None
        if work is None:
            if self.on("f-response-unasked"):
                region = self.host.regions().get(s.stag)
                if region:
                    self.place(region, s.to, s.data)
                return
            raise Fault(0x0206)
        if s.data or work.length:
            region = self.host.regions().get(s.stag)
            if region is None or not region.valid or s.stag != work.sink_stag:
                raise Fault(0x1100)
            if s.to != work.sink_to + work.got & MASK64 or s.to + len(s.data) > work.sink_to + work.length:
                raise Fault(0x1101)
            self.place(region, s.to, s.data)
        work.got += len(s.data)
        if s.last or self.on("f-read-done-early"):
            if s.last and work.got != work.length and not self.on("f-read-done-early"):
                raise Fault(0x02FF)
            self.open.popleft()
            work.octets = work.length
            self.finish(work)
            self.host.kick()

    def take_send(self, s):
        on = self.on
        if s.opcode >= IMMEDIATE and (len(s.data) != 8 or s.mo or not s.last):
            raise Fault(0x1204 if s.mo else 0x0206)
        if self.host.rtr_due and s.opcode == SEND and not s.data and s.last:
            self.advance(0)
            self.host.rtr_due = False
            return
        if self.partial is None:
            if not self.receives:
                if on("receives-wait"):
                    raise Wait
                if on("f-drops"):
                    if s.last:
                        self.advance(0)
                    return
                raise Fault(0x1202)
            self.partial, self.came, self.whole = bytearray(), 0, None
        ident, room = self.receives[0]
        if s.mo > room and not on("f-mo-unchecked"):
            raise Fault(0x1204)
        if s.mo + len(s.data) > room and not on("f-truncates"):
            raise Fault(0x1205)
        if s.last and s.opcode in (4, 6):
            self.check_invalidate(s.invalidate)
        at = min(s.mo, room) if not on("f-mo-unchecked") else self.came
        piece = s.data[: room - at]
        if len(self.partial) < at + len(piece):
            self.partial += bytes(at + len(piece) - len(self.partial))
        self.partial[at : at + len(piece)] = piece
        self.came += len(s.data)
        if s.last:
            self.whole = s.mo + len(s.data)
        if self.whole is not None and (self.came >= self.whole or on("f-mo-unchecked")) or on("f-delivers-early"):
            data, self.partial = bytes(self.partial[:room]), None
            self.receives.popleft()
            self.advance(0)
            more = {}
            if s.opcode in (4, 6):
                if not on("f-not-invalidated"):
                    self.host.regions()[s.invalidate].valid = False
                more["invalidated"] = s.invalidate
            if ident is not None:
                more["id"] = ident
            solicited = s.opcode in (5, 6, 9) and not on("f-solicited-lost")
            for _ in range(2 if on("f-delivers-twice") else 1):
                self.host.event("receive", octets=len(data), opcode=s.opcode, solicited=solicited, data=data.hex(), **more)
            self.host.delivered(data)

    def check_invalidate(self, stag):
        region = self.host.regions().get(stag)
        if region is None or not region.valid or region.stream != self.host.number:
            raise Fault(0x0109 if not self.on("other-codes") else 0x0209, False)

    def take_request(self, s):
        on = self.on
        waiting = len(self.asked) + self.answering
        if waiting >= self.host.ird and not on("f-ird-unchecked"):
            if on("reads-wait") and self.host.ird:
                raise Wait
            raise Fault(0x1202)
        size = READ_REQUEST.size if s.opcode == READ else ATOMIC_REQUEST.size
        if s.mo != 0:
            raise Fault(0x1204)
        if len(s.data) > size:
            raise Fault(0x1205)
        if len(s.data) < size or not s.last:
            raise Fault(0x02FF)
        self.advance(1)
        wait = 0.2 if on("reads-slow") else 0
        if s.opcode == READ:
            sink_stag, sink_to, length, source_stag, source_to = READ_REQUEST.unpack(s.data)
            request = {"kind": "read", "sink_stag": sink_stag, "sink_to": sink_to, "length": length, "source_stag": source_stag,
                       "source_to": source_to, "segment": s, "at": self.host.now() + wait}
            if not on("read-checked-late"):
                self.check_read(request)
            if on("source-early"):
                request["data"] = self.source_of(request)
            if on("f-empty-read") and length == 0:
                return
        else:
            operation, ident, stag, to, data, mask, compare, compare_mask = ATOMIC_REQUEST.unpack(s.data)
            operation &= 0xF
            if operation > SWAP + 1 or operation == SWAP and self.host.extensions != "draft03":
                raise Fault(0x0206)
            request = {"kind": "atomic", "operation": operation, "id": ident, "stag": stag, "to": to, "data": data, "mask": mask,
                       "compare": compare, "compare_mask": compare_mask, "segment": s, "at": self.host.now() + wait, "msn": s.msn}
            if on("atomics-early") and all(r["kind"] == "read" for r in self.asked):  # RFC 7306 7: atomics one after another
                request["value"] = self.execute(request)
        self.asked.append(request)
        self.host.kick()

    def take_atomic_response(self, s):
        if not self.open or self.open[0].kind != "atomic":
            raise Fault(0x1202)
        if s.mo != 0 or len(s.data) > ATOMIC_RESPONSE.size:
            raise Fault(0x1204 if s.mo else 0x1205)
        if len(s.data) < ATOMIC_RESPONSE.size:
            raise Fault(0x02FF)
        ident, value = ATOMIC_RESPONSE.unpack(s.data)
        work = self.open[0]
        if ident != work.request_id:
            raise Fault(0x02FF)
        self.advance(3)
        self.open.popleft()
        work.value = value
        self.finish(work)
        self.host.kick()

    def take_terminate(self, s):
        word = int.from_bytes(s.data[:2], "big")
        self.host.event("terminate_received", layer=word >> 12, etype=word >> 8 & 15, code=word & 255, headers=s.data[4:].hex())
        self.host.end("terminated")

    # --- Terminates -------------------------------------------------------------------------------------------------------

    def terminate(self, fault, segment=None):
        if self.terminated:
            return
        on = self.on
        layer = fault.triple >> 12
        triple = fault.triple
        if on("f-terminate-code"):
            triple = triple & 0xFF00 | triple + 1 & 0xFF
        if on("f-terminate-swapped"):
            triple = triple >> 8 & 0xF | 0
            triple = (fault.triple >> 8 & 0xF) << 12 | layer << 8 | fault.triple & 0xFF
        if on("f-quotes-newest") and self.asked:
            segment = self.asked[-1]["segment"]
        quoted = segment.quote() if segment is not None and layer < 2 else b""
        has_header = bool(quoted) and not on("terminate-bare")
        bits, body = 0, b""
        if has_header:
            bits, body = 0xC0, struct.pack("!H", len(segment.ulpdu)) + quoted
            if fault.rdmap and segment.opcode in (READ,):
                bits, body = 0xE0, body + segment.ulpdu[UNTAGGED.size : UNTAGGED.size + READ_REQUEST.size]
        if on("f-terminate-m") and not bits:
            bits = 0x80
        if on("f-terminate-bare"):
            bits, body = 0xC0, b""
        payload = struct.pack("!HBB", triple, bits, 0) + body
        self.terminated = not on("f-terminate-goes-on")
        silent = on("f-no-terminate") or on("no-terminate-lower") and layer > 0 and triple not in (0x2006, 0x2007)
        ulpdu = None if silent else self.untagged(TERMINATE, 0 if on("f-terminate-queue") else 2, 1, 0, payload, True)
        self.host.failed(triple, ulpdu, "reset" if on("f-no-terminate") else "fin")


def fetch_add(old, data, mask):
    """Fields end at the bits of the mask: no carry goes beyond one (RFC 7306 5.1.1)."""
    result, carry = 0, 0
    for bit in range(64):
        total = (old >> bit & 1) + (data >> bit & 1) + carry
        result |= (total & 1) << bit
        carry = 0 if mask >> bit & 1 else total >> 1
    return result
