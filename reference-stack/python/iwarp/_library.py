# SPDX-License-Identifier: BSD-2-Clause
"""The functions and structures of iwarp/verbs.h for ctypes; tests/e2e/python.sh compares them with the C compiler's."""

import ctypes
import os
from ctypes import POINTER, Structure, c_bool, c_char, c_char_p, c_int, c_size_t, c_uint
from ctypes import c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

TERMINATE_MAX = 52
PRIVATE_DATA_MAX = 512
ADDRESS_OCTETS = 64


class Sentence(Structure):
    _c_name_ = "struct iwarp_sentence"
    _fields_ = [("text", c_char * 512)]


class DeviceConfig(Structure):
    _c_name_ = "struct iwarp_device_config"
    _fields_ = [("ird_max", c_uint), ("ord_max", c_uint), ("regions_max", c_size_t), ("seed", c_uint64)]


class Region(Structure):
    _c_name_ = "struct iwarp_region"
    _fields_ = [
        ("stag", c_uint32), ("base", c_uint64), ("length", c_uint64), ("octets", c_void_p), ("access", c_uint),
        ("pd", c_uint32), ("stream", c_uint32), ("registered", c_uint64), ("valid", c_bool),
    ]


class StreamConfig(Structure):
    _c_name_ = "struct iwarp_stream_config"
    _fields_ = [
        ("role", c_int), ("revision", c_uint8), ("enhanced", c_bool), ("markers", c_bool), ("crc", c_bool),
        ("extensions", c_int), ("ird", c_uint16), ("ord", c_uint16), ("peer_to_peer", c_bool), ("rtr", c_uint),
        ("private_data", c_uint8 * PRIVATE_DATA_MAX), ("private_octets", c_uint16), ("private_room", c_uint16),
        ("rdmac", c_bool), ("trace", c_bool), ("smbd", c_bool), ("modify_fails", c_bool), ("emss", c_size_t),
        ("startup_limit", c_uint64), ("linger_limit", c_uint64), ("teardown_delay", c_uint64), ("accept", c_int),
        ("pd", c_uint32), ("number", c_uint32), ("srq", c_void_p), ("faults", c_void_p),
    ]


class QpOptions(Structure):
    _c_name_ = "struct iwarp_qp_options"
    _fields_ = [
        ("stream", StreamConfig), ("send_cq", c_void_p), ("receive_cq", c_void_p), ("srq", c_void_p),
        ("user", c_void_p),
    ]


class Completion(Structure):
    _c_name_ = "struct iwarp_completion"
    _fields_ = [
        ("qp", c_void_p), ("user", c_void_p), ("id", c_uint64), ("status", c_int), ("work", c_int),
        ("octets", c_size_t),
        ("buffer", c_void_p), ("opcode", c_uint8), ("solicited", c_bool), ("invalidated", c_bool), ("stag", c_uint32),
        ("value", c_uint64),
    ]


class Start(Structure):
    _c_name_ = "struct iwarp_mpa_start"
    _fields_ = [
        ("kind", c_int), ("markers", c_bool), ("crc", c_bool), ("rejected", c_bool), ("enhanced", c_bool),
        ("reserved", c_uint8), ("revision", c_uint8), ("private_octets", c_uint16), ("private_data", c_void_p),
        ("peer_to_peer", c_bool), ("rtr_send", c_bool), ("rtr_write", c_bool), ("rtr_read", c_bool), ("ird", c_uint16),
        ("ord", c_uint16),
    ]


class StreamEvent(Structure):
    _c_name_ = "struct iwarp_event"
    _fields_ = [
        ("kind", c_int), ("id", c_uint64), ("flushed", c_int), ("opcode", c_uint8), ("solicited", c_bool),
        ("invalidated", c_bool), ("stag", c_uint32), ("octets", c_size_t), ("value", c_uint64), ("early", c_bool),
        ("buffer", c_void_p), ("start", Start), ("ird", c_uint16), ("ord", c_uint16), ("version", c_uint8),
        ("send_markers", c_bool), ("receive_markers", c_bool), ("crc", c_bool), ("triple", c_uint32),
        ("headers", c_uint8 * TERMINATE_MAX), ("header_octets", c_size_t), ("requirement", c_char_p),
        ("text", c_char * 128),
    ]


class QpEvent(Structure):
    _c_name_ = "struct iwarp_qp_event"
    _fields_ = [
        ("kind", c_int), ("qp", c_void_p), ("user", c_void_p), ("listener", c_void_p), ("cq", c_void_p),
        ("detail", StreamEvent),
    ]


class Span(Structure):
    _c_name_ = "struct iwarp_span"
    _fields_ = [("octets", c_void_p), ("count", c_size_t)]


