# SPDX-License-Identifier: BSD-2-Clause
"""What this device does otherwise than plainly: habits, which the texts allow, and faults, which they do not.

A habit or fault is a word of the command line, some with a value: "answers-late=0.2". `is_on(name)` gives its value, True, or False.
"""

HABITS = {
    "plain": "none",
    # MPA, start-up
    "crc-always": "C = 1, whatever is asked for",
    "markers-wanted": "M = 1, whatever is asked for",
    "reply-octet-by-octet": "a start-up frame is sent in as many segments as it has octets",
    "reply-late": "the Reply comes after 0.3 s",
    "private-data-always": "start-up frames have Private Data, where no upper tester is the ULP",
    "rejects-without": "a Request without the Private Data \"please\" is rejected (R = 1)",
    "closes-without": "the same Request is answered by a FIN",
    "start-error-resets": "a bad start-up frame is answered by a RST",
    "ird-1": "IRD 1",
    "ord-1": "ORD 1",
    "depths-own": "a Reply names the depths that the device has, within what was asked for",
    "rtr-read-only": "of the RTR messages the Read alone is known",
    # MPA, FPDUs
    "mss=300": "TCP's own MSS",
    "fpdus-short": "MULPDU is reduced to 256",
    "fpdus-uneven": "segments of a message have uneven lengths",
    "two-writes": "FPDUs go to TCP in two pieces",
    # DDP
    "backwards": "segments of an untagged message are sent in the order of falling MO",
    "own-bases": "the device chooses where memory begins",
    "receive-big": "a receive has room for 64 KiB, whatever is asked for",
    # RDMAP
    "terminate-bare": "Terminates have no headers",
    "terminate-then-reset": "a RST follows a Terminate",
    "terminate-waits": "after a Terminate closing is left to the peer",
    "no-terminate-lower": "errors of DDP and MPA end in a FIN alone",
    "reads-wait": "Read Requests beyond IRD are not read from TCP until others are answered",
    "receives-wait": "a Send without a receive is not read from TCP until there is one",
    "reads-slow": "a Read is answered after 0.2 s",
    "reads-one-by-one": "one own Read or atomic is open at a time",
    "reads-in-pairs": "two own Reads or atomics are open at a time",
    "source-early": "the source of a Read is fetched when its request is delivered",
    "atomics-early": "an atomic is executed on arrival, before Reads that came earlier are answered",
    "tag-free": "the Response to an empty Read has STag and TO 0",
    "invalid-first": "of several errors of one segment another is found first",
    "read-checked-late": "a Read's rights are checked when it is its turn",
    "other-codes": "where the texts leave a code open, another is sent",
    "bounds-code": "a Read out of bounds of wrapped TO is a bounds error",
    # ULP
    "ulp-closes": "a ULP that closes after a Send it does not understand",
    "ulp-resets": "a ULP that resets then",
    "ulp-answers": "a ULP that answers each Send by one of its own",
    "no-receives": "a ULP that posts no receives",
    "one-exchange": "the ULP ends a connection after one exchange",
    "one-connection": "one connection at a time is accepted",
    "greets": "the ULP sends a greeting as soon as it may",
    # the upper tester
    "tells-errors": "`terminate_events` is false, and `error` events tell nevertheless of the end",
    "tells-late": "events are told 50 ms late",
    "ulp-late": "what comes is told, and its receive posted again, 50 ms late",
    "tells-little": "no `connect_request`, `half_closed`, `terminate_sent`",
    "drips": "octets of a start-up frame are sent 10 ms apart, the first FPDUs in two pieces 40 ms apart",
    "corked": "TCP waits until a segment is full, or 0.2 s have passed",
    "service-class": "IP packets have a traffic class, and a TTL of 1; TCP is asked for keep-alives",
    "falls-back": "an enhanced Request that fails is tried again without the enhanced word",
    "heartbeat": "the ULP sends an empty Write each 0.1 s",
    "few-means": "16 KiB of memory at once and in a message, 16 receives, 4 works of the ULP, 8 regions, 16 octets of Private Data",
    "one-place": "IRD 1, a Read is answered after 0.2 s, and one more is an error",
    "verbs-few": "an upper tester without Reads, atomics, Immediate Data, Terminates, bounds and shared memory",
    "answers-slow": "each command is answered after 0.1 s",
    "tells-more": "answers and events have members, and there are events, that nobody knows; streams have numbers from 4,000,000,000",
    "refuses-wrong-depths": "the ULP rejects a Request whose IRD is less than its ORD",
}

