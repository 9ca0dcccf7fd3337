/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/user_sctp.h"

#include "wire/sctp.h"

#if __has_include(<usrsctp.h>)
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <usrsctp.h>

#include "reference-stack/base/ring.h"
#include "reference-stack/transport/user_sctp_options.h"
#include "base/hash.h"

#define NS_PER_MS  UINT64_C(1000000)
#define CLOCK_SLIP UINT64_C(1000000000) /* ns by which two readers of one clock may differ */

enum {
    MESSAGE_MAX = 66000,
    UNCUT = 512,          /* octets of a message that each path takes */
    PASS_MOST_MS = 60000, /* at once: a process that was stopped for longer does not run through all of it */
    CHUNKS_MAX = 65536,
    LEAVING_MAX = 2048, /* octets of a packet that may leave as another */
};

/*
 * libusrsctp knows an endpoint by `name`, a number that is never used again: what it still says of an endpoint that is
 * freed reaches nobody.
 */
struct user_sctp {
    uintptr_t name;
    UT_hash_handle hh;
    struct iwarp_association *association;
    struct user_sctp_config config;
    struct socket *listener; /* passive, until the association is there */
    struct socket *socket;
    struct iwarp_sctp_init peer; /* of its INIT or INIT ACK */
    bool up, lost, ending;
    bool answered;      /* the own INIT was: COOKIE ECHO went out */
    struct ring flight; /* struct flight, by TSN */
    size_t flight_octets;
    uint32_t highest; /* TSN that was sent */
    bool tsn_known;
    uint32_t own_tag;    /* of its own INIT */
    uint32_t packet_tag; /* of the packet that libusrsctp reads... */
    uint32_t tag;        /* ...and of all that belong to the association, once it is up */
    uint64_t now;
};

/* A DATA chunk that was sent and not acknowledged. */
struct flight {
    uint32_t tsn;
    uint16_t sid;
    uint16_t octets;
    bool last; /* of its message */
};

/* libusrsctp has one stack in a process. */
static struct {
    bool started;
    uintptr_t names;
    struct user_sctp *ends; /* by name */
    bool clock_known;
    uint64_t clock;               /* how far time was passed to libusrsctp */
    uint8_t message[MESSAGE_MAX]; /* in one piece, as libusrsctp takes it */
} stack;

static struct user_sctp *find(const void *name)
{
    uintptr_t wanted = (uintptr_t)name;
    struct user_sctp *end;

    HASH_FIND(hh, stack.ends, &wanted, sizeof(wanted), end);
    return end;
}

static void *name_of(const struct user_sctp *end)
{
    return (void *)end->name; /* NOLINT(performance-no-int-to-ptr): libusrsctp's address, which is never followed */
}

/* --- Packets ----------------------------------------------------------------------------------------------------- */

/*
 * The TSNs of DATA chunks that were not sent before: usrsctp gives a stream's messages theirs in the order of sending.
 */
static void note_data(struct user_sctp *end, const struct sctp_chunk *chunk)
{
    struct sctp_data data;
    struct flight *flight;

    if (sctp_data_parse(chunk, &data) != WIRE_OK || (end->tsn_known && (int32_t)(data.tsn - end->highest) <= 0))
        return;
    flight = ring_push(&end->flight);
    if (flight == NULL)
        return; /* without memory the message counts as not acknowledged until all are */
    *flight = (struct flight){data.tsn, data.sid, (uint16_t)chunk->octets, data.last};
    end->flight_octets += flight->octets;
    end->highest = data.tsn;
    end->tsn_known = true;
}

static int on_output(void *address, void *packet, size_t octets, uint8_t tos, uint8_t set_df)
{
    struct user_sctp *end = find(address);
    uint8_t leaving[LEAVING_MAX];
    const uint8_t *p = (const uint8_t *)packet + SCTP_COMMON_OCTETS;
    struct sctp_chunk chunk;
    struct sctp_init init;

    (void)tos, (void)set_df;
    if (end == NULL)
        return 0;
    while (octets >= SCTP_COMMON_OCTETS && sctp_chunk_parse(&p, (const uint8_t *)packet + octets, &chunk) == WIRE_OK) {
        if (chunk.type == SCTP_DATA)
            note_data(end, &chunk);
        else if (chunk.type == SCTP_INIT && sctp_init_parse(&chunk, &init) == WIRE_OK)
            end->own_tag = init.tag;
        if (chunk.type == SCTP_INIT || chunk.type == SCTP_COOKIE_ECHO)
            end->answered = chunk.type == SCTP_COOKIE_ECHO;
    }
    if (end->config.leaving != NULL && octets <= sizeof(leaving)) {
        packet = memcpy(leaving, packet, octets);
        octets = end->config.leaving(end->config.user, packet, octets, sizeof(leaving));
    }
    if (octets == 0)
        return 0;
    if (octets >= SCTP_COMMON_OCTETS)
        sctp_common_set_Checksum(packet, sctp_checksum(packet, octets));
    end->config.send(end->config.user, packet, octets);
    return 0;
}

