#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tshark -T json on standard input, written again with each unit whole: tshark gives a frame's protocols one after the
other (warp, warp.mpa, warp.ddp, warp.rdmap, warp, ...), several of one name in one object. What follows a "warp" goes into
it. Other names that come twice in an object become a list, as --no-duplicate-keys does it."""
import json
import sys


def merged(pairs):
    out, seen = {}, {}
    for key, value in pairs:
        seen.setdefault(key, []).append(value)
    for key, values in seen.items():
        out[key] = values[0] if len(values) == 1 else values
    return out


class Pairs(list):
    """An object as it stands in the text: how it is read depends on the object that it stands in."""


def plain(value):
    if isinstance(value, Pairs):
        return merged((key, plain(inner)) for key, inner in value)
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def layers(pairs):
    out, units = {}, []
    for key, value in pairs:
        value = plain(value)
        if key == "warp":
            units.append(value)
        elif key == "warp.mpa" and units:
            units[-1].update(value)
        elif key.startswith("warp.") and units:
            units[-1][key] = value
        else:
            out[key] = value
    if units:
        out["warp"] = units[0] if len(units) == 1 else units
    return out


def frames(document):
    for frame in document:
        frame = dict(frame)
        source = dict(frame["_source"])
        yield {"_source": {"layers": layers(source["layers"])}}


json.dump(list(frames(json.load(sys.stdin, object_pairs_hook=Pairs))), sys.stdout)
