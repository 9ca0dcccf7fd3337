/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/private_data.h"

#include <stdio.h>

static bool read_rpcrdma(const uint8_t *octets, size_t count, struct private_data *said)
{
    const uint8_t *found = rpcrdma_private_find(octets, count, &said->rpcrdma);

    said->at = found != NULL ? (size_t)(found - octets) : 0;
    return found != NULL;
}

static enum private_form form_of(const uint8_t *octets, size_t count, bool answers, bool has_word,
                                 struct private_data *said)
{
    if (read_rpcrdma(octets, count, said))
        return PRIVATE_RPCRDMA;
    if (answers ? nvme_controller_private_read(octets, count, &said->nvme_crqsize)
                : nvme_private_read(octets, count, &said->nvme))
        return answers ? PRIVATE_NVME_CONTROLLER : PRIVATE_NVME_HOST;
    if (iser_private_read(octets, count, &said->iser))
        return PRIVATE_ISER;
    if (!has_word && smbd_depths_read(octets, count, &said->depths))
        return PRIVATE_DEPTHS;
    return PRIVATE_UNKNOWN;
}

bool private_data_read(const uint8_t *octets, size_t count, bool answers, bool has_word, struct private_data *said)
{
    *said = (struct private_data){.at = 0};
    said->form = form_of(octets, count, answers, has_word, said);
    return said->form != PRIVATE_UNKNOWN;
}

const char *private_data_text(const struct private_data *said, char text[PRIVATE_DATA_TEXT])
{
    enum { ROOM = PRIVATE_DATA_TEXT };

    text[0] = '\0';
    switch (said->form) {
    case PRIVATE_UNKNOWN: break;
    case PRIVATE_RPCRDMA:
        (void)snprintf(text, ROOM, "RPC-over-RDMA, sends up to %u octets, receives up to %u%s", said->rpcrdma.send,
                       said->rpcrdma.receive, said->rpcrdma.invalidates ? ", may invalidate remotely" : "");
        break;
    case PRIVATE_NVME_HOST:
        (void)snprintf(text, ROOM, "NVMe host, queue %u, hrqsize %u hsqsize %u", said->nvme.qid, said->nvme.hrqsize,
                       said->nvme.hsqsize);
        break;
    case PRIVATE_NVME_CONTROLLER: (void)snprintf(text, ROOM, "NVMe controller, crqsize %u", said->nvme_crqsize); break;
    case PRIVATE_ISER:
        (void)snprintf(text, ROOM, "iSER%s%s", said->iser.zbva_not_used ? ", no zero-based addresses" : "",
                       said->iser.invalidate_not_used ? ", no Send with Invalidate" : "");
        break;
    case PRIVATE_DEPTHS:
        (void)snprintf(text, ROOM, "ird %u ord %u as SMB Direct has them%s", said->depths.ird, said->depths.ord,
                       said->depths.little ? ", little-endian" : "");
        break;
    }
    return text;
}
