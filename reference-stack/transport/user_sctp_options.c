/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/user_sctp_options.h"

#include "wire/sctp.h"

#if __has_include(<usrsctp.h>)
#include <string.h>
#include <usrsctp.h>

enum { RTO_FIRST_MS = 200, RTO_LEAST_MS = 100, RTO_MOST_MS = 2000 };

static int set(struct socket *socket, int option, const void *value, size_t octets)
{
    return usrsctp_setsockopt(socket, IPPROTO_SCTP, option, value, (socklen_t)octets);
}

int user_sctp_path_mtu(struct socket *socket, size_t packet_max)
{
    struct sctp_paddrparams path = {.spp_flags = SPP_PMTUD_DISABLE | SPP_HB_DISABLE};

    path.spp_address.ss_family = AF_CONN;
    path.spp_pathmtu = (uint32_t)packet_max - SCTP_COMMON_OCTETS; /* libusrsctp adds them to it */
    return set(socket, SCTP_PEER_ADDR_PARAMS, &path, sizeof(path));
}

static int configure(struct socket *socket, const struct iwarp_association *association,
                     const struct user_sctp_config *config)
{
    static const uint16_t events[] = {SCTP_ASSOC_CHANGE, SCTP_SHUTDOWN_EVENT};
    struct iwarp_sctp_init init;
    struct sctp_initmsg streams;
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    int on = 1, uncut = !config->fragments;
    int status = usrsctp_set_non_blocking(socket, 1);

    iwarp_association_init(association, &init);
    streams = (struct sctp_initmsg){.sinit_num_ostreams = init.outbound, .sinit_max_instreams = init.inbound};
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        struct sctp_event event = {.se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = events[i], .se_on = 1};

        status |= set(socket, SCTP_EVENT, &event, sizeof(event));
    }
    if (init.has_indication) {
        struct sctp_setadaptation adaptation = {.ssb_adaptation_ind = init.indication};

        status |= set(socket, SCTP_ADAPTATION_LAYER, &adaptation, sizeof(adaptation));
    }
    status |= set(socket, SCTP_INITMSG, &streams, sizeof(streams));
    status |= set(socket, SCTP_NODELAY, &on, sizeof(on));
    status |= set(socket, SCTP_DISABLE_FRAGMENTS, &uncut, sizeof(uncut));
    status |= set(socket, SCTP_RECVRCVINFO, &on, sizeof(on));
    status |= user_sctp_path_mtu(socket, config->packet_max);
    status |= usrsctp_setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    return status;
}

/* Retransmissions, where the caller wants them otherwise. */
static int configure_time(const struct user_sctp_config *config, struct socket *socket)
{
    uint32_t rto = config->rto_ms;
    struct sctp_rtoinfo times = {.srto_initial = rto != 0 ? rto : RTO_FIRST_MS,
                                 .srto_min = rto != 0 ? rto : RTO_LEAST_MS,
                                 .srto_max = rto != 0 ? rto : RTO_MOST_MS};
    uint16_t most = (uint16_t)(config->retransmissions < UINT16_MAX ? config->retransmissions : UINT16_MAX);
    struct sctp_assocparams association = {.sasoc_asocmaxrxt = most};
    struct sctp_paddrparams path = {.spp_pathmaxrxt = most};
    int status = set(socket, SCTP_RTOINFO, &times, sizeof(times));

    path.spp_address.ss_family = AF_CONN;
    if (most != 0) {
        status |= set(socket, SCTP_ASSOCINFO, &association, sizeof(association));
        status |= set(socket, SCTP_PEER_ADDR_PARAMS, &path, sizeof(path));
    }
    return status;
}

/* What comes in: when it is acknowledged, and how much of it is taken (RFC 9260 6.2); how much is taken to be sent. */
static int configure_buffers(const struct user_sctp_config *config, struct socket *socket)
{
    struct sctp_sack_info sack = {.sack_delay = config->sack_delay_ms, .sack_freq = config->sack_packets};
    int window = (int)config->window, send_buffer = (int)config->send_buffer, status = 0;

    if (sack.sack_delay != 0 || sack.sack_freq != 0)
        status |= set(socket, SCTP_DELAYED_SACK, &sack, sizeof(sack));
    if (window != 0)
        status |= usrsctp_setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &window, sizeof(window));
    if (send_buffer != 0)
        status |= usrsctp_setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer));
    return status;
}

/* How much of a user message one DATA chunk has at most. */
static int configure_chunks(const struct user_sctp_config *config, struct socket *socket)
{
    struct sctp_assoc_value most = {.assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = config->chunk_max};

    return most.assoc_value != 0 ? set(socket, SCTP_MAXSEG, &most, sizeof(most)) : 0;
}

int user_sctp_options(struct socket *socket, const struct iwarp_association *association,
                      const struct user_sctp_config *config)
{
    return configure(socket, association, config) != 0 || configure_time(config, socket) != 0 ||
                   configure_buffers(config, socket) != 0 || configure_chunks(config, socket) != 0
               ? -1
               : 0;
}

#endif
