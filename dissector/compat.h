/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One source for Wireshark 4.0 to 4.6: what was renamed between them, under one name. Everything else that the plugin
 * uses is the same in all of them.
 */
#ifndef DISSECTOR_COMPAT_H
#define DISSECTOR_COMPAT_H

#include <stdbool.h>

#include <ws_version.h>

#include <epan/packet.h>

#define WARP_WIRESHARK(major, minor)                                                                                   \
    (WIRESHARK_VERSION_MAJOR > (major) || (WIRESHARK_VERSION_MAJOR == (major) && WIRESHARK_VERSION_MINOR >= (minor)))

/* What heuristics return and preferences are kept in. */
#if WARP_WIRESHARK(4, 4)
typedef bool warp_boolean;
#else
typedef gboolean warp_boolean;
#endif

/* Added in 4.4: what the list of plugins says of this one. */
#if WARP_WIRESHARK(4, 4)
#include <wsutil/plugins.h>
#define WARP_DESCRIBE(export)                                                                                          \
    export uint32_t plugin_describe(void);                                                                             \
    export uint32_t plugin_describe(void)                                                                              \
    {                                                                                                                  \
        return WS_PLUGIN_DESC_DISSECTOR;                                                                               \
    }
#else
#define WARP_DESCRIBE(export)
#endif

#endif
