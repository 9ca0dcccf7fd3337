/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/script/script_llp.h"

#include <string.h>

bool script_llp(const char *name, enum ddp_sctp_profile *sctp)
{
    static const struct {
        const char *name;
        enum ddp_sctp_profile sctp;
    } rows[] = {{"tcp", DDP_SCTP_UNDECIDED}, {"sctp", DDP_SCTP_RFC5043}, {"sctp-draft02", DDP_SCTP_DRAFT02}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(name != NULL ? name : rows[0].name, rows[i].name) == 0) {
            *sctp = rows[i].sctp;
            return true;
        }
    return false;
}
