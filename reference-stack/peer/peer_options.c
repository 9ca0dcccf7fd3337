/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/peer/peer_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/cmd_peer_cm_line.h"
#include "reference-stack/program/option_unknown.h"
#include "reference-stack/transport/sctp_udp.h"
#include "wire/ddp_sctp.h"
#include "base/exit_status.h"
#include "base/sentence.h"
#include "base/text_stream.h"

enum { MTU_LEAST = 600, STREAM_NUMBER_MOST = 16777216, MEMORY_MIB = 2048 };

/* No row judges anything here: what an option changes is the device. */
#define ROW(text, of_kind, ...)                                                                                        \
    {                                                                                                                  \
        .help = (text), .effect = OPTION_SHOWS, .kind = (of_kind), __VA_ARGS__                                         \
    }
#define MEMBER(name)                 .member = offsetof(struct peer_options, name)
#define FLAG(text, name)             ROW(text, OPTION_FLAG, MEMBER(name))
#define TEXT(text, name)             ROW(text, OPTION_TEXT, MEMBER(name))
#define NUMBER(text, name, from, to) ROW(text, OPTION_NUMBER, MEMBER(name), .least = (from), .most = (to))
#define LIST(text, name, number)                                                                                       \
    ROW(text, OPTION_LIST, MEMBER(name), .count = offsetof(struct peer_options, number), .most = PEER_NAMES_MAX)
#define OWN(text, function) ROW(text, OPTION_OWN, .parse = (function))

/* Sets *is if the value is the second of two words. */
static int either(const char *option, const char *value, const char *no, const char *yes, bool *is,
                  struct iwarp_sentence *error)
{
    *is = strcmp(value, yes) == 0;
    if (*is || strcmp(value, no) == 0)
        return 0;
    return iwarp_sentence_set(error, "%s \"%.40s\": %s or %s was expected", option, value, no, yes);
}

static int set_llp(void *options, const char *value, struct iwarp_sentence *error)
{
    return either("--llp", value, "tcp", "sctp", &((struct peer_options *)options)->over_sctp, error);
}

static int set_profile(void *options, const char *value, struct iwarp_sentence *error)
{
    return either("--sctp-profile", value, "rfc5043", "draft02", &((struct peer_options *)options)->sctp.draft, error);
}

static int set_stack(void *options, const char *value, struct iwarp_sentence *error)
{
    return either("--sctp-stack", value, "user", "kernel", &((struct peer_options *)options)->sctp.kernel, error);
}

static int set_indication(void *options, const char *value, struct iwarp_sentence *error)
{
    struct peer_sctp_options *sctp = &((struct peer_options *)options)->sctp;

    sctp->indicated = true;
    sctp->indication = 0;
    return strcmp(value, "none") == 0 ? 0
                                      : option_number("--sctp-indication", value, NULL, 1, 2, &sctp->indication, error);
}

static const struct option_row place_rows[] = {
    NUMBER("  --listen PORT           accepts connections on this port (0: any port)\n", listen, 0, UINT16_MAX),
    TEXT(PEER_HELP_CONNECT, connect),
    TEXT("  --control PORT|PATH     upper tester: a TCP port on loopback (0: any), ADDRESS:PORT, or the path of a Unix "
         "socket\n",
         control),
    TEXT("  --control-token FILE    obeys an upper tester only after it has shown the first line of this file\n",
         token),
    TEXT(PEER_HELP_BIND, bind),
    FLAG("  --ipv6                  listens on :: for IPv4 and IPv6\n", ipv6),
    FLAG(PEER_HELP_ONCE, once),
    ROW(PEER_HELP_HELP "\n", OPTION_FLAG, MEMBER(help), .also = "-h"),
    NUMBER("  --max-connections N     resets iWARP connections beyond N at once (16384)\n", connections_max, 1,
           1000000),
    NUMBER("  --max-controls N        answers upper testers beyond N at once with an error (256)\n", controls_max, 1,
           100000),
    NUMBER("  --max-unread OCTETS     obeys no command of an upper tester that has not read so many octets of replies "
           "(1048576)\n",
           unread_max, 1, INT32_MAX),
    NUMBER("  --seed N                derives STags from N: they are the same each time (without it nobody can foresee "
           "them)\n",
           seed, 1, INT64_MAX),
    NUMBER("  --max-memory MIB        refuses requests beyond this memory for all peers and upper testers (2048)\n\n",
           memory_mib, 1, 1048576),
    OWN("  --llp tcp|sctp          what is below DDP: kernel TCP with MPA, or SCTP (tcp)\n", set_llp),
};

