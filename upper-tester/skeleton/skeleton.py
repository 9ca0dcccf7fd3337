#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A skeleton of an upper tester (docs/upper-tester.md), for a device that has none: copy it, and fill in what your device can do.

    ./skeleton.py --port 7471 --listen 9999

As it stands it answers for a device that listens on port 9999 by itself, and of which nothing else can be asked or seen: every other
command is answered "unsupported", so that warpcheck skips the checks that need it. Each place where the calls of your device go is marked
VENDOR. Fill in one verb after another; each one that you leave out costs the checks that
docs/upper-tester.md names for it, and nothing else.

Two rules keep verdicts right: never answer "ok" for something that the device did not do, and never report an event that the device did not
tell you of. What you do not know you leave out: of the capabilities, of EVENTS, and of an event's members.

One rule keeps a run going: no method waits for the peer, which is warpcheck itself and does nothing until the command is answered. connect()
returns before TCP is connected, and send() before its octets are on the wire: threads of yours do the rest, and call event().
"""
import argparse
import inspect
import json
import re
import socketserver
import sys
import threading
import traceback

LINE_MAX = 64 * 1024 * 1024  # octets
VALUES_MAX = 65536  # in one command
EVENTS_MAX = 65536  # that wait for `poll`

# VENDOR: what your device is able to do. Leave out what you do not know: the profile's answer counts then.
CAPABILITIES = {
    "name": "my-device",
    "protocol": 1,
    # "rev": [1], "enhanced": False, "markers": False, "crc_off": False, "p2p": False, "rtr": ["read"],
    # "ird_max": 16, "ord_max": 16, "private_data_max": 512, "atomics": False, "immediate": False,
    # "one_program": True,  the device's stack is part of this program: neither ends alone
    # "receive_octets": 65536,  each receive has this length, whatever is asked for
    "terminate_events": False,  # the ULP hears that a stream has ended, not of the Terminate
}

# VENDOR: the events that you report with event() below, all of them. A check that waits for another one is skipped.
EVENTS = []

# VENDOR: options of listen and connect that the device has one value of, and cannot change: another value is "unsupported".
FIXED = {}  # for example {"rev": 1, "enhanced": False, "markers": False, "crc": True, "p2p": False}

# VENDOR: options of listen and connect that your listen() and connect() below obey.
OBEYED = ()  # for example ("rev", "private_data", "receives", "receive_octets")

OPTIONS = """rev enhanced markers crc extensions ird ord p2p rtr private_data accept pd receives receive_octets repost echo
    hold_open private_data_room streaming streaming_octets mpa_role smbd rev0 trace modify_fails emss startup_ms linger_ms
    completions teardown_ms""".split()


class Refused(Exception):
    """The command is wrong, or the device refused it: "ok": false and this sentence."""


class Unsupported(Refused):
    """The device has no such thing at all: a check that needs it is skipped."""


class Device:
    """The device under test. VENDOR: this class is yours. A command that failed has to change nothing."""

    def __init__(self, listens_on):
        self.listens_on = listens_on  # a port on which it listens without being asked; None: none
        self.events = []
        self.lost = 0
        self.lock = threading.Lock()

    def event(self, stream, event, **more):
        """Reports an event; call it from any thread. `more`: its members, octets as hexadecimal digits."""
        with self.lock:
            if len(self.events) < EVENTS_MAX:
                self.events.append({"stream": stream, "event": event, **more})
            else:
                self.lost += 1

    def capabilities(self):
        return {**CAPABILITIES, "events": EVENTS}

    def poll(self):
        # VENDOR: a device that is polled and does not call you is asked here for what is new: completions, connections.
        with self.lock:
            events, lost = self.events, self.lost
            self.events, self.lost = [], 0
        return {"events": events, "lost": lost}

    def reset(self):
        # VENDOR: abort all streams, close all listeners that you have opened, free all memory.
        with self.lock:
            self.events, self.lost = [], 0

    def listen(self, port=0, **options):
        """Opens a listener; port 0: any. Returns the port. On a port that is open the options are new from the next connection on."""
        refuse_options(options)
        if self.listens_on is not None and port == self.listens_on:
            return {"port": port}
        # VENDOR: open a listener for MPA connections. Report "accepted" (port) for each connection it takes, then "established".
        raise Unsupported("the device cannot be asked to listen there")

    def unlisten(self, port):
        raise Unsupported("the device cannot be asked to close a listener")  # VENDOR

    def connect(self, address, port, **options):
        """Begins a connection. Returns its number, from 1, never used twice; the outcome is an event ("established", ...)."""
        refuse_options(options)
        raise Unsupported("the device cannot be asked to connect")  # VENDOR: return {"stream": number}

    def accept(self, stream, private_data=b"", ird=None, ord=None):  # pylint: disable=redefined-builtin
        raise Unsupported("the device accepts by itself")  # VENDOR

    def reject(self, stream, private_data=b""):
        raise Unsupported("the device cannot be asked to reject")  # VENDOR

    def reg_mr(self, length, base=0, access=None, pd=0, stream=None, stag=None, fill=None, data=b""):
        """Exposes memory. Returns its STag, its first TO (as text) and its length. "guarded": True says that mem_read() tells by
        "guarded": False where octets in front of the memory, or behind it, have changed: keep some there that nothing may change. Add a
        parameter `mapping` if the device can register memory that its program may read alone ("read_only"; a request for remote writes
        is refused then) or does not have ("none"; refused), and `local_write` if it registers memory that it will not write itself (False)."""
        raise Unsupported("the device exposes no memory")  # VENDOR: return {"stag": s, "base": hex(base), "length": length}

    def dereg(self, stag):
        raise Unsupported("the device exposes no memory")  # VENDOR

    def invalidate(self, stag):
        raise Unsupported("the device exposes no memory")  # VENDOR

    def mem_read(self, stag, offset=0, length=None):
        """What the memory holds now: octets as hexadecimal digits, and whether the STag is valid."""
        raise Unsupported("the device exposes no memory")  # VENDOR: return {"data": octets.hex(), "valid": True}

    def mem_write(self, stag, offset=0, data=b""):
        raise Unsupported("the device exposes no memory")  # VENDOR

    def post_recv(self, stream, length=4096, count=1, id=None):  # pylint: disable=redefined-builtin
        """Of exactly `length` octets; where the device's all have one length, capabilities() says so: "receive_octets". Each one that a
        Send consumes is reported as "receive" with octets, opcode, solicited, data, and id where given."""
        raise Unsupported("no receive can be posted")  # VENDOR

    def bounds(self, stag, length):
        """Peers reach the first `length` octets alone; the memory stays."""
        raise Unsupported("the device exposes no memory")  # VENDOR

    def send(self, stream, data=None, length=None, solicited=False, invalidate=None, opcode=None, fence=False, id=None):  # pylint: disable=redefined-builtin
        """Posts a Send; "send_done" follows. `length` in place of `data`: octets 0, 1, ... 250, 0, 1, ... `opcode`: one of the four Sends
        as it stands, 3 to 6, where the device's interface can be asked for that. `fence`: after the responses of all earlier Reads."""
        raise Unsupported("the device cannot be asked to send")  # VENDOR

    def write(self, stream, stag, to=0, data=None, length=None, fence=False, id=None):  # pylint: disable=redefined-builtin
        raise Unsupported("the device cannot be asked to write")  # VENDOR

    def read(self, stream, source_stag, source_to=0, sink_stag=None, sink_to=0, length=0, id=None):  # pylint: disable=redefined-builtin
        raise Unsupported("the device cannot be asked to read")  # VENDOR

    def atomic(self, stream, operation, stag, to=0, data=0, mask=None, compare=0, compare_mask=None, id=None):  # pylint: disable=redefined-builtin
        """`operation`: "fetch_add", "swap" or "compare_swap". Operands are numbers, not octets; no mask: 0 for fetch_add, all ones for the
        others. "atomic_done" follows, with `value`: "0x" and 16 digits."""
        raise Unsupported("the device cannot be asked for atomics")  # VENDOR

    def immediate(self, stream, data, solicited=False, id=None):  # pylint: disable=redefined-builtin
        """8 octets; "immediate_done" follows."""
        raise Unsupported("the device cannot be asked for Immediate Data")  # VENDOR

    def terminate(self, stream, layer=0, etype=0, code=0):
        """A Terminate without headers, then the end of the stream."""
        raise Unsupported("the device cannot be asked to send a Terminate")  # VENDOR

    def disconnect(self, stream):
        raise Unsupported("the device cannot be asked to close")  # VENDOR: what was posted is sent, then a FIN

    def abort(self, stream):
        raise Unsupported("the device cannot be asked to reset a connection")  # VENDOR

    def status(self, stream):
        raise Unsupported("the device has no status of a stream")  # VENDOR: state, ird, ord, mulpdu


