# SPDX-License-Identifier: BSD-2-Clause
"""MPA on the wire: start-up frames, FPDUs, Markers, CRC32C (RFC 5044, RFC 6581)."""
import ctypes
import ctypes.util
import struct

REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
START = struct.Struct("!16sBBH")
MARKER_EVERY = 512


def _table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


def _isal():
    name = ctypes.util.find_library("isal")
    if name is None:
        return None
    function = ctypes.CDLL(name).crc32_iscsi
    function.restype = ctypes.c_uint
    function.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_uint]
    return function


_TABLE, _ISAL = _table(), _isal()


def crc32c(octets):
    if _ISAL:
        return ~_ISAL(bytes(octets), len(octets), 0xFFFFFFFF) & 0xFFFFFFFF
    crc = 0xFFFFFFFF
    for octet in octets:
        crc = crc >> 8 ^ _TABLE[(crc ^ octet) & 0xFF]
    return ~crc & 0xFFFFFFFF


class StartFrame:
    """M, C, R, S, Rev, the enhanced word (a dict or None) and the ULP's Private Data."""

    def __init__(self, m=False, c=True, r=False, rev=1, word=None, private=b""):
        self.m, self.c, self.r, self.rev, self.word, self.private = m, c, r, rev, word, private
        self.s = word is not None

    def pack(self, key, on):
        word = b""
        if self.word is not None:
            w = self.word
            word = struct.pack("!HH", w["a"] << 15 | w["b"] << 14 | w["ird"], w["c"] << 15 | w["d"] << 14 | w["ord"])
            if on("f-word-reversed"):
                word = word[1::-1] + word[:1:-1]
        private = word + self.private
        flags = self.m << 7 | self.c << 6 | self.r << 5 | self.s << 4
        rev, length = self.rev, len(private)
        if key == REPLY:
            flags |= 0x0F if on("f-reply-res") else 0
            rev = 3 if on("f-reply-rev") else rev
            length += 1 if on("f-reply-pd-length") else 0
            key = key[:-1] + b"f" if on("f-reply-key") else key
        return START.pack(key, flags, rev, length) + private


class BadFrame(Exception):
    pass


def parse_start(octets, key, on):
    """(frame, octets used), or None while more are needed. BadFrame: it is none."""
    if not key.startswith(bytes(octets[:16])) and not on("f-key-unchecked"):
        raise BadFrame("key")
    if len(octets) < START.size:
        return None
    _, flags, rev, length = START.unpack_from(octets)
    if length > 512 and not on("f-length-unchecked"):
        raise BadFrame("PD_Length")
    if len(octets) < START.size + length and not (on("f-reply-early") and key == REQUEST):
        return None
    private = bytes(octets[START.size : START.size + length])
    frame = StartFrame(flags & 0x80 != 0, flags & 0x40 != 0, flags & 0x20 != 0, rev, None, private)
    if flags & 0x10 and rev >= 2:
        if length < 4:
            raise BadFrame("word")
        first, second = struct.unpack("!HH", private[:4])
        frame.word = {"a": first >> 15, "b": first >> 14 & 1, "ird": first & 0x3FFF, "c": second >> 15, "d": second >> 14 & 1,
                      "ord": second & 0x3FFF}
        frame.private, frame.s = private[4:], True
    return frame, START.size + length


def mulpdu(emss, markers):
    return max(128, min(64768, emss - (6 + (4 * -(-emss // MARKER_EVERY) if markers else 0) + emss % 4)))


def frame_fpdu(ulpdu, position, markers, crc, on):
    """The octets of an FPDU at this position of the stream."""
    length, pad = len(ulpdu), -(2 + len(ulpdu)) % 4
    if on("f-length-header"):
        length += 2
    head = struct.pack("<H" if on("f-length-reversed") else "!H", length)
    if on("f-no-pad"):
        pad = 0
    elif on("f-pad-four") and pad == 0:
        pad = 4
    body = head + ulpdu + (b"\x5a" if on("f-pad-not-zero") else b"\0") * pad
    if on("f-markers-anyway"):
        markers = True
    if on("f-no-markers"):
        markers = False
    out, start = bytearray(), 0  # start: where ULPDU_Length is, after a Marker in front of it
    if markers:
        late = 4 if on("f-marker-place") and position % MARKER_EVERY == 0 else 0
        at = 0
        while True:
            room = -(position + len(out)) % MARKER_EVERY
            if at < len(body) and room == 0 and late:
                out += body[at : at + late]
                at += late
                late = 0
                out += struct.pack("!HH", 0, len(out))
                room = MARKER_EVERY - 4 - 4
            elif room == 0:
                pointer = len(out) - start
                start = 4 if not out else start
                if on("f-marker-pointer") and pointer:
                    pointer -= 4
                out += struct.pack("!HH", 0, pointer)
                room = MARKER_EVERY - 4
            if at >= len(body):
                break
            out += body[at : at + room]
            at += room
    else:
        out += body
    if on("f-no-crc-field"):
        return bytes(out)
    covered = out[:-pad] if pad and on("f-crc-no-pad") else out
    value = crc32c(covered) if crc and not on("f-crc-zero") else 0
    out += struct.pack("!I" if on("f-crc-reversed") else "<I", value)
    return bytes(out)


def take_fpdu(octets, position, markers):
    """(ulpdu, octets used, CRC is right, Marker is right), or None while more are needed."""
    if not markers:
        if len(octets) < 2:
            return None
        length = octets[0] << 8 | octets[1]
        whole = 2 + length + (-(2 + length) % 4) + 4
        if len(octets) < whole:
            return None
        crc = int.from_bytes(octets[whole - 4 : whole], "little")
        return bytes(octets[2 : 2 + length]), whole, crc == crc32c(octets[: whole - 4]), True
    plain, at, good, length, covered, start = bytearray(), 0, True, None, 0, 0
    while True:
        room = -(position + at) % MARKER_EVERY
        if room == 0:
            if len(octets) < at + 4:
                return None
            good = good and (octets[at + 2] << 8 | octets[at + 3]) & 0xFFFC == at - start
            start = 4 if at == 0 else start
            at += 4
            room = MARKER_EVERY - 4
        if length is None and len(plain) >= 2:
            length = plain[0] << 8 | plain[1]
        need = 2 if length is None else 2 + length + (-(2 + length) % 4)
        if length is not None and len(plain) >= need:
            covered = at
            if len(octets) < at + 4:
                return None
            crc = int.from_bytes(octets[at : at + 4], "little")
            return bytes(plain[2 : 2 + length]), at + 4, crc == crc32c(octets[:covered]), good
        take = min(room, need - len(plain), len(octets) - at)
        if take <= 0:
            return None
        plain += octets[at : at + take]
        at += take