static const struct option_row sctp_rows[] = {
    OWN("  --sctp-profile PROFILE  rfc5043 or draft02 (rfc5043)\n", set_profile),
    OWN("  --sctp-stack STACK      user: libusrsctp in UDP datagrams, without privileges; kernel: over IP (user)\n",
        set_stack),
    NUMBER("  --sctp-streams N        streams of an association, in each direction (64)\n", sctp.streams, 1,
           UINT16_MAX),
    OWN("  --sctp-indication N     adaptation indication: 1, with draft02 also 2, or none (1; draft02: 2)\n",
        set_indication),
    FLAG("  --sctp-any              keeps associations whose peer does not indicate DDP; without it they are aborted\n",
         sctp.any),
    NUMBER("  --sctp-pending N        answers session requests with a Terminate if N wait for --accept manual (16)\n",
           sctp.pending, 1, UINT16_MAX),
    NUMBER("  --sctp-mtu OCTETS       path MTU, with all headers (1500)\n", sctp.mtu, MTU_LEAST, SCTP_UDP_MTU_MAX),
    NUMBER("  --udp-port PORT         own UDP port below SCTP (9899); 0: any port\n", sctp.udp_port, 0, UINT16_MAX),
    NUMBER("  --peer-udp-port PORT    UDP port of the peers that are connected to (9899; kernel: none, SCTP over IP)\n",
           sctp.peer_udp_port, 1, UINT16_MAX),
    NUMBER("  --queue-pairs N         opens so many streams, all in one association (1)\n\n", sctp.queue_pairs, 1,
           UINT16_MAX),
};

static const struct option_row stream_rows[] = {
    LIST(PEER_HELP_DEFECT, defects, defect_count),
    FLAG(PEER_HELP_LIST_DEFECTS, list_defects),
    LIST("  --variant VARIANT       behaves as this legal variant; repeat it for several; see --list-variants\n",
         variants, variant_count),
    FLAG("  --list-variants         prints the variants: id, requirement, warns, hook, target, operation, value\n",
         list_variants),
    TEXT("  --choices SEED|LIST     is the legal device that the seed draws, or one of these choices, separated by "
         "commas\n\n",
         choices),
    NUMBER("  --rev 1|2               MPA revision of the Request, or the highest that is accepted (2)\n", stream.rev,
           0, STREAM_NUMBER_MOST),
    FLAG("  --plain                 does not use enhanced set-up (RFC 6581)\n", stream.plain),
    FLAG("  --rev0                  also accepts peers with the RDMA Consortium's MPA (RFC 5044 Appendix C)\n",
         stream.rev0),
    FLAG("  --smbd                  sends Read depths in the Private Data of plain frames, as [MS-SMBD] does\n",
         stream.smbd),
    TEXT("  --streaming HEX         sends this message over TCP before MPA starts (the connecting side sends first)\n",
         stream.streaming),
    NUMBER("  --streaming-octets N    length of the peer's message over TCP\n", stream.streaming_octets, 0,
           STREAM_NUMBER_MOST),
    FLAG("  --markers               asks the peer to send Markers\n", stream.markers),
    FLAG("  --no-crc                does not ask for CRCs\n", stream.no_crc),
    NUMBER("  --ird N                 depth of inbound Reads (4); 16383: not negotiated\n", stream.ird, 0,
           STREAM_NUMBER_MOST),
    NUMBER("  --ord N                 depth of outbound Reads (4); 16383: not negotiated\n", stream.ord, 0,
           STREAM_NUMBER_MOST),
    FLAG("  --p2p                   asks for the peer-to-peer model\n", stream.p2p),
    TEXT("  --rtr LIST              RTR messages: send,write,read (all)\n", stream.rtr),
    TEXT(PEER_HELP_PRIVATE_DATA, stream.private_data),
    TEXT("  --accept HOW            auto, manual (the upper tester decides) or reject\n", stream.accept),
    FLAG("  --echo                  sends each received Send back\n", stream.echo),
    NUMBER("  --receives N            receives posted on each stream (16)\n", stream.receives, 0, STREAM_NUMBER_MOST),
    NUMBER("  --receive-octets N      size of each receive (4096)\n", stream.receive_octets, 0, STREAM_NUMBER_MOST),
    NUMBER("  --emss N                uses this as TCP's effective maximum segment size\n", stream.emss, 0,
           STREAM_NUMBER_MOST),
};

