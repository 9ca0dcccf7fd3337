/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/marker.h"

WIRE_LAYOUT_DEFINE(marker, MARKER_FIELDS, "MPA Marker", "RFC 5044 4.3", MARKER_OCTETS);
