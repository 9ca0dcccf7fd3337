/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONFORMANCE_ENGINE_CMD_PICS_H
#define CONFORMANCE_ENGINE_CMD_PICS_H

/*
 * warpcheck pics [ITEM...] [OPTION...]: 0, 2 usage or a wrong profile, 3 no item fits, 4 the upper tester does not
 * answer or the output could not be written.
 */
int cmd_pics(int argc, char **argv);

#endif
