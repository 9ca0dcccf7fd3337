/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck audit: captures judged by the rules. */
#ifndef CONFORMANCE_ENGINE_CMD_AUDIT_H
#define CONFORMANCE_ENGINE_CMD_AUDIT_H

/*
 * warpcheck audit [SELECT...] [OPTION...] FILE|DIR...: 0 conforms; 1 some requirement is broken; 2 usage, or a file
 * that is no capture; 3 nothing selected or no MPA traffic; 4 a capture breaks off, or results cannot be written. The
 * first of 1, 2, 4, 3 that holds.
 */
int cmd_audit(int argc, char **argv);

#endif
