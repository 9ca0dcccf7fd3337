/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck bridge: two devices with us in between. */
#ifndef CONFORMANCE_ENGINE_CMD_BRIDGE_H
#define CONFORMANCE_ENGINE_CMD_BRIDGE_H

int cmd_bridge(int argc, char **argv);

#endif
