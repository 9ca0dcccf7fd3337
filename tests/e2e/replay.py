#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""replay.py INTERFACE FILE [FROM-TO [SPOILED,...]]: sends the frames of a pcap (Ethernet), those from FROM to TO (from 1).

Frames that are SPOILED have two 16-bit words of their payload exchanged: checksums of IP and TCP stay right, and the CRC of
the FPDU in it is wrong.
"""
import socket
import struct
import sys


def frames(path):
    with open(path, "rb") as file:
        data = file.read()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = 24
    while at + 16 <= len(data):
        length = struct.unpack(order + "I", data[at + 8 : at + 12])[0]
        yield data[at + 16 : at + 16 + length]
        at += 16 + length


def spoiled(frame):
    octets = bytearray(frame)
    ip = 14
    tcp = ip + (octets[ip] & 15) * 4
    payload = tcp + (octets[tcp + 12] >> 4) * 4
    end = payload + (len(octets) - payload) // 2 * 2
    for at in range(end - 2, payload + 40, -2):
        if octets[at : at + 2] != octets[at - 2 : at]:
            octets[at - 2 : at + 2] = octets[at : at + 2] + octets[at - 2 : at]
            return bytes(octets)
    sys.exit("replay.py: the frame has nothing to exchange")


def main():
    interface, path = sys.argv[1:3]
    wanted = sys.argv[3] if len(sys.argv) > 3 else "1-"
    first, last = (int(word) if word else None for word in wanted.split("-"))
    spoil = {int(word) for word in sys.argv[4].split(",")} if len(sys.argv) > 4 else set()
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    link.bind((interface, 0))
    for number, frame in enumerate(frames(path), 1):
        if number >= (first or 1) and (last is None or number <= last):
            link.send(spoiled(frame) if number in spoil else frame)


main()