# --- The protocol. Nothing below is yours to change. ---------------------------------------------------------------------


def refuse_options(options):
    for name, value in options.items():
        if name not in OBEYED and FIXED.get(name) != value:
            raise Unsupported(f'the device cannot be asked for "{name}"')


def number(name, value, most=0xFFFFFFFF):
    """Integers, or strings of them: "42", "0xFF"."""
    if isinstance(value, str) and re.fullmatch("0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20}", value):
        value = int(value, 16 if value[:2].lower() == "0x" else 10)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise Refused(f'"{name}" is a number from 0 to {most}')
    return value


def number64(name, value):
    """The same of 64 bits; negative ones are read as two's complement."""
    if isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 0:
        return value + (1 << 64)
    return number(name, value, (1 << 64) - 1)


def octets(name, value):
    if isinstance(value, list) and all(isinstance(piece, str) for piece in value):
        value = "".join(value)
    try:
        if isinstance(value, str) and value.isascii() and " " not in value:
            return bytes.fromhex(value)
    except ValueError:
        pass
    raise Refused(f'"{name}" is a string of hexadecimal digits')


def of_type(kind, what):
    def take(name, value):
        if not isinstance(value, kind):
            raise Refused(f'"{name}" is {what}')
        return value

    return take


def as_it_is(_name, value):
    return value


