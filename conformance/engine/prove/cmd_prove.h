/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONFORMANCE_ENGINE_CMD_PROVE_H
#define CONFORMANCE_ENGINE_CMD_PROVE_H

/*
 * warpcheck prove [DEFECT...]: 0 every defect is killed and the correct stack drew no alarm, 1 otherwise, 2 usage, 3
 * there is nothing to prove, 4 the matrix could not be made.
 */
int cmd_prove(int argc, char **argv);

#endif
