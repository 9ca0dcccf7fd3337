#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bridge_traffic.py A.sock B.sock ADDRESS [SESSIONS]: two upper testers (docs/upper-tester.md) exchange Sends, Writes and Reads.

B listens at ADDRESS, A connects. A line of JSON for each session: what came of it, and whether the contents are those that were
sent. A session ends with the stream, whoever ends it.
"""
import json
import socket
import sys
import time

SENDS = 6
LIMIT_SECONDS = 120


class Upper:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")
        self.events = []

    def ask(self, verb, **members):
        self.socket.sendall(json.dumps({"verb": verb, **members}).encode() + b"\n")
        return json.loads(self.file.readline())

    def must(self, verb, **members):
        reply = self.ask(verb, **members)
        if not reply["ok"]:
            sys.exit(f"bridge_traffic.py: {verb}: {reply}")
        return reply

    def poll(self):
        self.events += self.must("poll")["events"]

    def find(self, stream, *names):
        return [e for e in self.events if e.get("stream") == stream and e["event"] in names]


def pattern(seed, octets):
    return bytes((seed * 31 + i * 7 + i // 251) & 255 for i in range(octets))


def until(uppers, condition):
    end = time.monotonic() + LIMIT_SECONDS
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
        for upper in uppers:
            upper.poll()
    return True


def session(a, b, address, port, count):
    source = b.must("reg_mr", length=4096, data=pattern(101, 4096).hex())
    target = b.must("reg_mr", length=4096, fill=0)
    sink = a.must("reg_mr", length=4096, fill=0)
    known = len(b.events)
    connected = a.must("connect", address=address, port=port)
    mine = connected["stream"]
    over = lambda: bool(a.find(mine, "closed", "error", "connect_failed", "rejected"))
    until([a, b], lambda: a.find(mine, "established") or over())
    started = lambda: until([a, b], lambda: any(e["event"] == "established" for e in b.events[known:]) or over())
    draft = a.must("capabilities").get("sctp_profile") == "draft02"  # where a stream is there for B with its first segment
    if not draft:
        started()
    stream_of_b = lambda: next((e["stream"] for e in b.events[known:] if e["event"] == "established"), None)
    wanted = []
    if not over():
        for i in range(SENDS):
            wanted.append(pattern(count * 10 + i, 200 + 37 * i).hex())
            a.ask("send", stream=mine, data=wanted[-1])
        started()
        a.ask("write", stream=mine, stag=target["stag"], to=target["base"], data=pattern(55, 3000).hex())
        # One after another: which of several Reads was answered before a Terminate is nobody's promise (RFC 5040 6.2.1, 7.1).
        for i in range(4):
            if not over():
                a.ask("read", stream=mine, source_stag=source["stag"], source_to=int(source["base"], 0) + 1000 * i, sink_stag=sink["stag"],
                      sink_to=int(sink["base"], 0) + 1000 * i, length=1000, id=70 + i)
            until([a, b], lambda: any(e.get("id") == 70 + i for e in a.find(mine, "read_done")) or over())
        if not over():
            a.ask("send", stream=mine, data="ff")
            until([a, b], lambda: over() or any(e.get("data") == "ff" for e in b.find(stream_of_b(), "receive")))
    theirs = stream_of_b()
    if not over():
        a.ask("disconnect", stream=mine)
    until([a, b], lambda: a.find(mine, "closed", "connect_failed") and (theirs is None or b.find(theirs, "closed")))
    if "association" in connected:  # over SCTP, where it outlives its stream
        a.ask("shutdown", association=connected["association"])
    got = [e.get("data") for e in b.find(theirs, "receive")] if theirs else []
    return {
        "session": count,
        "a": sorted({e["event"] for e in a.events if e.get("stream") == mine}),
        "b": sorted({e["event"] for e in b.events if e.get("stream") == theirs}),
        "sends": [wanted.index(data) if data in wanted else "other" for data in got if data != "ff"],
        "write": b.must("mem_read", stag=target["stag"], length=3000)["data"] == pattern(55, 3000).hex(),
        "reads": [a.must("mem_read", stag=sink["stag"], offset=1000 * i, length=1000)["data"] ==
                  pattern(101, 4096)[1000 * i:1000 * i + 1000].hex() for i in range(4)],
        "terminates": [[side, e["event"], e["layer"], e["etype"], e["code"]]
                       for side, upper, stream in (("a", a, mine), ("b", b, theirs))
                       for e in upper.find(stream, "terminate_sent", "terminate_received")],
    }


def main():
    a, b = Upper(sys.argv[1]), Upper(sys.argv[2])
    port = b.must("listen")["port"]
    for count in range(1, int(sys.argv[4] if len(sys.argv) > 4 else 1) + 1):
        print(json.dumps(session(a, b, sys.argv[3], port, count)), flush=True)


main()