# Habits of a ULP that no upper tester is.
OF_ULP = ["private-data-always", "rejects-without", "closes-without", "ulp-closes", "ulp-resets", "ulp-answers", "no-receives",
    "one-exchange", "one-connection", "greets", "heartbeat"]  # fmt: skip

# Habits that one device can have together, and an upper tester beside them.
AT_ONCE = ["crc-always", "markers-wanted", "reply-octet-by-octet", "reply-late", "ird-1", "ord-1", "depths-own", "rtr-read-only", "mss=300",
    "fpdus-short", "fpdus-uneven", "two-writes", "backwards", "own-bases", "receive-big", "terminate-bare", "terminate-then-reset", "reads-wait",
    "receives-wait", "reads-slow", "reads-one-by-one", "source-early", "atomics-early", "tag-free", "invalid-first", "read-checked-late",
    "other-codes", "bounds-code", "start-error-resets", "tells-errors", "tells-late", "tells-little", "refuses-wrong-depths"]  # fmt: skip


# One word for several.
TOGETHER = {"at-once": AT_ONCE, "one-place": ["ird-1", "reads-slow"]}


class Habits:
    def __init__(self, words):
        self.values = {}
        known = {name.split("=")[0]: "=" in name for name in HABITS}
        for word in [one for word in words for one in TOGETHER.get(word, [word])]:
            name, _, value = word.partition("=")
            if name in known:
                self.values[name] = int(value) if value else True
            elif name in FAULTS:
                self.values[name] = True
            else:
                raise SystemExit(f"{word}: no such habit or fault")

    def is_on(self, name):
        return self.values.get(name, False)


