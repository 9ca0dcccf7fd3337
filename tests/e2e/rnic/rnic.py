#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""rnic.py [--address A] [--listen PORT] [--control PORT] [HABIT...]: an iWARP device above the kernel's TCP, made from the RFCs alone, with
habits that are legal and not those of the reference stack, or with faults (habits.py). Its upper tester is skeleton.py, filled in.
"""
import argparse
import functools
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../../upper-tester/skeleton")]
import skeleton  # noqa: E402 # pylint: disable=wrong-import-position

from device import DEFAULTS, DEPTH_MAX, RECEIVE_BIG, Engine, Listener  # noqa: E402
from habits import Habits  # noqa: E402
from stack import COMPARE_SWAP, FETCH_ADD, SWAP, Work  # noqa: E402

skeleton.CAPABILITIES = {
    "name": "rnic.py", "protocol": 1, "rev": [1, 2], "enhanced": True, "markers": True, "crc_off": True, "p2p": True,
    "rtr": ["send", "write", "read"], "ird_max": DEPTH_MAX, "ord_max": DEPTH_MAX, "private_data_max": 512, "atomics": True,
    "immediate": True, "out_of_order": False, "extensions": ["off", "draft03", "rfc7306"],
}  # fmt: skip
skeleton.EVENTS = """accepted connect_request established rejected reject_sent connect_failed receive send_done write_done read_done
    atomic_done immediate_done flushed terminate_sent terminate_received error half_closed closed""".split()
skeleton.OBEYED = tuple(DEFAULTS) + ("hold_open",)
ALL_RIGHTS = ["local_read", "local_write", "remote_read", "remote_write", "remote_atomic"]
SMALL, RECEIVES_FEW, QUEUE_SHORT, REGIONS_FEW, PRIVATE_SHORT = 16384, 16, 4, 8, 16  # what habits of few means have
OPERATIONS = {"fetch_add": FETCH_ADD, "swap": SWAP, "compare_swap": COMPARE_SWAP}


def counted(length):
    return bytes(i % 251 for i in range(min(length, 251))) * (length // 251 + 1)


def limited(engine, count, most, what):
    if engine.on("few-means") and count > most:
        raise skeleton.Unsupported(f"the device has no room for {what}")


def payload(engine, data, length):
    if data is not None and length is not None:
        raise skeleton.Refused('"data" or "length", not both')
    limited(engine, len(data or b"") + (length or 0), SMALL, "a message of so many octets")
    return data if data is not None else counted(length or 0)[: length or 0]


def locked(method):
    @functools.wraps(method)
    def run(self, *arguments, **named):
        with self.engine.lock:
            result = method(self, *arguments, **named)
            self.engine.wake()
            return result

    return run


class Rnic(skeleton.Device):
    def __init__(self, engine, address, listens_on):
        super().__init__(listens_on)
        self.engine, self.address = engine, address
        engine.tell, engine.has_upper = self.event, True

    def capabilities(self):
        on = self.engine.on
        out = super().capabilities()
        if on("tells-errors"):
            out["terminate_events"] = False
            out["events"] = [e for e in out["events"] if e not in ("terminate_received", "terminate_sent")]
        if on("tells-little"):
            out["events"] = [e for e in out["events"] if e not in ("connect_request", "half_closed", "terminate_sent")]
        if on("receive-big"):
            out["receive_octets"] = RECEIVE_BIG
        if on("ird-1"):
            out["ird_max"] = 1
        if on("ord-1"):
            out["ord_max"] = 1
        if on("rtr-read-only"):
            out["rtr"] = ["read"]
        if on("crc-always"):
            out["crc_off"] = False
        if on("few-means"):
            out["private_data_max"] = PRIVATE_SHORT
        if on("verbs-few"):
            out.update(atomics=False, immediate=False, extensions=["off"])
        if on("tells-more"):
            out.update(firmware="1.2", ports=2, nested={"of": ["the vendor"]})
        return out

    def stream(self, number):
        connection = self.engine.connections.get(number)
        if connection is None:
            raise skeleton.Refused("there is no such stream")
        return connection

    def ready(self, number):
        connection = self.stream(number)
        if connection.state != "full" or connection.ending:
            raise skeleton.Refused("the stream is not established")
        if self.engine.on("few-means") and len(connection.stack.posted) >= QUEUE_SHORT:
            raise skeleton.Unsupported("the queue has no room for so much work")
        return connection.stack

    def region(self, stag):
        if stag not in self.engine.regions:
            raise skeleton.Refused("there is no such STag")
        return self.engine.regions[stag]

    @locked
    def reset(self):
        self.engine.reset()
        super().reset()

    def good_options(self, options):
        skeleton.refuse_options(options)
        limited(self.engine, len(options.get("private_data", b"")), PRIVATE_SHORT, "so much Private Data")
        limited(self.engine, options.get("receives", 0), RECEIVES_FEW, "so many receives")
        if self.engine.on("verbs-few") and options.get("extensions", "off") != "off":
            raise skeleton.Unsupported("the device has no such extensions")
        enhanced = options.get("rev", 2) >= 2 and options.get("enhanced", True)
        if len(options.get("private_data", b"")) > (508 if enhanced else 512):
            raise skeleton.Refused("so much Private Data has no room in a start-up frame")
        if any(kind not in self.capabilities()["rtr"] for kind in options.get("rtr", [])):
            raise skeleton.Refused("there is no such RTR message")

    @locked
    def listen(self, port=0, **options):
        self.good_options(options)
        if self.listens_on is not None and port == self.listens_on:
            self.engine.listeners[port].options = options
            return {"port": port}
        return {"port": self.engine.listen(self.address, port, options)}

    @locked
    def unlisten(self, port):
        if port not in self.engine.listeners:
            raise skeleton.Refused("nothing listens there")
        self.engine.listeners[port].close()

    @locked
    def connect(self, address, port, **options):
        self.good_options(options)
        return {"stream": self.engine.connect(address, port, options)}

    @locked
    def accept(self, stream, private_data=None, ird=None, ord=None):  # pylint: disable=redefined-builtin
        if self.stream(stream).state != "asked":
            raise skeleton.Refused("no Request waits")
        self.stream(stream).answer(True, private_data, ird, ord)

    @locked
    def reject(self, stream, private_data=None):
        if self.stream(stream).state != "asked":
            raise skeleton.Refused("no Request waits")
        self.stream(stream).answer(False, private_data)

    @locked
    def reg_mr(self, length, base=0, access=None, pd=0, stream=None, stag=None, fill=None, data=b"", mapping=None):
        if mapping == "none":
            raise skeleton.Refused("its program has no memory there")
        if mapping and not {"remote_write", "remote_atomic"}.isdisjoint(ALL_RIGHTS if access is None else access):
            raise skeleton.Refused("memory that may be read alone is not exposed for writing")
        if stag is not None:
            raise skeleton.Unsupported("the device chooses STags itself")
        limited(self.engine, length, SMALL, "so much memory")
        limited(self.engine, len(self.engine.regions) + 1, REGIONS_FEW, "so many regions")
        region = self.engine.register(length, base, ALL_RIGHTS if access is None else access, pd, stream)
        if fill is not None:
            region.octets[:] = counted(length)[:length] if fill == "count" else bytes([fill]) * length
        region.octets[: len(data)] = data
        return {"stag": region.stag, "base": hex(region.base), "length": length}

    @locked
    def dereg(self, stag):
        self.region(stag)
        del self.engine.regions[stag]

    @locked
    def invalidate(self, stag):
        self.region(stag).valid = False

    @locked
    def bounds(self, stag, length):
        region = self.region(stag)
        if length > len(region.octets):
            raise skeleton.Refused("so many octets are not registered")
        region.bound = length

    @locked
    def mem_read(self, stag, offset=0, length=None):
        region = self.region(stag)
        end = len(region.octets) if length is None else offset + length
        return {"data": region.octets[offset:end].hex(), "valid": region.valid}

    @locked
    def mem_write(self, stag, offset=0, data=b""):
        region = self.region(stag)
        if offset + len(data) > len(region.octets):
            raise skeleton.Refused("it does not fit")
        region.octets[offset : offset + len(data)] = data

    @locked
    def post_recv(self, stream, length=4096, count=1, id=None):  # pylint: disable=redefined-builtin
        connection = self.stream(stream)
        limited(self.engine, len(connection.stack.receives) + count, RECEIVES_FEW, "so many receives")
        for _ in range(count):
            connection.stack.receives.append((id, connection.receive_length(length)))
        connection.resume()

    @locked
    def send(self, stream, data=None, length=None, solicited=False, invalidate=None, id=None, opcode=None):
        kind = 3 + (1 if invalidate is not None else 0) + (2 if solicited else 0) if opcode is None else opcode
        if kind not in (3, 4, 5, 6):
            raise skeleton.Refused('"opcode" is one of the Sends')
        self.ready(stream).post(Work("send", id, opcode=kind, data=payload(self.engine, data, length), invalidate=invalidate or 0))

    @locked
    def write(self, stream, stag, to=0, data=None, length=None, id=None):  # pylint: disable=redefined-builtin
        self.ready(stream).post(Work("write", id, stag=stag, to=to, data=payload(self.engine, data, length)))

    @locked
    def read(self, stream, source_stag, source_to=0, sink_stag=None, sink_to=0, length=0, id=None):
        stack = self.ready(stream)
        if stack.host.ord == 0:
            raise skeleton.Refused("the ORD of the stream is 0")
        if length:
            region = self.region(sink_stag)
            if not (region.valid and region.base <= sink_to and sink_to + length <= region.base + len(region.octets)):
                raise skeleton.Refused("the sink is not memory of that STag")
        stack.post(Work("read", id, sink_stag=sink_stag or 0, sink_to=sink_to, length=length, source_stag=source_stag,
                        source_to=source_to))

    @locked
    def atomic(self, stream, operation, stag, to=0, data=0, mask=None, compare=0, compare_mask=None, id=None):
        stack = self.ready(stream)
        if operation not in OPERATIONS or operation == "swap" and stack.host.extensions != "draft03":
            raise skeleton.Refused("there is no such operation")
        if stack.host.ord == 0 or not stack.host.extensions:
            raise skeleton.Refused("the stream has no atomics")
        everything = (1 << 64) - 1
        mask = (0 if operation == "fetch_add" else everything) if mask is None else mask
        stack.post(Work("atomic", id, operation=OPERATIONS[operation], stag=stag, to=to, data=data, mask=mask, compare=compare,
                        compare_mask=everything if compare_mask is None else compare_mask))

    @locked
    def immediate(self, stream, data, solicited=False, id=None):  # pylint: disable=redefined-builtin
        stack = self.ready(stream)
        if len(data) != 8 or not stack.host.extensions:
            raise skeleton.Refused("Immediate Data has 8 octets, on a stream with the extensions")
        stack.post(Work("immediate", id, solicited=solicited, data=data))

    @locked
    def terminate(self, stream, layer=0, etype=0, code=0):
        stack = self.ready(stream)
        stack.terminate(type("Asked", (Exception,), {"triple": layer << 12 | etype << 8 | code, "rdmap": False})())

    @locked
    def disconnect(self, stream):
        connection = self.stream(stream)
        if connection.state == "full" and connection.stack.posted:
            connection.stack.post(Work("close", None, done=True))
        else:
            connection.end("fin")

    @locked
    def abort(self, stream):
        self.stream(stream).end("reset")

    @locked
    def status(self, stream):
        connection = self.stream(stream)
        return {"state": connection.state, "ird": connection.ird, "ord": connection.ord, "mulpdu": connection.segment_max()}


def with_few_verbs():
    """The skeleton's own answers stand for these verbs."""
    for verb in ("read", "atomic", "immediate", "terminate", "bounds", "invalidate", "mem_write", "abort", "status"):
        delattr(Rnic, verb)


def answer_slowly(wait):
    plain = skeleton.answer

    def answer(device, line):
        time.sleep(wait)
        return plain(device, line)

    skeleton.answer = answer


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--listen", type=int, default=9999)
    parser.add_argument("--control", type=int)
    parser.add_argument("--control-address", default="127.0.0.1")
    parser.add_argument("habits", nargs="*", metavar="HABIT")
    options = parser.parse_args()
    engine = Engine(Habits(options.habits))
    with engine.lock:
        engine.listeners[options.listen] = Listener(engine, options.address, options.listen, {}, own=True)
    engine.wake()
    if engine.on("verbs-few"):
        with_few_verbs()
    if engine.on("answers-slow"):
        answer_slowly(0.1)
    device = Rnic(engine, options.address, options.listen)
    if options.control is None:
        engine.tell, engine.has_upper = lambda *arguments, **more: None, False
        print("READY", flush=True)
        engine.thread.join()
    with skeleton.Server((options.control_address, options.control), skeleton.Control) as server:
        server.device = device
        print(f"READY control={server.server_address[1]}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
