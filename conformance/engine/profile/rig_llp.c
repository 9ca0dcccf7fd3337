/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/profile/rig_llp.h"

#include <string.h>

static const struct {
    const char *name;
    enum iwarp_sctp_profile sctp;
} rows[] = {{"tcp", IWARP_SCTP_UNDECIDED}, {"sctp", IWARP_SCTP_RFC5043}, {"sctp-draft02", IWARP_SCTP_DRAFT02}};

bool rig_llp_parse(const char *name, enum iwarp_sctp_profile *sctp)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(name != NULL ? name : rows[0].name, rows[i].name) == 0) {
            *sctp = rows[i].sctp;
            return true;
        }
    return false;
}

const char *rig_llp_name(enum iwarp_sctp_profile sctp)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].sctp == sctp)
            return rows[i].name;
    return rows[0].name;
}