class Send(Structure):
    _c_name_ = "struct iwarp_send"
    _fields_ = [
        ("id", c_uint64), ("octets", c_void_p), ("count", c_size_t), ("solicited", c_bool), ("invalidate", c_bool),
        ("stag", c_uint32), ("opcode", c_uint8), ("copy", c_bool), ("fence", c_bool), ("pieces", POINTER(Span)),
        ("piece_count", c_size_t),
    ]


class Write(Structure):
    _c_name_ = "struct iwarp_write"
    _fields_ = [
        ("id", c_uint64), ("octets", c_void_p), ("count", c_size_t), ("stag", c_uint32), ("to", c_uint64),
        ("copy", c_bool), ("fence", c_bool), ("pieces", POINTER(Span)), ("piece_count", c_size_t),
    ]


class Read(Structure):
    _c_name_ = "struct iwarp_read"
    _fields_ = [
        ("id", c_uint64), ("sink_stag", c_uint32), ("sink_to", c_uint64), ("source_stag", c_uint32),
        ("source_to", c_uint64), ("count", c_uint32),
    ]


class Atomic(Structure):
    _c_name_ = "struct iwarp_atomic"
    _fields_ = [
        ("id", c_uint64), ("operation", c_int), ("stag", c_uint32), ("to", c_uint64), ("data", c_uint64),
        ("mask", c_uint64),
        ("compare", c_uint64), ("compare_mask", c_uint64),
    ]


class Immediate(Structure):
    _c_name_ = "struct iwarp_immediate"
    _fields_ = [("id", c_uint64), ("octets", c_uint8 * 8), ("solicited", c_bool)]


STRUCTURES = (
    Sentence, DeviceConfig, Region, StreamConfig, QpOptions, Completion, Start, StreamEvent, QpEvent, Span, Send, Write,
    Read, Atomic, Immediate,
)

_why = POINTER(Sentence)
_handle = c_void_p
# name: (result, arguments)
FUNCTIONS = {
    "iwarp_context_new": (_handle, [POINTER(DeviceConfig), _why]),
    "iwarp_context_free": (None, [_handle]),
    "iwarp_context_device": (_handle, [_handle]),
    "iwarp_context_run": (c_int, [_handle, c_int, _why]),
    "iwarp_context_fd": (c_int, [_handle]),
    "iwarp_context_timeout": (c_int, [_handle]),
    "iwarp_region_register": (c_int, [_handle, POINTER(Region), _why]),
    "iwarp_region_deregister": (c_int, [_handle, c_uint32, _why]),
    "iwarp_region_invalidate": (c_int, [_handle, c_uint32, _why]),
    "iwarp_cq_new": (_handle, [_handle]),
    "iwarp_poll_cq": (c_size_t, [_handle, POINTER(Completion), c_size_t]),
    "iwarp_qp_options_default": (None, [POINTER(QpOptions), _handle]),
    "iwarp_listen": (_handle, [_handle, c_char_p, c_uint16, POINTER(QpOptions), _why]),
    "iwarp_listener_port": (c_uint16, [_handle]),
    "iwarp_listener_free": (None, [_handle]),
    "iwarp_connect": (_handle, [_handle, c_char_p, c_uint16, POINTER(QpOptions), _why]),
    "iwarp_accept": (c_int, [_handle, c_char_p, c_size_t, _why]),
    "iwarp_reject": (c_int, [_handle, c_char_p, c_size_t, _why]),
    "iwarp_post_receive": (c_int, [_handle, c_uint64, c_void_p, c_size_t, _why]),
    "iwarp_post_send": (c_int, [_handle, POINTER(Send), _why]),
    "iwarp_post_write": (c_int, [_handle, POINTER(Write), _why]),
    "iwarp_post_read": (c_int, [_handle, POINTER(Read), _why]),
    "iwarp_post_atomic": (c_int, [_handle, POINTER(Atomic), _why]),
    "iwarp_post_immediate": (c_int, [_handle, POINTER(Immediate), _why]),
    "iwarp_disconnect": (None, [_handle]),
    "iwarp_qp_free": (None, [_handle]),
    "iwarp_qp_stream": (_handle, [_handle]),
    "iwarp_stream_number": (c_uint32, [_handle]),
    "iwarp_qp_peer": (c_int, [_handle, c_char_p, POINTER(c_uint16), _why]),
    "iwarp_next_event": (c_bool, [_handle, POINTER(QpEvent)]),
    "iwarp_resolve": (c_int, [c_char_p, c_char_p, _why]),
    "iwarp_status_text": (c_char_p, [c_int]),
    "iwarp_work_text": (c_char_p, [c_int]),
    "iwarp_qp_event_text": (c_char_p, [c_int]),
    "iwarp_opcode_text": (c_char_p, [c_uint8]),
}

# LIBIWARP names another library than the installed one.
library = ctypes.CDLL(os.environ.get("LIBIWARP", "libiwarp.so.0"))
for _name, (_result, _arguments) in FUNCTIONS.items():
    _function = getattr(library, _name)
    _function.restype, _function.argtypes = _result, _arguments