enum { TABLES = 3 };

static const struct option_table place_table = {
    .head = "Runs the reference iWARP stack as a responder or initiator over kernel TCP or SCTP; with --cm, a CM agent "
            "over UDP.\n\n",
    .rows = place_rows,
    .count = sizeof(place_rows) / sizeof(place_rows[0])};
static const struct option_table stream_table = {
    .head = "", .rows = stream_rows, .count = sizeof(stream_rows) / sizeof(stream_rows[0])};
static const struct option_table sctp_table = {
    .head = "", .rows = sctp_rows, .count = sizeof(sctp_rows) / sizeof(sctp_rows[0])};

/* Without the usage line. -1: it could not be written. */
static int print_rows(FILE *out)
{
    return option_table_print(&place_table, out) | option_table_print(&sctp_table, out) |
           option_table_print(&stream_table, out) | option_table_print(&cmd_peer_cm_table, out);
}

int peer_options_print(const char *program)
{
    printf("usage: %s [--listen PORT | --connect ADDRESS:PORT] [--control PORT|PATH] [OPTION...]\n", program);
    return print_rows(stdout) == 0 ? EXIT_DONE : EXIT_ENVIRONMENT;
}

/* -1 with the sentence about an argument that no table knows. */
static int unknown(const char *argument, struct iwarp_sentence *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out;

    if (option_table_has(&place_table, argument) || option_table_has(&stream_table, argument) ||
        option_table_has(&sctp_table, argument))
        return iwarp_sentence_set(error, "%.60s cannot stand with --cm, see --help", argument);
    out = text_stream_open(&text, &size);
    if (out != NULL) {
        (void)print_rows(out);
        (void)text_stream_close(out, &text);
    }
    (void)option_unknown(NULL, argument, text != NULL ? text : "", NULL, error);
    free(text);
    return -1;
}

int peer_options_read(const struct option_table *const *tables, size_t count, void *options, const char **first,
                      int argc, char **argv, struct iwarp_sentence *error)
{
    for (int i = 1; i < argc;) {
        const char *argument = argv[i];
        size_t table = 0;

        if (argument[0] != '-' || argument[1] == '\0')
            return iwarp_sentence_set(error, "'%.60s' is no option, see --help", argument);
        while (table < count && !option_table_has(tables[table], argument))
            table++;
        if (table == count)
            return unknown(argument, error);
        if (option_table_parse(tables[table], options, argc, argv, &i, error) < 0)
            return -1;
        if (first != NULL && *first == NULL && table + 1 == count)
            *first = argument;
    }
    return 0;
}

int peer_options_parse(struct peer_options *options, int argc, char **argv, struct iwarp_sentence *error)
{
    static const struct option_table *const tables[TABLES] = {&place_table, &stream_table, &sctp_table};
    struct peer_stream_options *stream = &options->stream;

    *options = (struct peer_options){.listen = UINT64_MAX, .memory_mib = MEMORY_MIB, .sctp.udp_port = UINT64_MAX};
    stream->rev = stream->streaming_octets = stream->ird = stream->ord = UINT64_MAX;
    stream->receives = stream->receive_octets = stream->emss = UINT64_MAX;
    if (peer_options_read(tables, TABLES, options, &options->sctp.first, argc, argv, error) != 0)
        return -1;
    if (options->help || options->list_defects || options->list_variants)
        return 0;
    if (options->listen == UINT64_MAX && options->connect == NULL && options->control == NULL)
        return iwarp_sentence_set(error, "--listen, --connect or --control was expected, see --help");
    return 0;
}

