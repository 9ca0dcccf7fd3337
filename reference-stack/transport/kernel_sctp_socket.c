/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/kernel_sctp_socket.h"

#if __has_include("linux/sctp.h")
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sctp.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "reference-stack/transport/kernel_sctp.h"

enum {
    RTO_FIRST_MS = 200, /* as SCTP in user space has it */
    RTO_LEAST_MS = 100,
    RTO_MOST_MS = 2000,
    ERROR_INVALID_STREAM = 1, /* RFC 9260 3.3.10.1 */
};

/*
 * --- Options -------------------------------------------------------------------------------------------------------
 */

int kernel_sctp_socket(int family, struct iwarp_sentence *sentence)
{
    int descriptor = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_SCTP);

    if (descriptor >= 0)
        return descriptor;
    if (errno == EPROTONOSUPPORT || errno == ESOCKTNOSUPPORT)
        return iwarp_sentence_set(sentence, "SCTP of the kernel: this kernel has none (Linux: modprobe sctp)");
    return iwarp_sentence_set(sentence, "SCTP of the kernel: no socket: %s", strerror(errno));
}

struct option_value {
    int option;
    const char *name;
    const void *value;
    size_t octets;
};

static int set_all(int descriptor, const struct option_value *values, size_t count, struct iwarp_sentence *sentence)
{
    for (size_t i = 0; i < count; i++)
        if (setsockopt(descriptor, IPPROTO_SCTP, values[i].option, values[i].value, (socklen_t)values[i].octets) != 0)
            return iwarp_sentence_set(sentence, "SCTP of the kernel: %s is refused: %s", values[i].name,
                                      strerror(errno));
    return 0;
}

/* As much as the system lets the process have. */
static void set_space(int descriptor)
{
    int octets = KERNEL_SCTP_SPACE / 2; /* the kernel doubles it, for what it needs itself */

    if (setsockopt(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, &octets, sizeof(octets)) != 0)
        (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &octets, sizeof(octets));
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &octets, sizeof(octets)) != 0)
        (void)setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &octets, sizeof(octets));
}

static int set_events(int descriptor, struct iwarp_sentence *sentence)
{
    static const uint16_t events[] = {SCTP_ASSOC_CHANGE, SCTP_ADAPTATION_INDICATION, SCTP_SHUTDOWN_EVENT,
                                      SCTP_REMOTE_ERROR, SCTP_SENDER_DRY_EVENT};

    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        struct sctp_event event = {.se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = events[i], .se_on = 1};
        const struct option_value value = {SCTP_EVENT, "SCTP_EVENT", &event, sizeof(event)};

        if (set_all(descriptor, &value, 1, sentence) != 0)
            return -1;
    }
    return 0;
}

static int set_udp_port(int descriptor, uint16_t port, struct iwarp_sentence *sentence)
{
#ifdef SCTP_REMOTE_UDP_ENCAPS_PORT
    struct sctp_udpencaps udp = {.sue_port = htons(port)};
    const struct option_value value = {SCTP_REMOTE_UDP_ENCAPS_PORT, "SCTP_REMOTE_UDP_ENCAPS_PORT", &udp, sizeof(udp)};

    return set_all(descriptor, &value, 1, sentence);
#else
    (void)descriptor, (void)port;
    return iwarp_sentence_set(sentence, "SCTP of the kernel: UDP encapsulation is not part of this build");
#endif
}

