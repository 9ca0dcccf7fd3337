/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONFORMANCE_ENGINE_CMD_DUMP_H
#define CONFORMANCE_ENGINE_CMD_DUMP_H

/*
 * warpcheck dump FILE... [--format text|jsonl]: what the decoder makes of captures, one line a message. 0 done, 2 usage
 * or a file that is no capture, 3 nothing of iWARP in any file, 4 a capture that ends early, or the output could not be
 * written.
 */
int cmd_dump(int argc, char **argv);

#endif
