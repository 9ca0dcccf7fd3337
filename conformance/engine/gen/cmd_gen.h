/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONFORMANCE_ENGINE_CMD_GEN_H
#define CONFORMANCE_ENGINE_CMD_GEN_H

int cmd_gen(int argc, char **argv);

#endif