int kernel_sctp_socket_configure(int descriptor, const struct kernel_sctp_socket_config *config,
                                 struct iwarp_sentence *sentence)
{
    struct sctp_rtoinfo times = {.srto_initial = RTO_FIRST_MS, .srto_min = RTO_LEAST_MS, .srto_max = RTO_MOST_MS};
    struct sctp_paddrparams path = {.spp_flags = SPP_PMTUD_DISABLE | SPP_HB_DISABLE,
                                    .spp_pathmtu = (uint32_t)config->mtu};
    int on = 1, uncut = !config->fragments;
    const struct option_value values[] = {
        {SCTP_NODELAY, "SCTP_NODELAY", &on, sizeof(on)},
        {SCTP_RECVRCVINFO, "SCTP_RECVRCVINFO", &on, sizeof(on)},
        {SCTP_DISABLE_FRAGMENTS, "SCTP_DISABLE_FRAGMENTS", &uncut, sizeof(uncut)},
        {SCTP_RTOINFO, "SCTP_RTOINFO", &times, sizeof(times)},
        {SCTP_PEER_ADDR_PARAMS, "SCTP_PEER_ADDR_PARAMS", &path, sizeof(path)},
    };

    set_space(descriptor);
    if (set_events(descriptor, sentence) != 0 ||
        set_all(descriptor, values, sizeof(values) / sizeof(values[0]), sentence) != 0)
        return -1;
    return config->udp_port == 0 ? 0 : set_udp_port(descriptor, config->udp_port, sentence);
}

int kernel_sctp_socket_offer(int descriptor, const struct iwarp_sctp_init *init, struct iwarp_sentence *sentence)
{
    struct sctp_initmsg streams = {.sinit_num_ostreams = init->outbound, .sinit_max_instreams = init->inbound};
    struct sctp_setadaptation adaptation = {.ssb_adaptation_ind = init->has_indication ? init->indication : 0};
    const struct option_value values[] = {
        {SCTP_INITMSG, "SCTP_INITMSG", &streams, sizeof(streams)},
        {SCTP_ADAPTATION_LAYER, "SCTP_ADAPTATION_LAYER", &adaptation, sizeof(adaptation)},
    };

    return set_all(descriptor, values, sizeof(values) / sizeof(values[0]), sentence);
}

void kernel_sctp_socket_close(int descriptor, bool in_order)
{
    struct linger linger = {.l_onoff = !in_order, .l_linger = 0};

    (void)setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    (void)close(descriptor);
}

/*
 * --- Messages and events -------------------------------------------------------------------------------------------
 */

/* The events are copied out: nothing says how the buffer is aligned. */
static enum kernel_sctp_input read_change(const uint8_t *event, size_t octets, struct iwarp_sctp_init *peer)
{
    struct sctp_assoc_change change;

    if (octets < sizeof(change))
        return KERNEL_SCTP_OTHER;
    memcpy(&change, event, sizeof(change));
    if (change.sac_state != SCTP_COMM_UP)
        return KERNEL_SCTP_LOST; /* a restart, too: the peer has forgotten every session */
    *peer = (struct iwarp_sctp_init){.outbound = change.sac_inbound_streams, .inbound = change.sac_outbound_streams};
    return KERNEL_SCTP_UP;
}

static enum kernel_sctp_input read_indication(const uint8_t *event, size_t octets, struct iwarp_sctp_init *peer)
{
    struct sctp_adaptation_event adaptation;

    if (octets < sizeof(adaptation))
        return KERNEL_SCTP_OTHER;
    memcpy(&adaptation, event, sizeof(adaptation));
    *peer = (struct iwarp_sctp_init){.has_indication = true, .indication = adaptation.sai_adaptation_ind};
    return KERNEL_SCTP_INDICATION;
}

static enum kernel_sctp_input read_event(const uint8_t *event, size_t octets, struct iwarp_sctp_init *peer)
{
    uint16_t type;

    if (octets < sizeof(type))
        return KERNEL_SCTP_OTHER;
    memcpy(&type, event, sizeof(type));
    if (type == SCTP_ASSOC_CHANGE)
        return read_change(event, octets, peer);
    if (type == SCTP_ADAPTATION_INDICATION)
        return read_indication(event, octets, peer);
    if (type == SCTP_REMOTE_ERROR && octets >= sizeof(struct sctp_remote_error)) {
        struct sctp_remote_error error;

        memcpy(&error, event, sizeof(error));
        return ntohs(error.sre_error) == ERROR_INVALID_STREAM ? KERNEL_SCTP_REFUSED : KERNEL_SCTP_OTHER;
    }
    return type == SCTP_SENDER_DRY_EVENT ? KERNEL_SCTP_DRY : KERNEL_SCTP_OTHER;
}