static void acked(struct user_sctp *end, uint32_t cumulative)
{
    const struct flight *flight;

    if (!end->tsn_known || (int32_t)(cumulative - end->highest) > 0)
        return; /* of what was never sent: libusrsctp ends the association */
    while ((flight = ring_at(&end->flight, 0)) != NULL && (int32_t)(flight->tsn - cumulative) <= 0) {
        struct flight oldest = *flight;

        ring_pop(&end->flight);
        end->flight_octets -= oldest.octets;
        if (oldest.last)
            iwarp_association_acked(end->association, oldest.sid, 1, end->now);
    }
}

/* The peer's INIT, or its first answer to the own one: a further INIT ACK counts for nothing (RFC 9260 5.2.3). */
static void read_init(struct user_sctp *end, const struct sctp_chunk *chunk)
{
    uint32_t tag = chunk->type == SCTP_INIT ? 0 : end->own_tag;
    struct sctp_init init;

    if (!end->up && !end->answered && end->packet_tag == tag && sctp_init_parse(chunk, &init) == WIRE_OK)
        end->peer = (struct iwarp_sctp_init){init.has_adaptation, init.adaptation, init.outbound, init.inbound};
}

/*
 * Reads what libusrsctp does not report about a received packet with a right checksum. libusrsctp checks the
 * Verification Tag, but does not report the result; so a packet with another association's tag is skipped here, too.
 */
static uint32_t read_packet(struct user_sctp *end, const uint8_t *packet, size_t octets, bool *has_sack)
{
    const uint8_t *p = packet + SCTP_COMMON_OCTETS;
    struct sctp_chunk chunk;
    uint32_t cumulative = 0;

    end->packet_tag = sctp_common_get_VerificationTag(packet);
    while (sctp_chunk_parse(&p, packet + octets, &chunk) == WIRE_OK) {
        if (chunk.type == SCTP_INIT || chunk.type == SCTP_INIT_ACK)
            read_init(end, &chunk);
        if (chunk.type == SCTP_SACK && chunk.octets >= SCTP_CHUNK_OCTETS + sizeof(cumulative) && end->up &&
            end->packet_tag == end->tag) {
            cumulative = octets_get32(chunk.start + SCTP_CHUNK_OCTETS);
            *has_sack = true;
        }
    }
    return cumulative;
}

/* --- Events of usrsctp ------------------------------------------------------------------------------------------- */

static void lost(struct user_sctp *end)
{
    end->lost = true;
    iwarp_association_lost(end->association, end->now);
}

/* The owner looks at the association when libusrsctp is done: it calls from within its packets and timers. */
static void notify_changed(const struct user_sctp *end)
{
    if (end->config.notify != NULL)
        end->config.notify(end->config.user);
}

static void on_notification(struct user_sctp *end, const union sctp_notification *notification, size_t octets)
{
    if (octets < sizeof(notification->sn_header))
        return;
    if (notification->sn_header.sn_type == SCTP_SHUTDOWN_EVENT)
        end->ending = true;
    if (notification->sn_header.sn_type != SCTP_ASSOC_CHANGE || octets < sizeof(notification->sn_assoc_change))
        return;
    switch (notification->sn_assoc_change.sac_state) {
    case SCTP_COMM_UP:
        end->up = true;
        end->tag = end->packet_tag;
        iwarp_association_up(end->association, &end->peer, end->now);
        break;
    case SCTP_RESTART: /* the peer has forgotten every session: to go on would mix them with new ones */
    case SCTP_COMM_LOST:
    case SCTP_SHUTDOWN_COMP:
    case SCTP_CANT_STR_ASSOC: lost(end); break;
    default: break;
    }
}

static int on_receive(struct socket *socket, union sctp_sockstore from, void *data, size_t octets,
                      struct sctp_rcvinfo info, int flags, void *user)
{
    struct user_sctp *end = find(user);

    (void)socket, (void)from;
    if (data == NULL) { /* the end of the association */
        if (end != NULL && end->up && !end->lost)
            lost(end);
    } else if (end != NULL && (flags & MSG_NOTIFICATION) != 0) {
        on_notification(end, data, octets);
    } else if (end != NULL && (flags & MSG_EOR) == 0) {
        /* A part of a message that is longer than libusrsctp waits for: no DDP Segment is. */
        iwarp_association_abort(end->association, end->now);
    } else if (end != NULL) {
        struct iwarp_sctp_message message = {info.rcv_sid, ntohl(info.rcv_ppid), data, octets};

        iwarp_association_input(end->association, &message, end->now);
    }
    free(data); /* usrsctp's own, given to us */
    if (end != NULL)
        notify_changed(end);
    return 1;
}

