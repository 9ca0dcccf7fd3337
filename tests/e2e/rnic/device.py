# SPDX-License-Identifier: BSD-2-Clause
"""The device: listeners, connections over the kernel's TCP, memory, and a ULP that does nothing by itself."""
import errno
import fcntl
import heapq
import itertools
import random
import selectors
import socket
import struct
import termios
import threading
import time
import traceback

import mpa
from stack import Region, Stack, Wait, Work

OUT_MOST = 128 * 1024  # octets that wait for TCP before no more segments are made
STARTUP = 10.0  # seconds for the start-up exchange
LINGER = 3.0  # seconds from the own FIN to the peer's
DEFAULTS = {
    "rev": 2, "enhanced": True, "markers": False, "crc": True, "ird": 8, "ord": 8, "p2p": False, "rtr": ["send", "write", "read"],
    "private_data": b"", "accept": "auto", "pd": 0, "receives": 16, "receive_octets": 4096, "repost": True, "echo": False,
    "extensions": "rfc7306",
}  # fmt: skip
DEPTH_MAX, NOT_NEGOTIATED = 16, 0x3FFF
RECEIVE_BIG = 65536
LATE_EVENT = 0.05
DRIPPED_MOST = 10  # FPDUs of a connection: a megabyte of them would take minutes


class Engine:
    """One thread that does all I/O; others call its methods with `lock` held."""

    def __init__(self, habits):
        self.habits, self.on = habits, habits.is_on
        self.lock = threading.RLock()
        self.selector = selectors.DefaultSelector()
        self.wake_read, self.wake_write = socket.socketpair()
        self.wake_read.setblocking(False)
        self.wake_write.setblocking(False)
        self.selector.register(self.wake_read, selectors.EVENT_READ, None)
        self.timers, self.order = [], itertools.count()
        self.numbers = itertools.count(4000000000 if self.on("tells-more") else 1)
        self.connections, self.listeners, self.regions = {}, {}, {}
        self.tell = lambda stream, event, **more: None
        self.has_upper = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def wake(self):
        try:
            self.wake_write.send(b"x")
        except BlockingIOError:
            pass  # so many wait that it wakes anyway

    def later(self, seconds, function):
        heapq.heappush(self.timers, (time.monotonic() + seconds, next(self.order), function))
        self.wake()

    def run(self):
        while True:
            with self.lock:
                wait = max(0, self.timers[0][0] - time.monotonic()) if self.timers else None
            ready = self.selector.select(wait)
            with self.lock:
                for key, events in ready:
                    if key.data is None:
                        self.wake_read.recv(4096)
                    else:
                        self.call(key.data.ready, events)
                while self.timers and self.timers[0][0] <= time.monotonic():
                    self.call(heapq.heappop(self.timers)[2])

    @staticmethod
    def call(function, *arguments):
        """A mistake of this program is shown, and ends nothing else."""
        try:
            function(*arguments)
        except Exception:  # pylint: disable=broad-exception-caught
            traceback.print_exc()

    def event(self, stream, event, **more):
        if self.on("tells-little") and event in ("connect_request", "half_closed", "terminate_sent"):
            return
        if self.on("tells-more"):
            more = {**more, "at": time.monotonic(), "vendor": {"queue": 7}}
            self.tell(stream, "vendor_says", text="an event of the vendor's own")
        if self.on("tells-late") or self.on("ulp-late") and event == "receive":
            self.later(LATE_EVENT, lambda: self.tell(stream, event, **more))
        else:
            self.tell(stream, event, **more)

    # --- Memory -----------------------------------------------------------------------------------------------------------

    def register(self, length, base, access, pd, stream):
        stag = 0
        while stag in self.regions or stag == 0:
            stag = random.getrandbits(32)
        if self.on("own-bases"):
            base = 0
        region = Region(stag, base, length, set(access), pd, stream)
        self.regions[stag] = region
        return region

    # --- Connections ------------------------------------------------------------------------------------------------------

    def listen(self, address, port, options):
        if port in self.listeners:
            self.listeners[port].options = options
            return port
        listener = Listener(self, address, port, options)
        self.listeners[listener.port] = listener
        return listener.port

    def connect(self, address, port, options, number=None):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        connection = Connection(self, sock, True, options, number)
        connection.peer = address, port
        sock.setblocking(False)
        status = sock.connect_ex((address, port))
        if status not in (0, errno.EINPROGRESS):
            connection.closed("error", os_error=status)
        return connection.number

    def reset(self):
        for connection in list(self.connections.values()):
            connection.end("reset")
        for listener in list(self.listeners.values()):
            if not listener.own:
                listener.close()
        self.regions.clear()