static enum kernel_sctp_input read_message(struct msghdr *header, const uint8_t *buffer, size_t octets,
                                           struct iwarp_sctp_message *message)
{
    struct sctp_rcvinfo info;

    for (struct cmsghdr *of = CMSG_FIRSTHDR(header); of != NULL; of = CMSG_NXTHDR(header, of)) {
        if (of->cmsg_level != IPPROTO_SCTP || of->cmsg_type != SCTP_RCVINFO || of->cmsg_len < CMSG_LEN(sizeof(info)))
            continue;
        memcpy(&info, CMSG_DATA(of), sizeof(info));
        *message = (struct iwarp_sctp_message){info.rcv_sid, ntohl(info.rcv_ppid), buffer, octets};
        return KERNEL_SCTP_MESSAGE;
    }
    return KERNEL_SCTP_PART; /* a message of which nothing is known: it is as little use */
}

enum kernel_sctp_input kernel_sctp_socket_read(int descriptor, uint8_t *buffer, size_t octets,
                                               struct kernel_sctp_read *input)
{
    _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(struct sctp_rcvinfo))];
    struct iovec piece = {buffer, octets};
    struct msghdr header = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
    ssize_t count;

    do
        count = recvmsg(descriptor, &header, MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? KERNEL_SCTP_NOTHING : KERNEL_SCTP_LOST;
    if (count == 0)
        return KERNEL_SCTP_FIN;
    if ((header.msg_flags & MSG_EOR) == 0)
        return KERNEL_SCTP_PART;
    if ((header.msg_flags & MSG_NOTIFICATION) != 0)
        return read_event(buffer, (size_t)count, &input->peer);
    return read_message(&header, buffer, (size_t)count, &input->message);
}

/* The kernel counts the memory of each DATA chunk as the socket's until the chunk is acknowledged. */
bool kernel_sctp_socket_is_dry(int descriptor)
{
    uint32_t memory[SK_MEMINFO_VARS];
    socklen_t octets = sizeof(memory);

    memory[SK_MEMINFO_WMEM_QUEUED] = 1;
    return getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, memory, &octets) == 0 && memory[SK_MEMINFO_WMEM_QUEUED] == 0;
}

int kernel_sctp_socket_send(int descriptor, const struct iwarp_sctp_output *output)
{
    struct sctp_sndinfo info = {
        .snd_sid = output->sid, .snd_flags = output->unordered ? SCTP_UNORDERED : 0, .snd_ppid = htonl(output->ppid)};
    _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(info))];
    struct iovec pieces[IWARP_OUTPUT_SPANS];
    struct msghdr header = {.msg_iov = pieces, .msg_control = control, .msg_controllen = sizeof(control)};
    struct cmsghdr *of;
    ssize_t count;

    memset(control, 0, sizeof(control));
    of = CMSG_FIRSTHDR(&header);
    of->cmsg_level = IPPROTO_SCTP;
    of->cmsg_type = SCTP_SNDINFO;
    of->cmsg_len = CMSG_LEN(sizeof(info));
    memcpy(CMSG_DATA(of), &info, sizeof(info));
    for (size_t i = 0; i < output->span_count; i++)
        pieces[header.msg_iovlen++] =
            (struct iovec){(void *)(uintptr_t)output->spans[i].octets, output->spans[i].count}; /* it is read only */
    do
        count = sendmsg(descriptor, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count == (ssize_t)output->octets)
        return 0;
    return count < 0 ? errno : EMSGSIZE;
}

#endif