FAULTS = {
    # MPA start-up
    "f-reply-key": "the Key of the Reply has a wrong last octet",
    "f-reply-rev": "Rev 3 in the Reply",
    "f-reply-pd-length": "PD_Length of the Reply is one more",
    "f-reply-res": "reserved bits of the Reply are set",
    "f-key-unchecked": "the Key is not checked",
    "f-rev-unchecked": "Rev is not checked",
    "f-length-unchecked": "PD_Length above 512 is taken",
    "f-private-cut": "the ULP gets Private Data without its last octet",
    "f-private-lost": "the ULP gets no Private Data",
    "f-private-unsent": "Private Data of the Reply is not sent",
    "f-crc-refused": "C = 0 in the Reply, though the Request has C = 1, and no CRC follows",
    "f-depths-swapped": "IRD and ORD of the Reply are exchanged",
    "f-a-lost": "A of the Reply is 0",
    "f-s-lost": "a plain Reply to an enhanced Request",
    "f-reply-early": "the Reply does not wait for the Private Data",
    "f-word-reversed": "the enhanced word is little-endian",
    "f-ird-ignored": "the device's ORD does not follow the peer's IRD",
    # FPDUs
    "f-no-crc-field": "no CRC field",
    "f-crc-zero": "a CRC field of zeros",
    "f-crc-reversed": "the CRC's most significant octet first",
    "f-crc-no-pad": "the CRC leaves out the pad",
    "f-crc-unchecked": "CRCs are not checked",
    "f-no-pad": "no pad",
    "f-pad-four": "a pad of 4 where none is due",
    "f-pad-not-zero": "pad octets are not zero",
    "f-length-header": "ULPDU_Length counts itself",
    "f-length-reversed": "ULPDU_Length is little-endian",
    "f-no-markers": "no Markers, though they are asked for",
    "f-markers-anyway": "Markers, though nobody asks for them",
    "f-marker-place": "Markers stand 4 octets late",
    "f-marker-pointer": "FPDUPTR is 4 too small",
    "f-marker-from-frame": "Markers are counted from the start-up frame",
    "f-first": "the responder sends an FPDU before it had one",
    # DDP
    "f-l-always": "L on all segments",
    "f-l-never": "L on no segment of Sends",
    "f-t-send": "T = 1 in Sends",
    "f-qn": "Sends are on QN 1",
    "f-msn-stays": "the MSN of Sends stays 1",
    "f-msn-zero": "MSNs begin with 0",
    "f-msn-shared": "QN 0 and QN 1 share their MSN",
    "f-mo-zero": "MO is 0 in all segments",
    "f-mo-count": "MO counts segments",
    "f-dv": "DV is 0",
    "f-rsvd": "reserved bits of DDP are set",
    "f-to-32": "TO has 32 bits",
    "f-to-stays": "TO is the same in all segments",
    "f-stag-reversed": "STags of tagged segments are little-endian",
    "f-stag-unchecked": "any STag reaches the last region",
    "f-bounds-end": "the end of a Write is not checked",
    "f-bounds-one": "bounds are one octet too far",
    "f-rights-unchecked": "rights are not checked",
    "f-pd-unchecked": "Protection Domains are not compared",
    "f-msn-unchecked": "MSNs are not checked",
    "f-mo-unchecked": "MO is not checked",
    "f-qn-unchecked": "QNs are not checked",
    "f-drops": "a Send without a receive is dropped",
    "f-truncates": "a Send that is too long is cut",
    "f-to-aligned": "Writes are placed at multiples of 8",
    "f-dv-unchecked": "DV is not checked",
    # RDMAP
    "f-rv": "RV is 0",
    "f-rv-unchecked": "RV is not checked",
    "f-se-plain": "Sends with Solicited Event are plain",
    "f-read-size-16": "a Read's size has 16 bits",
    "f-read-source": "the source of a Read is 1 octet too far",
    "f-response-to": "Read Responses begin at TO 0",
    "f-response-stag": "Read Responses have STag 1 more",
    "f-responses-reversed": "of two Reads that wait the later is answered first",
    "f-empty-read": "an empty Read is not answered",
    "f-no-terminate": "no Terminate, but a RST",
    "f-terminate-code": "Code of Terminates is 1 more",
    "f-terminate-swapped": "Layer and EType of Terminates are exchanged",
    "f-terminate-m": "M = 1 always",
    "f-terminate-bare": "M = D = 1 and no header",
    "f-terminate-goes-on": "after a Terminate the device goes on serving",
    "f-terminate-queue": "Terminates are on QN 0",
    "f-quotes-newest": "a Terminate quotes the newest Read Request",
    "f-not-invalidated": "Send with Invalidate does not invalidate",
    "f-solicited-lost": "the ULP is not told of Solicited Events",
    "f-ord": "ORD is not kept",
    "f-read-done-early": "a Read completes with the first segment of its Response",
    "f-not-flushed": "flushed work is not told",
    "f-delivers-early": "a Send is delivered with its first segment",
    "f-delivers-twice": "each Send is delivered twice",
    "f-opcode-unchecked": "unknown opcodes are dropped",
    "f-response-unasked": "a Read Response that nobody asked for is placed",
    "f-write-right-read": "the right to read suffices for a Write",
    "f-atomic-value": "an Atomic Response has the new value",
    "f-atomic-id": "an Atomic Response has the MSN as its identifier",
    "f-swap-mask": "masks of atomics are ignored",
    "f-write-lost": "a Write of one octet is lost",
    "f-ird-unchecked": "Reads beyond IRD are served",
}