def mapped(name, value):
    if value not in ("read_only", "none"):
        raise Refused(f'"{name}" is "read_only" or "none"')
    return value


text, truth, names = of_type(str, "a text"), of_type(bool, "true or false"), of_type(list, "a list")

# How each member is read; a verb knows those that its method takes.
MEMBERS = {
    "stream": number, "port": lambda name, value: number(name, value, 65535), "address": text, "stag": number,
    "length": number, "offset": number, "count": number, "pd": number, "ird": number, "ord": number,
    "base": number64, "to": number64, "source_stag": number, "source_to": number64, "sink_stag": number,
    "sink_to": number64, "invalidate": number, "solicited": truth, "access": names, "fill": as_it_is, "id": as_it_is,
    "mapping": mapped, "local_write": truth, "data": octets, "private_data": octets, "opcode": number, "operation": text, "mask": number64, "compare": number64,
    "compare_mask": number64, "layer": number, "etype": number, "code": number,
}  # fmt: skip

# Members that few devices have: "unsupported" where the verb's method has no parameter of that name.
RARE = {"reg_mr": ("local_write", "mapping")}

# Members that one verb reads otherwise.
MEMBERS_OF = {"atomic": {"data": number64}}

VERBS = {
    "capabilities": "", "poll": "", "reset": "", "listen": "port", "unlisten": "port!", "connect": "address! port!",
    "accept": "stream! private_data ird ord", "reject": "stream! private_data",
    "reg_mr": "length! base access pd stream stag fill data", "dereg": "stag!", "invalidate": "stag!",
    "mem_read": "stag! offset length", "mem_write": "stag! offset data!", "post_recv": "stream! length count id",
    "bounds": "stag! length!", "send": "stream! data length solicited invalidate opcode fence id",
    "write": "stream! stag! to data length fence id",
    "read": "stream! source_stag! source_to sink_stag sink_to length id", "disconnect": "stream!", "abort": "stream!",
    "status": "stream!", "atomic": "stream! operation! stag! to data mask compare compare_mask id",
    "immediate": "stream! data! solicited id", "terminate": "stream! layer etype code",
}  # fmt: skip


