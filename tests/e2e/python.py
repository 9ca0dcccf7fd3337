# SPDX-License-Identifier: BSD-2-Clause
"""The Python binding of libiwarp, used: python.py PART. Each part ends with status 0, or says what is wrong."""

import signal
import struct
import sys

import iwarp
from iwarp import EventKind, Status, Work, _library


def layout() -> None:
    """A C program that prints what the compiler says of structures and constants; after "--", what Python says."""
    own, program = [], ["#include <iwarp/verbs.h>", "#include <stdio.h>", "int main(void)", "{"]
    for structure in _library.STRUCTURES:
        name = structure._c_name_
        program.append(f'printf("{name} %zu\\n", sizeof({name}));')
        own.append(f"{name} {_library.ctypes.sizeof(structure)}")
        for field, _ in structure._fields_:
            octets = f"sizeof((({name} *)0)->{field})"
            program.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), {octets});')
            member = getattr(structure, field)
            own.append(f"{name}.{field} {member.offset} {member.size}")
    constants = {"IWARP_TERMINATE_MAX": _library.TERMINATE_MAX, "IWARP_MPA_PRIVATE_DATA_MAX": _library.PRIVATE_DATA_MAX,
                 "IWARP_ADDRESS_OCTETS": _library.ADDRESS_OCTETS}
    prefixes = {iwarp.Access: "IWARP_", iwarp.Status: "IWARP_STATUS_", iwarp.Work: "IWARP_WORK_",
                iwarp.EventKind: "IWARP_QP_", iwarp.AtomicOperation: "IWARP_ATOMIC_"}
    constants |= {prefix + member.name: int(member) for kind, prefix in prefixes.items() for member in kind}
    for name, value in constants.items():
        program.append(f'printf("{name} %d\\n", (int){name});')
        own.append(f"{name} {value}")
    print("\n".join([*program, "return 0;", "}", "--", *own]))


waiting: list = []  # reports that came before the one that was waited for


def wait(context: iwarp.Context, kind: object, qp: object = None) -> object:
    """The next report of that kind: EventKind or Work."""
    while True:
        for report in waiting:
            of = report.work if isinstance(report, iwarp.Completion) else report.kind
            if of is kind and qp in (None, report.qp):
                waiting.remove(report)
                return report
        waiting.append(next(context.reports(20)))


def refused(part: str, function: object, *arguments: object, **named: object) -> None:
    try:
        function(*arguments, **named)
    except (iwarp.Error, TypeError) as why:
        assert part in str(why), why
        assert "\n" not in str(why)
        return
    raise AssertionError(f"not refused: {part}")


def work() -> None:
    with iwarp.Context(seed=7) as context:
        memory = bytearray(4096)
        access = iwarp.Access.REMOTE_READ | iwarp.Access.REMOTE_WRITE | iwarp.Access.REMOTE_ATOMIC
        target = context.register(memory, access)
        sink = context.register(4096, iwarp.Access.LOCAL_WRITE)
        listener = context.listen(ask=True, private_data=b"reply", octets=512)
        client = context.connect("127.1", listener.port, private_data=b"request")
        refused("not connected", lambda: client.peer)
        server = wait(context, EventKind.CONNECT_REQUEST)
        assert server.private_data == b"request", server
        server.qp.accept(struct.pack("!IQ", target.stag, target.to))
        told = wait(context, EventKind.ESTABLISHED, client)
        assert (told.ird, told.ord) == (4, 4), told
        stag, to = struct.unpack("!IQ", told.private_data)
        assert client.peer == ("127.0.0.1", listener.port) and server.qp.peer[0] == "127.0.0.1"
        client.user = "mine"
        number = client.send(b"good day", solicited=True)
        done = wait(context, Work.SEND)
        assert (done.id, done.qp.user, done.ok, done.octets) == (number, "mine", True, 8), done
        got = wait(context, Work.RECEIVE)
        assert got.data == b"good day" and got.solicited and got.qp is server.qp and got.invalidated is None, got
        for turn in range(40):  # more than there are receives: each is replaced
            server.qp.send(bytes([turn]) * turn)
            assert wait(context, Work.RECEIVE, client).data == bytes([turn]) * turn
        client.write(b"by a Write", stag, to + 100)
        client.read(sink, stag, to + 100, 10, offset=50)
        assert wait(context, Work.READ).ok and bytes(sink.view[50:60]) == b"by a Write" == memory[100:110]
        memory[0:8] = (40).to_bytes(8, sys.byteorder)
        client.fetch_add(stag, to, 2)
        assert wait(context, Work.ATOMIC).value == 40
        client.compare_swap(stag, to, 42, 2**64 - 1)
        assert wait(context, Work.ATOMIC).value == 42 and memory[0:8] == b"\xff" * 8
        client.immediate(b"8 octets")
        assert wait(context, Work.RECEIVE, server.qp).data == b"8 octets"
        bound = context.register(64, iwarp.Access.REMOTE_WRITE, server.qp)
        client.write(b"seen", bound.stag, bound.to)
        client.send(b"", invalidate=bound.stag)
        got = wait(context, Work.RECEIVE, server.qp)
        assert got.invalidated == bound.stag and bytes(bound.view[:5]) == b"seen\0", got
        target.invalidate()
        refused("11 octets, 8 were expected", client.immediate, b"eleven ones")
        refused("not within a sink", client.read, sink, stag, to, 4097)
        refused("'colour' is no option", context.connect, "127.0.0.1", 1, colour="green")
        refused("513 octets of Private Data", context.listen, private_data=bytes(513))
        refused("revision 9", context.connect, "127.0.0.1", 1, revision=9)
        refused("has no address", context.connect, "no such host", 1)
        client.write(b"nobody lets it", stag, to)
        ended = wait(context, EventKind.TERMINATED, client)
        assert (ended.terminate.layer, ended.terminate.etype) == (1, 1), ended
        error = wait(context, EventKind.ERROR, server.qp)
        assert error.requirement and error.text, error
        wait(context, EventKind.CLOSED, client)
        refused("has ended", client.send, b"late")
        sink.deregister()
        refused("no STag", sink.deregister)
        other = context.connect("127.0.0.1", listener.port)
        asked = wait(context, EventKind.CONNECT_REQUEST)
        asked.qp.reject(b"no")
        assert wait(context, EventKind.REJECTED, other).private_data == b"no"
        listener.close()
        gone = context.connect("127.0.0.1", listener.port)
        assert wait(context, EventKind.CONNECT_FAILED, gone).text
        assert wait(context, Work.RECEIVE, gone).status is Status.FLUSHED
    refused("context is closed", context.listen)
    assert str(Work.IMMEDIATE) == "Immediate Data" and str(Status.FLUSHED) == "flushed"
    assert str(EventKind.CLOSED) == "closed"


def alone() -> None:
    """Nothing can come: that is said. A signal is handled while a context waits."""
    context = iwarp.Context()
    refused("no event can come", context.run)
    assert list(context.reports()) == []
    context.listen()
    assert context.run(0) is False and list(context.reports(0.01)) == []
    signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        context.run()
    except ZeroDivisionError:
        return
    raise AssertionError("run() goes on")


if __name__ == "__main__":
    {"layout": layout, "work": work, "alone": alone}[sys.argv[1]]()