/* --- Endpoints --------------------------------------------------------------------------------------------------- */

int user_sctp_start(struct iwarp_sentence *sentence)
{
    (void)sentence;
    if (stack.started)
        return 0;
    usrsctp_init_nothreads(0, on_output, NULL);
    usrsctp_enable_crc32c_offload(); /* its own takes half of its processor time: ISA-L's is twenty times as fast */
    /* What RFC 5043 does not need, and what would stand between a packet and who reads it. */
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_sysctl_set_sctp_asconf_enable(0);
    usrsctp_sysctl_set_sctp_auth_enable(0);
    usrsctp_sysctl_set_sctp_nrsack_enable(0);
    usrsctp_sysctl_set_sctp_pktdrop_enable(0);
    usrsctp_sysctl_set_sctp_sendspace(USER_SCTP_SPACE);
    usrsctp_sysctl_set_sctp_recvspace(USER_SCTP_SPACE);
    usrsctp_sysctl_set_sctp_max_chunks_on_queue(CHUNKS_MAX);
    stack.started = true;
    stack.clock_known = false;
    return 0;
}

void user_sctp_stop(void)
{
    /* What is closed goes when its timers have run. */
    for (int i = 0; stack.started && i < 100; i++) {
        if (usrsctp_finish() == 0)
            stack.started = false;
        else
            usrsctp_handle_timers(1000);
    }
}

static struct sockaddr_conn address_of(const struct user_sctp *end, uint16_t port)
{
    return (struct sockaddr_conn){.sconn_family = AF_CONN, .sconn_port = htons(port), .sconn_addr = name_of(end)};
}

static int open_socket(struct user_sctp *end, struct iwarp_sentence *sentence)
{
    struct sockaddr_conn own = address_of(end, end->config.port), peer = address_of(end, end->config.peer_port);
    struct socket *socket = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, on_receive, NULL, 0, name_of(end));

    if (socket == NULL)
        return iwarp_sentence_set(sentence, "usrsctp: no socket: %s", strerror(errno));
    if (end->config.active)
        end->socket = socket;
    else
        end->listener = socket;
    if (user_sctp_options(socket, end->association, &end->config) != 0)
        return iwarp_sentence_set(sentence, "usrsctp: an option is refused: %s", strerror(errno));
    if (usrsctp_bind(socket, (struct sockaddr *)&own, sizeof(own)) != 0)
        return iwarp_sentence_set(sentence, "usrsctp: port %u: %s", end->config.port, strerror(errno));
    if (end->config.active) {
        if (usrsctp_connect(socket, (struct sockaddr *)&peer, sizeof(peer)) != 0 && errno != EINPROGRESS)
            return iwarp_sentence_set(sentence, "usrsctp: connect: %s", strerror(errno));
    } else if (usrsctp_listen(socket, 1) != 0) {
        return iwarp_sentence_set(sentence, "usrsctp: listen: %s", strerror(errno));
    }
    return 0;
}

struct user_sctp *user_sctp_new(struct iwarp_association *association, const struct user_sctp_config *config,
                                uint64_t now, struct iwarp_sentence *sentence)
{
    struct user_sctp *end;

    if (association == NULL || config == NULL || config->send == NULL || !stack.started) {
        (void)iwarp_sentence_set(sentence, "usrsctp: expected a stack, an association and a configuration");
        return NULL;
    }
    end = calloc(1, sizeof(*end));
    if (end == NULL) {
        (void)iwarp_sentence_set(sentence, "usrsctp: out of memory");
        return NULL;
    }
    if (stack.ends == NULL)
        stack.clock_known = false; /* who begins anew may have a clock that begins anew */
    end->name = ++stack.names;
    HASH_ADD(hh, stack.ends, name, sizeof(end->name), end);
    if (hash_lost(end)) {
        free(end);
        (void)iwarp_sentence_set(sentence, "usrsctp: out of memory");
        return NULL;
    }
    end->association = association;
    end->config = *config;
    end->now = now;
    ring_init(&end->flight, sizeof(struct flight));
    usrsctp_register_address(name_of(end));
    if (open_socket(end, sentence) != 0) {
        user_sctp_free(end);
        return NULL;
    }
    return end;
}

void user_sctp_free(struct user_sctp *end)
{
    if (end == NULL)
        return;
    end->lost = true;
    if (end->socket != NULL)
        usrsctp_close(end->socket);
    if (end->listener != NULL)
        usrsctp_close(end->listener);
    usrsctp_deregister_address(name_of(end));
    HASH_DEL(stack.ends, end);
    ring_free(&end->flight);
    free(end);
}

/* --- In and out -------------------------------------------------------------------------------------------------- */