def obey(device, command):
    if not isinstance(command, dict):
        raise Refused("a command is a JSON object")
    verb = command.get("verb")
    if not isinstance(verb, str):
        raise Refused('"verb" is a text')
    if verb not in VERBS:
        raise Unsupported(f'unknown verb "{verb[:40]}"')
    members = VERBS[verb].split()
    known = {member.rstrip("!") for member in members}
    options = OPTIONS if verb in ("listen", "connect") else []
    arguments = {}
    for name, value in command.items():
        if name in ("verb", "tag"):
            continue
        if name in known:
            arguments[name] = MEMBERS_OF.get(verb, MEMBERS).get(name, MEMBERS.get(name))(name, value)
        elif name in options or name in RARE.get(verb, ()):
            arguments[name] = MEMBERS.get(name, as_it_is)(name, value)
        else:
            raise Refused(f'{verb} has no member "{name[:40]}"')
    for member in members:
        if member.endswith("!") and member[:-1] not in arguments:
            raise Refused(f'{verb} needs "{member[:-1]}"')
    method = getattr(device, verb)
    for name in RARE.get(verb, ()):
        if name in arguments and name not in inspect.signature(method).parameters:
            raise Unsupported(f'the device cannot be asked for "{name}"')
    with device_lock:
        return method(**arguments) or {}


def only_once(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a member is there twice")
    return dict(pairs)


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def parse(line):
    if sum(line.count(sign) for sign in b",[{") > VALUES_MAX:
        raise Refused("not JSON: too big")
    try:
        return json.loads(line.decode("utf-8"), object_pairs_hook=only_once, parse_constant=no_constant)
    except (ValueError, RecursionError) as why:
        raise Refused("not JSON: " + str(why)[:200]) from why


def answer(device, line):
    reply, tag = {}, {}
    try:
        command = parse(line)
        if isinstance(command, dict) and "tag" in command:
            tag = {"tag": command["tag"]}
        reply = {**obey(device, command), "ok": True}
    except Unsupported as why:
        reply = {"ok": False, "error": str(why), "unsupported": True}
    except Refused as why:
        reply = {"ok": False, "error": str(why)}
    except OSError as why:
        reply = {"ok": False, "error": f"the device refused it: {why}"}
    except Exception as why:  # pylint: disable=broad-exception-caught # a fault of a verb ends this command, not the run
        traceback.print_exc()
        reply = {"ok": False, "error": f"the upper tester failed: {type(why).__name__}: {why}"}
    return json.dumps({**reply, **tag}, separators=(",", ":")).encode() + b"\n"


device_lock = threading.Lock()  # one command at a time, whichever control connection it comes by


class Control(socketserver.BaseRequestHandler):
    def handle(self):
        line, skipping = bytearray(), False
        while True:
            try:
                came = self.request.recv(65536)
                if not came:
                    return
                *ends, rest = came.split(b"\n")
                for end in ends:
                    line += end
                    if not skipping:
                        self.obey_line(line)
                    line, skipping = bytearray(), False
                if not skipping:
                    line += rest
                if len(line) > LINE_MAX:
                    self.request.sendall(b'{"ok":false,"error":"the line is too long"}\n')
                    line, skipping = bytearray(), True
            except OSError:
                return

    def obey_line(self, line):
        if len(line) > LINE_MAX:
            self.request.sendall(b'{"ok":false,"error":"the line is too long"}\n')
        elif line.strip(b" \t\r"):
            self.request.sendall(answer(self.server.device, bytes(line)))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def main():
    parser = argparse.ArgumentParser(description="an upper tester (docs/upper-tester.md)")
    parser.add_argument("--address", default="127.0.0.1", help="where the control socket listens (%(default)s)")
    parser.add_argument("--port", type=int, default=7471, help="its port, 0: any (%(default)s)")
    parser.add_argument("--listen", type=int, metavar="PORT", help="the device listens there by itself")
    options = parser.parse_args()
    with Server((options.address, options.port), Control) as server:
        server.device = Device(options.listen)
        print(f"READY control={server.server_address[1]}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