class Listener:
    def __init__(self, engine, address, port, options, own=False):
        self.engine, self.options, self.own = engine, options, own
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.sock = socket.socket(family, socket.SOCK_STREAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if engine.on("mss"):
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, engine.on("mss"))
        self.sock.bind((address, port))
        self.sock.listen(64)
        self.sock.setblocking(False)
        self.port = self.sock.getsockname()[1]
        engine.selector.register(self.sock, selectors.EVENT_READ, self)

    def ready(self, _events):
        engine = self.engine
        if engine.on("one-connection") and any(not c.initiator for c in engine.connections.values()):
            engine.later(0.01, lambda: None)
            time.sleep(0.001)
            return
        try:
            sock, peer = self.sock.accept()
        except OSError:
            return
        connection = Connection(engine, sock, False, self.options)
        engine.event(connection.number, "accepted", port=self.port, peer_port=peer[1])

    def close(self):
        self.engine.selector.unregister(self.sock)
        self.sock.close()
        self.engine.listeners.pop(self.port, None)


def serve_in_class(sock):
    if sock.family == socket.AF_INET:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x28)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)


class Connection:
    """A TCP connection with MPA, and the stack above."""

    def __init__(self, engine, sock, initiator, options, number=None):
        self.engine, self.sock, self.initiator, self.on = engine, sock, initiator, engine.on
        self.options = {**DEFAULTS, **options}
        if self.on("crc-always"):
            self.options["crc"] = True
        if self.on("markers-wanted"):
            self.options["markers"] = True
        self.number = next(engine.numbers) if number is None else number
        engine.connections[self.number] = self
        sock.setblocking(False)
        if initiator and self.on("mss"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, self.on("mss"))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK if self.on("corked") else socket.TCP_NODELAY, 1)
        if self.on("service-class"):
            serve_in_class(sock)
        self.pd, self.extensions, self.version = self.options["pd"], self.options["extensions"], 1
        if self.extensions == "off":
            self.extensions = None
        self.ird = 1 if self.on("ird-1") and self.options["ird"] else min(self.options["ird"], DEPTH_MAX)
        self.ord = 1 if self.on("ord-1") and self.options["ord"] else min(self.options["ord"], DEPTH_MAX)
        self.stack = Stack(self, engine.habits)
        self.rtr_due = False
        self.state = "connecting" if initiator else "start"
        self.incoming, self.outgoing = bytearray(), []
        self.receive_position = self.send_position = 0
        self.send_markers = self.receive_markers = False
        self.crc = True
        self.waits, self.peer_closed, self.own_closed, self.ending, self.told_closed = False, False, False, None, False
        self.request, self.finishing, self.needs_ord = None, False, None
        self.watched, self.dripping, self.dripped = 0, [], 0
        self.watch()
        engine.later(STARTUP, self.give_up)

    def give_up(self):
        if self.state in ("start", "connecting"):
            self.event("connect_failed" if self.initiator else "error", reason="the start-up takes too long", text="too slow")
            self.end("fin")
            self.later(LINGER, lambda: self.closed("closed"))

    # --- What the stack asks its host ---------------------------------------------------------------------------------------

    def now(self):
        return time.monotonic()

    def later(self, seconds, function):
        self.engine.later(seconds, function)

    def regions(self):
        return self.engine.regions

    def event(self, event, **more):
        self.engine.event(self.number, event, **more)

    def segment_max(self):
        if self.on("fpdus-short"):
            return 256
        try:
            emss = self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
        except OSError:
            emss = 536
        return mpa.mulpdu(emss, self.send_markers)

    def say_done(self, work):
        if getattr(work, "quiet", False):
            return
        more = {} if work.ident is None else {"id": work.ident}
        if work.kind == "atomic":
            self.event("atomic_done", value=f"0x{work.value:016x}", **more)
        else:
            self.event(work.kind + "_done", octets=work.octets, **more)

    def kick(self):
        if self.state == "full":
            self.pump()

    def resume(self):
        """Something has changed that a segment in TCP may wait for."""
        if self.waits:
            self.waits = False
            self.watch()
            self.engine.later(0, self.take_fpdus)
        if self.on("one-exchange"):
            self.engine.later(0.01, lambda: self.end("fin"))

    def receive_length(self, wanted):
        return RECEIVE_BIG if self.on("receive-big") else wanted

    def repost(self):
        self.stack.receives.append((None, self.receive_length(self.options["receive_octets"])))
        self.resume()

    def delivered(self, data):
        """The ULP has a message."""
        if self.options["repost"] and self.on("ulp-late"):
            self.engine.later(LATE_EVENT, self.repost)
        elif self.options["repost"]:
            self.stack.receives.append((None, self.receive_length(self.options["receive_octets"])))
        if self.options["echo"]:
            self.stack.post(Work("send", None, opcode=3, data=data, invalidate=0))
        if self.on("ulp-closes") or self.on("one-exchange"):
            self.end("fin")
        elif self.on("ulp-resets"):
            self.end("reset")
        elif self.on("ulp-answers"):
            self.stack.post(Work("send", None, opcode=3, data=b"what?", invalidate=0))

    def failed(self, triple, ulpdu, how):
        self.stack.flush()
        if ulpdu is not None and self.stack.may_send:
            self.put_fpdu(ulpdu)
            self.event("terminate_sent", layer=triple >> 12, etype=triple >> 8 & 15, code=triple & 255, what="", headers="")
        self.event("error", text="the stream has failed", layer=triple >> 12, etype=triple >> 8 & 15, code=triple & 255)
        if self.on("f-terminate-goes-on"):
            return
        if how == "fin" and self.on("terminate-waits") and triple not in (0x2006, 0x2007):  # RFC 6581 9.1, 9.2: it closes
            self.engine.later(LINGER, lambda: self.end("fin"))
        elif self.on("terminate-then-reset"):
            self.flush_out()
            self.reset_after_terminate()
        else:
            self.end(how)

    def reset_after_terminate(self):
        """A RST that the Terminate is sure not to meet on its way: it leaves when TCP has nothing that is not acknowledged."""
        if self.state == "closed":
            return
        waits = self.outgoing or any(fcntl.ioctl(self.sock, termios.TIOCOUTQ, b"\0" * 4))
        self.engine.later(0.02, self.reset_after_terminate if waits else lambda: self.end("reset"))

    # --- I/O ----------------------------------------------------------------------------------------------------------------

    def watch(self):
        """Asks for the events that count now."""
        events = 0 if self.waits and len(self.incoming) > 65536 or self.peer_closed else selectors.EVENT_READ
        events |= selectors.EVENT_WRITE if self.outgoing or self.state == "connecting" else 0
        events = 0 if self.state == "closed" else events
        if events == self.watched:
            return
        if not self.watched:
            self.engine.selector.register(self.sock, events, self)
        elif events:
            self.engine.selector.modify(self.sock, events, self)
        else:
            self.engine.selector.unregister(self.sock)
        self.watched = events

    def ready(self, events):
        if self.state == "connecting":
            if self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                self.closed("connect_failed")
                return
            self.state = "start"
            self.send_request()
        if events & selectors.EVENT_WRITE and self.outgoing:
            self.flush_out()
            self.kick()
            self.finish()
        if events & selectors.EVENT_READ:
            self.read()
        self.watch()

    def read(self):
        try:
            octets = self.sock.recv(262144)
        except BlockingIOError:
            return
        except OSError:
            if not self.fell_back():
                self.closed("error", text="the peer has reset the connection")
            return
        if not octets and self.fell_back():
            return
        if not octets:
            self.peer_closed = True
            self.take_fpdus()
            if self.state == "closed":
                return
            if self.state == "full" and (self.incoming and not self.waits or self.stack.partial is not None or self.stack.open):
                self.event("error", text="the peer's FIN came in the middle of something", layer=2, etype=0, code=1)
            self.event("half_closed")
            if self.own_closed:
                self.closed("closed")
            elif self.state != "full":
                self.engine.later(0, lambda: self.end("fin"))
            elif not self.options.get("hold_open"):
                self.finishing = True
                self.finish()
            return
        self.incoming += octets
        if self.state == "start":
            self.take_start()
        if self.state == "full":
            self.take_fpdus()
        elif self.state == "ended":
            self.incoming.clear()

    def fell_back(self):
        """RFC 6581 10: an enhanced Request that ended its connection is tried again, plain, on a new one; the ULP's stream is the same."""
        if not (self.on("falls-back") and self.initiator and self.state == "start" and self.request and self.request.word and not self.incoming):
            return False
        self.state = "closed"
        self.watch()
        self.sock.close()
        self.engine.connect(*self.peer, {**self.options, "enhanced": False, "rev": 1}, self.number)
        return True

    def finish(self):
        """After the peer's FIN: what is still to be sent leaves, then the own FIN."""
        if self.finishing and self.state == "full" and self.stack.is_idle() and not self.outgoing and not self.dripping:
            self.finishing = False
            self.engine.later(0, lambda: self.end("fin"))

    def drip(self, pieces, apart):
        """Pieces leave one after another, `apart` seconds between them; what is written later waits behind them."""
        self.dripping += [(piece, apart) for piece in pieces]
        if len(self.dripping) == len(pieces):
            self.drip_next()

    def drip_next(self):
        if self.state == "closed" or not self.dripping:
            self.dripping.clear()
            return
        piece, apart = self.dripping[0]
        self.outgoing.append(piece)
        self.flush_out()

        def next_one():
            if self.dripping:
                self.dripping.pop(0)
            self.drip_next()
            if not self.dripping:
                self.kick()
                self.flush_out()

        self.engine.later(apart, next_one)

    def write(self, octets, pieces=None):
        if self.on("drips") and self.state == "full" and self.dripped < DRIPPED_MOST and len(octets) > 1:
            self.dripped += 1
            half = len(octets) // 2
            self.drip([octets[:half], octets[half:]], 0.04)
            return
        if self.on("drips") and self.state in ("start", "asked"):
            self.drip([octets[i : i + 1] for i in range(len(octets))], 0.01)
            return
        if self.dripping:
            self.drip(pieces or [octets], 0)
            return
        for piece in pieces or [octets]:
            self.outgoing.append(piece)
        self.flush_out()

    def flush_out(self):
        while self.outgoing:
            try:
                sent = self.sock.send(self.outgoing[0], socket.MSG_EOR | socket.MSG_NOSIGNAL)
            except BlockingIOError:
                break
            except OSError:
                self.closed("error", text="the connection is lost")
                return
            if sent < len(self.outgoing[0]):
                self.outgoing[0] = self.outgoing[0][sent:]
                break
            self.outgoing.pop(0)
        if not self.outgoing and not self.dripping and self.ending == "fin" and not self.own_closed:
            self.shut()
        self.watch()

    def shut(self):
        self.own_closed = True
        try:
            self.sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        if self.peer_closed:
            self.closed("closed")
        else:
            self.engine.later(LINGER, lambda: self.closed("closed"))

    def put_fpdu(self, ulpdu):
        octets = mpa.frame_fpdu(ulpdu, self.send_position, self.send_markers, self.crc, self.on)
        self.send_position = self.send_position + len(octets) & 0xFFFFFFFF
        half = len(octets) // 2
        self.write(octets, [octets[:half], octets[half:]] if self.on("two-writes") and half else None)

    def pump(self):
        while self.state == "full" and self.ending is None and len(self.outgoing) + len(self.dripping) < 200 and sum(map(len, self.outgoing)) < OUT_MOST:
            ulpdu = self.stack.next_ulpdu()
            if ulpdu is None:
                break
            self.put_fpdu(ulpdu)
        self.finish()

    def end(self, how):
        """fin: what is made leaves, then a FIN; reset; terminated: the peer's Terminate has come."""
        if self.state == "closed":
            return
        if how == "reset":
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.closed("closed")
            return
        if self.ending is None:
            if self.state == "full" and how == "fin" and not self.stack.terminated:
                self.pump()
            self.ending = "fin"
            self.graceful = how == "fin" and self.state == "full" and not self.stack.terminated and not self.peer_closed
            if not self.graceful:
                self.stack.flush()
                if self.state == "full":
                    self.state = "ended"
        self.flush_out()

    def closed(self, event, **more):
        if self.state == "closed":
            return
        self.state = "closed"
        self.stack.flush()
        if event not in ("closed",):
            self.event(event, **({"reason": "it is lost"} if event == "connect_failed" else more))
        if event != "connect_failed":
            self.event("closed")
        self.watch()
        self.sock.close()
        self.engine.connections.pop(self.number, None)

    # --- Start-up ---------------------------------------------------------------------------------------------------------

    def private(self, most):
        own = self.options["private_data"]
        return own or (b"own words" if self.on("private-data-always") and not self.engine.has_upper else b"")[:most]

    def rtr_kinds(self):
        return ["read"] if self.on("rtr-read-only") else self.options["rtr"]

    def send_request(self):
        o = self.options
        word = None
        if o["rev"] >= 2 and o["enhanced"]:
            kinds = self.rtr_kinds() if o["p2p"] else []
            word = {"a": o["p2p"], "b": "send" in kinds, "c": "write" in kinds, "d": "read" in kinds,
                    "ird": NOT_NEGOTIATED if o["ird"] == NOT_NEGOTIATED else self.ird,
                    "ord": NOT_NEGOTIATED if o["ord"] == NOT_NEGOTIATED else self.ord}
        self.request = mpa.StartFrame(o["markers"], o["crc"], False, 2 if word else 1, word, self.private(508))
        self.put_start(self.request.pack(mpa.REQUEST, self.on))

    def put_start(self, octets):
        self.write(octets, [octets[i : i + 1] for i in range(len(octets))] if self.on("reply-octet-by-octet") else None)

    def take_start(self):
        try:
            got = mpa.parse_start(self.incoming, mpa.REPLY if self.initiator else mpa.REQUEST, self.on)
            if got is None:
                return
            frame, used = got
            self.judge_start(frame, used)
        except mpa.BadFrame as why:
            self.event("connect_failed" if self.initiator else "error", reason=str(why), text=str(why))
            self.end("reset" if self.on("start-error-resets") else "fin")
            return
        del self.incoming[:used]
        if self.initiator:
            self.take_reply(frame)
        else:
            self.take_request(frame)

    def judge_start(self, frame, used):
        if frame.rev not in (1, 2) and not self.on("f-rev-unchecked"):
            raise mpa.BadFrame("Rev")
        if frame.s and frame.rev < 2:
            frame.word, frame.s = None, False
        if not self.initiator:
            if len(self.incoming) > used:
                raise mpa.BadFrame("octets after the Request")
            if frame.rev > self.options["rev"] or frame.word and not self.options["enhanced"]:
                raise mpa.BadFrame("Rev")
        elif (frame.word is None) != (self.request.word is None):
            raise mpa.BadFrame("another kind of Reply")
        elif len(self.incoming) > used and not frame.r:
            raise mpa.BadFrame("octets before the first FPDU")

    def told(self, frame):
        private = frame.private
        private = private[:-1] if self.on("f-private-cut") else b"" if self.on("f-private-lost") else private
        more = {"rev": frame.rev, "m": frame.m, "c": frame.c, "r": frame.r, "s": frame.s, "private_data": private.hex()}
        if frame.word:
            w = frame.word
            more.update(a=bool(w["a"]), rtr_send=bool(w["b"]), rtr_write=bool(w["c"]), rtr_read=bool(w["d"]), peer_ird=w["ird"],
                        peer_ord=w["ord"])
        return more

    def ends(self):
        try:
            own, peer = self.sock.getsockname(), self.sock.getpeername()
        except OSError:  # the connection is gone
            return {}
        return {"peer_address": peer[0], "peer_port": peer[1], "own_address": own[0], "own_port": own[1]}

    def take_request(self, frame):
        self.request = frame
        self.event("connect_request", **self.told(frame), **self.ends())
        if self.on("closes-without") and frame.private != b"please":
            self.end("fin")
        elif self.on("rejects-without") and frame.private != b"please" or self.options["accept"] == "reject":
            self.answer(False)
        elif self.on("refuses-wrong-depths") and frame.word and frame.word["ird"] < min(self.ord, self.options["ord"]):
            self.needs_ord = self.ord  # which the Reply names (RFC 6581 9.1)
            self.answer(False)
        elif self.options["accept"] == "manual":
            self.state = "asked"
        else:
            self.answer(True)

    def answer(self, accepts, private=None, ird=None, ord_=None):
        self.state = "start"
        if private is not None:
            self.options["private_data"] = private
        self.ird = self.ird if ird is None else min(ird, DEPTH_MAX)
        self.ord = self.ord if ord_ is None else min(ord_, DEPTH_MAX)
        frame, o = self.request, self.options
        word = self.reply_word(frame.word) if frame.word else None
        if self.on("f-s-lost"):
            word = None
        crc = o["crc"] or self.on("crc-always")
        reply = mpa.StartFrame(o["markers"], crc and not self.on("f-crc-refused"), not accepts, frame.rev if word else 1, word,
                               b"" if self.on("f-private-unsent") else self.private(508 if word else 512))
        octets = reply.pack(mpa.REPLY, self.on)
        if self.on("reply-late"):
            self.engine.later(0.3, lambda: self.send_reply(octets, reply, accepts))
        else:
            self.send_reply(octets, reply, accepts)

    def reply_word(self, asked):
        ird, depth = asked["ord"], asked["ird"]
        if ird == NOT_NEGOTIATED:
            say_ird = NOT_NEGOTIATED
        else:
            if not self.on("ird-1") and not self.on("depths-own"):
                self.ird = max(self.ird, min(ird, DEPTH_MAX))
            if asked["a"] and self.ird == 0:
                self.ird = 1
            say_ird = self.ird
        if depth == NOT_NEGOTIATED:
            say_ord = NOT_NEGOTIATED
        else:
            self.ord = min(self.ord, depth) if not self.on("f-ird-ignored") else self.ord
            say_ord = self.needs_ord or self.ord
        kinds = self.rtr_kinds()
        flags = {"b": "send" in kinds, "c": "write" in kinds, "d": "read" in kinds} if asked["a"] else {"b": 0, "c": 0, "d": 0}
        if self.on("f-depths-swapped"):
            say_ird, say_ord = say_ord, say_ird
        return {"a": asked["a"] and not self.on("f-a-lost"), **flags, "ird": say_ird, "ord": say_ord}

    def send_reply(self, octets, reply, accepts):
        if self.state == "closed":
            return
        self.put_start(octets)
        if not accepts:
            self.event("reject_sent")
            self.state = "ended"
            return
        self.rtr_due = bool(self.request.word and self.request.word["a"])
        self.start(reply, self.request)

    def take_reply(self, frame):
        self.event("rejected", **self.told(frame), **self.ends()) if frame.r else None
        if frame.r:
            self.end("fin")
            return
        word, own, bad = frame.word, self.request.word, None
        if word:
            if own["ird"] != NOT_NEGOTIATED and word["ord"] != NOT_NEGOTIATED:
                self.ird = max(self.ird, word["ord"])
                bad = 0x2006 if self.ird > DEPTH_MAX else None
            if own["ord"] != NOT_NEGOTIATED and word["ird"] != NOT_NEGOTIATED:
                self.ord = min(self.ord, word["ird"])
        rtr = None
        if word and own["a"] and word["a"]:
            rtr = next((k for k, f in (("read", "d"), ("write", "c"), ("send", "b")) if own[f] and word[f] and (k != "read" or self.ord)), None)
            bad = bad or (0x2007 if rtr is None else None)
        self.start(self.request, frame, rtr, bad)

    def start(self, own, peer, rtr=None, bad=None):
        self.state = "full"
        self.send_markers, self.receive_markers, self.crc = peer.m, own.m, own.c or peer.c
        if self.on("f-crc-refused"):
            self.crc = False
        if self.on("f-marker-from-frame"):
            self.send_position = 20
        self.stack.may_send = self.initiator or self.on("f-first")
        if bad:
            self.stack.terminate(type("Bad", (Exception,), {"triple": bad, "rdmap": False})())
            return
        for _ in range(0 if self.on("no-receives") else self.options["receives"]):
            self.stack.receives.append((None, self.receive_length(self.options["receive_octets"])))
        if rtr == "send":
            self.put_fpdu(self.stack.untagged(3, 0, self.stack.next_msn(0, 3), 0, b"", True))
        elif rtr == "write":
            self.put_fpdu(self.stack.tagged(0, 0x52, 0, b"", True))
        elif rtr == "read":
            self.stack.post(Work("read", None, sink_stag=0x52, sink_to=0, length=0, source_stag=0, source_to=0, quiet=True))
        self.event("established", **self.told(peer), **self.ends(), ird=self.ird, ord=self.ord, send_markers=self.send_markers,
                   receive_markers=self.receive_markers, crc=self.crc, version=1)
        if self.on("heartbeat"):
            self.engine.later(0.1, self.beat)
        if self.on("greets") and not self.initiator or self.on("f-first"):
            self.stack.post(Work("send", None, opcode=3, data=b"hello", invalidate=0))
        self.take_fpdus()
        self.kick()

    def beat(self):
        if self.state == "full" and self.ending is None:
            if self.stack.is_idle():
                self.stack.post(Work("write", None, stag=0x42, to=0, data=b"", quiet=True))
            self.engine.later(0.1, self.beat)

    # --- FPDUs in -----------------------------------------------------------------------------------------------------------

    def take_fpdus(self):
        while self.state == "full" and not self.waits:
            got = mpa.take_fpdu(memoryview(bytes(self.incoming[:70000])), self.receive_position, self.receive_markers)
            if got is None:
                break
            ulpdu, used, crc_good, marker_good = got
            if not (crc_good or not self.crc or self.on("f-crc-unchecked")) or not marker_good:
                self.stack.may_send = True
                self.stack.terminate(type("Bad", (Exception,), {"triple": 0x2002 if marker_good else 0x2003, "rdmap": False})())
                return
            try:
                self.stack.take(ulpdu)
            except Wait:
                self.waits = True
                break
            del self.incoming[:used]
            self.receive_position = self.receive_position + used & 0xFFFFFFFF
        if self.state == "full":
            self.pump()
        self.watch()