static json_t *list_of(const char *text)
{
    json_t *list = json_array();

    for (const char *at = text; list != NULL && *at != '\0';) {
        size_t octets = strcspn(at, ",");

        (void)json_array_append_new(list, json_stringn(at, octets));
        at += octets;
        at += *at == ',';
    }
    return list;
}

json_t *peer_options_members(const struct peer_stream_options *stream)
{
    const struct {
        const char *name;
        bool given;
        json_t *value;
    } members[] = {
#define NUMBER_MEMBER(name) {#name, stream->name != UINT64_MAX, json_integer((json_int_t)stream->name)}
#define TEXT_MEMBER(name)                                                                                              \
    {                                                                                                                  \
#name, stream->name != NULL, json_string(stream->name != NULL ? stream->name : "")                             \
    }
        NUMBER_MEMBER(rev),
        {"enhanced", stream->plain, json_false()},
        {"rev0", stream->rev0, json_true()},
        {"smbd", stream->smbd, json_true()},
        TEXT_MEMBER(streaming),
        NUMBER_MEMBER(streaming_octets),
        {"markers", stream->markers, json_true()},
        {"crc", stream->no_crc, json_false()},
        NUMBER_MEMBER(ird),
        NUMBER_MEMBER(ord),
        {"p2p", stream->p2p, json_true()},
        {"rtr", stream->rtr != NULL, list_of(stream->rtr != NULL ? stream->rtr : "")},
        TEXT_MEMBER(private_data),
        TEXT_MEMBER(accept),
        {"echo", stream->echo, json_true()},
        NUMBER_MEMBER(receives),
        NUMBER_MEMBER(receive_octets),
        NUMBER_MEMBER(emss),
    };
    json_t *object = json_object();
    int failed = 0;

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (members[i].given)
            failed |= json_object_set(object, members[i].name, members[i].value);
        json_decref(members[i].value);
    }
    if (failed == 0)
        return object;
    json_decref(object);
    return NULL;
}

int peer_options_sctp(const struct peer_options *options, struct driver_config *driver, struct iwarp_sentence *error)
{
    const struct peer_sctp_options *sctp = &options->sctp;
    struct iwarp_association_config *association = &driver->peer.association;
    bool has_port = sctp->udp_port != UINT64_MAX;

    if (!options->over_sctp)
        return sctp->first == NULL
                   ? 0
                   : iwarp_sentence_set(error, "%.*s is for --llp sctp", (int)strcspn(sctp->first, "="), sctp->first);
    iwarp_association_config_default(association, sctp->draft ? IWARP_SCTP_DRAFT02 : IWARP_SCTP_RFC5043);
    association->any_indication = sctp->any;
    if (sctp->indicated) {
        association->indicate = sctp->indication != 0;
        if (association->indicate)
            association->indication = (uint32_t)sctp->indication;
    }
    if (association->indication == DDP_SCTP_INDICATION_DDP_RDMA && !sctp->draft)
        return iwarp_sentence_set(error, "--sctp-indication 2 is for --sctp-profile draft02");
    if (sctp->streams != 0)
        association->streams = (uint16_t)sctp->streams;
    if (sctp->pending != 0)
        association->pending_max = (unsigned)sctp->pending;
    if (sctp->mtu != 0)
        association->mtu = sctp->mtu;
    if (sctp->kernel && has_port)
        return iwarp_sentence_set(error,
                                  "--udp-port is for --sctp-stack user: the kernel's is sysctl net.sctp.udp_port");
    driver->sctp.on = true;
    driver->sctp.kernel = sctp->kernel;
    driver->sctp.udp_port = has_port ? (uint16_t)sctp->udp_port : SCTP_UDP_PORT;
    driver->sctp.peer_udp_port = sctp->peer_udp_port != 0 ? (uint16_t)sctp->peer_udp_port
                                 : sctp->kernel           ? 0
                                                          : SCTP_UDP_PORT;
    return 0;
}
