/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols that Wireshark looks for; everything else in the plugin is hidden. */
#include "dissector/compat.h"
#include "dissector/warp.h"

#define EXPORT __attribute__((visibility("default")))

extern EXPORT const gchar plugin_version[];
extern EXPORT const int plugin_want_major;
extern EXPORT const int plugin_want_minor;
EXPORT void plugin_register(void);

const gchar plugin_version[] = WARPCHECK_VERSION;
const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

WARP_DESCRIBE(EXPORT)

void plugin_register(void)
{
    static proto_plugin plugin = {warp_register, warp_handoff};

    proto_register_plugin(&plugin);
}
