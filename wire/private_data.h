/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private Data of start-up frames and of the CM whose form is known by its octets: what a ULP says there of itself.
 * RPC-over-RDMA's has a number of its own, which is looked for anywhere; the others are known by their length, by what
 * has to be zero, and by what cannot be. Four or eight octets may be of something else by chance: this names a form,
 * and decides nothing.
 */
#ifndef WIRE_PRIVATE_DATA_H
#define WIRE_PRIVATE_DATA_H

#include "wire/iser.h"
#include "wire/nvme.h"
#include "wire/rpcrdma.h"
#include "wire/smbd.h"

#ifdef __cplusplus
extern "C" {
#endif

enum private_form {
    PRIVATE_UNKNOWN,
    PRIVATE_RPCRDMA,         /* RFC 8797 4 */
    PRIVATE_NVME_HOST,       /* in a Request */
    PRIVATE_NVME_CONTROLLER, /* in a Reply */
    PRIVATE_ISER,
    PRIVATE_DEPTHS, /* IRD and ORD, as SMB Direct's peers say them where MPA has no word for them */
};

struct private_data {
    enum private_form form;
    size_t at; /* where in the octets it begins */
    union {
        struct rpcrdma_private rpcrdma;
        struct nvme_private nvme;
        uint16_t nvme_crqsize;
        struct iser_private iser;
        struct smbd_depths depths;
    };
};

/*
 * `octets`: the ULP's own, without the enhanced word of RFC 6581 (`has_word`: there is one, so that nobody needs to say
 * depths). `answers`: of a Reply or another frame that answers one. False, and PRIVATE_UNKNOWN: of no known form.
 */
bool private_data_read(const uint8_t *octets, size_t count, bool answers, bool has_word, struct private_data *said);

/* What it says, in words; "" of no known form. */
enum { PRIVATE_DATA_TEXT = 120 };
const char *private_data_text(const struct private_data *said, char text[PRIVATE_DATA_TEXT]);

#ifdef __cplusplus
}
#endif

#endif