static void accept_one(struct user_sctp *end)
{
    if (end->listener == NULL || end->socket != NULL || !end->up)
        return;
    end->socket = usrsctp_accept(end->listener, NULL, NULL);
    if (end->socket != NULL)
        (void)usrsctp_set_non_blocking(end->socket, 1);
}

void user_sctp_input(struct user_sctp *end, const uint8_t *packet, size_t octets, uint64_t now)
{
    bool has_sack = false;
    uint32_t cumulative;

    if (end == NULL || packet == NULL || octets < SCTP_COMMON_OCTETS)
        return;
    if (sctp_common_get_Checksum(packet) != sctp_checksum(packet, octets))
        return; /* RFC 9260 6.8 */
    end->now = now;
    cumulative = read_packet(end, packet, octets, &has_sack);
    usrsctp_conninput(name_of(end), packet, octets, 0);
    if (has_sack)
        acked(end, cumulative);
    user_sctp_run(end, now);
}

/*
 * True: usrsctp would assign a TSN to the message at once. A message that waits in usrsctp without a TSN is fragmented
 * if the path MTU falls, even if fragmentation is off; a chunk with a TSN is not.
 */
static bool goes_at_once(const struct user_sctp *end, size_t octets)
{
    struct sctp_status status = {0};
    socklen_t length = sizeof(status);

    if (octets <= UNCUT || end->flight_octets == 0)
        return true;
    return usrsctp_getsockopt(end->socket, IPPROTO_SCTP, SCTP_STATUS, &status, &length) == 0 &&
           status.sstat_primary.spinfo_cwnd > end->flight_octets && status.sstat_rwnd >= octets &&
           status.sstat_penddata == 0;
}

/* False: usrsctp has no room for it now. */
static bool send_message(struct user_sctp *end, const struct iwarp_sctp_output *output)
{
    struct sctp_sndinfo info = {.snd_sid = output->sid, .snd_ppid = htonl(output->ppid)};
    size_t count = 0;

    if (output->octets > sizeof(stack.message) || (!end->config.fragments && !goes_at_once(end, output->octets)))
        return false;
    for (size_t i = 0; i < output->span_count; i++) {
        memcpy(stack.message + count, output->spans[i].octets, output->spans[i].count);
        count += output->spans[i].count;
    }
    info.snd_flags = output->unordered ? SCTP_UNORDERED : 0;
    return usrsctp_sendv(end->socket, stack.message, count, NULL, 0, &info, sizeof(info), SCTP_SENDV_SNDINFO, 0) ==
           (ssize_t)count;
}

void user_sctp_set_packet_max(struct user_sctp *end, size_t octets)
{
    if (end == NULL || octets <= SCTP_COMMON_OCTETS)
        return;
    end->config.packet_max = octets;
    if (end->socket != NULL)
        (void)user_sctp_path_mtu(end->socket, octets);
    if (end->listener != NULL)
        (void)user_sctp_path_mtu(end->listener, octets);
}

bool user_sctp_up(const struct user_sctp *end)
{
    return end != NULL && end->up;
}

void user_sctp_run(struct user_sctp *end, uint64_t now)
{
    struct iwarp_sctp_output output;

    if (end == NULL || end->lost)
        return;
    end->now = now;
    accept_one(end);
    if (end->socket == NULL || !end->up)
        return;
    while (!end->lost && iwarp_association_output(end->association, &output) != 0) {
        if (!send_message(end, &output))
            break; /* the same one is asked for again when there is room */
        iwarp_association_output_done(end->association, now);
    }
    switch (iwarp_association_wants(end->association)) {
    case IWARP_ASSOCIATION_WANT_SHUTDOWN:
        if (!end->ending)
            (void)usrsctp_shutdown(end->socket, SHUT_WR); /* until its end, the socket also reports an ABORT */
        end->ending = true;
        break;
    case IWARP_ASSOCIATION_WANT_ABORT:
        end->lost = true;
        usrsctp_close(end->socket); /* SO_LINGER of 0: by an ABORT */
        end->socket = NULL;
        break;
    case IWARP_ASSOCIATION_WANT_NOTHING:
    default: break;
    }
}

void user_sctp_pass(uint32_t milliseconds)
{
    if (stack.started)
        usrsctp_handle_timers(milliseconds);
}

void user_sctp_clock(uint64_t now)
{
    uint64_t passed;

    if (!stack.clock_known || now + CLOCK_SLIP < stack.clock) /* another clock */
        stack.clock = now;
    stack.clock_known = true;
    if (now < stack.clock)
        return;
    passed = (now - stack.clock) / NS_PER_MS;
    if (passed == 0)
        return;
    stack.clock += passed * NS_PER_MS;
    user_sctp_pass(passed > PASS_MOST_MS ? PASS_MOST_MS : (uint32_t)passed);
}

#endif
