#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""replay.py INTERFACE FILE [FROM-TO [SPOILED,...]]: sends the frames of a pcap (Ethernet), those from FROM to TO (from 1).

Frames that are SPOILED have two 16-bit words of their payload exchanged: checksums of IP and TCP stay right, and the CRC of
the FPDU in it is wrong.

INTERFACE may be two with a comma between them, which are one link: frames with the source address of the first frame go over the
first one, all others over the second one, each when the one before has come out at the other.
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


def opened(interface):
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    link.bind((interface, 0))
    return link


def main():
    names, path = sys.argv[1:3]
    wanted = sys.argv[3] if len(sys.argv) > 3 else "1-"
    first, last = (int(word) if word else None for word in wanted.split("-"))
    spoil = {int(word) for word in sys.argv[4].split(",")} if len(sys.argv) > 4 else set()
    links = [opened(name) for name in names.split(",")]
    source = None
    for number, frame in enumerate(frames(path), 1):
        source = source or frame[6:12]
        if number < (first or 1) or (last is not None and number > last):
            continue
        frame = spoiled(frame) if number in spoil else frame
        side = 0 if frame[6:12] == source else len(links) - 1
        links[side].send(frame)
        while len(links) == 2 and links[1 - side].recv(65536) != frame:
            pass


main()
