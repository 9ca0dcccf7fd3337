/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_bridge.c: the command and its privileges; bridge_loop.c: frames and time; bridge_impair.c: what scripts do to them,
 * bridge_impair_sctp.c: over SCTP;
 * bridge_place.c: which device is where; bridge_verdict.c: what became of impairments; bridge_contents.c: of what was sent;
 * bridge_traffic.c and bridge_exchange.c: traffic of its own;
 * bridge_end.c: findings, summary and exit status.
 */
#ifndef CONFORMANCE_ENGINE_BRIDGE_INTERNAL_H
#define CONFORMANCE_ENGINE_BRIDGE_INTERNAL_H

#include "conformance/engine/bridge/bridge_interface.h"
#include "conformance/engine/bridge/bridge_options.h"
#include "conformance/engine/bridge/bridge_script.h"
#include "conformance/engine/bridge/bridge_traffic.h"
#include "conformance/engine/judge/flow_judge.h"
#include "conformance/engine/report/judged_output.h"
#include "generator/packet/pcapng.h"
#include "reports/writers/terminal.h"

enum { BRIDGE_FRAME_ROOM = BRIDGE_SNAP_OCTETS + 64, BRIDGE_ID_OCTETS = 80 };

struct bridge;
struct bridge_place;

/* A link with a device on it: what the device sends, and what it gets. */
struct bridge_side {
    struct bridge *bridge;
    unsigned side; /* 0: A, 1: B */
    struct bridge_interface interface;
    struct flow_judge *judge; /* of both directions as they are on this link */
    struct pcapng *capture;   /* NULL: none */
    bool cut_short;           /* it could not be written any more, which was said */
    uint64_t frames;          /* of the link: numbers of the judge and of the capture */
    char file[40];            /* for findings: that of the capture, or the interface */
};

struct bridge {
    const struct bridge_options *options;
    const struct catalogue *catalogue;
    struct catalogue
        *rows;       /* `catalogue`, with a row for each impairment that says what is allowed; NULL: there is none */
    size_t selected; /* requirements */
    struct bridge_side sides[BRIDGE_SIDES];
    struct bridge_streams streams;
    struct bridge_sctp sctp;
    struct bridge_script *script; /* NULL: nothing is impaired */
    struct bridge_traffic traffic;
    struct bridge_place *places;
    size_t place_count;
    struct terminal terminal;
    struct judged_output output;
    struct run_summary counted;
    bool *exercised;     /* by index in the catalogue */
    uint8_t *frame;      /* BRIDGE_FRAME_ROOM: the one that is forwarded */
    uint8_t *raw;        /* BRIDGE_UNIT_OCTETS_MOST: an FPDU as it came */
    uint8_t *written;    /* the same: as it goes */
    const char *comment; /* of the next frame in a capture; NULL: none */
    char done[200];
    struct bridge_connection *closing;       /* after this frame */
    struct bridge_association *closing_sctp; /* the same */
    bool resets, releases;                   /* the same */
    uint64_t frames;                         /* that came in, on both sides */
    uint64_t ends_ns, second_ns, streams_ns; /* when it ends (0: it is not to), when time is due next */
    uint64_t completed;                      /* checksums that were left to a card */
    uint64_t lost, lost_reported;
    bool gone, unwritten, long_reported, traffic_over;
};

/* bridge_loop.c: until it is stopped, its time is over or no interface is left. */
void bridge_run(struct bridge *bridge);
/* Of struct bridge_streams. */
void bridge_send(void *user, unsigned side, uint8_t *frame, size_t octets, bool changed);

/* bridge_impair.c: of struct flow_judge_config; `user` is a struct bridge_side. */
void bridge_event(void *user, const struct flow_event *event);
/* Of struct bridge_streams. */
void bridge_expired(void *user, const struct bridge_expiry *expiry);
/* What cannot be done while an event is looked at. */
void bridge_impair_settle(struct bridge *bridge);

/*
 * Asks each impairment about an event and those that follow from it. The last one that is due, and says so in a line; NULL: none.
 */
struct bridge_impairment *bridge_impair_ask(struct bridge_side *at, struct bridge_call *call,
                                            const struct flow_event *head);
/*
 * After what was wanted of a unit: `last` owns what its direction waits for, unless an older one does, and what has to be
 * done at the end of the frame is noted.
 */
void bridge_impair_settled(struct bridge *bridge, const struct bridge_call *call, enum bridge_wait wait, void **owner,
                           struct bridge_impairment *last);
/* After that: what was wanted cannot be done, and why. NULL is allowed. */
void bridge_impair_failed(struct bridge_impairment *impairment, const char *why);
/* The last of an event's chain, which says most about it. */
const struct flow_event *bridge_impair_whole(const struct flow_event *event);
/* What a device at this side does on a stream of which something was impaired. */
void bridge_impair_terminated(struct bridge_side *at, uint64_t stream, const struct flow_event *whole);
void bridge_impair_closed(struct bridge_side *at, uint64_t stream, bool reset);

/* bridge_impair_sctp.c: the same for events of associations, and of the streams in them. */
void bridge_event_sctp(struct bridge_side *at, const struct flow_event *event);

/* bridge_place.c: an address was seen as the sender of a frame that came in at this side. */
void bridge_place_note(struct bridge *bridge, unsigned side, const struct bridge_packet *packet);
/* Whether the sender of this direction is at this side. */
bool bridge_place_is(const struct bridge *bridge, unsigned side, const struct flow *flow,
                     enum flow_direction direction);
void bridge_places_free(struct bridge *bridge);

/* bridge_end.c: of struct flow_judge_config; `user` is a struct bridge_side. */
void bridge_result(void *user, const struct judged_result *result);
/* Writes a result; the first that cannot be written is said. */
void bridge_append(struct bridge *bridge, const struct result *result);
/* A line for people: on standard output, or standard error where that is for machines, or `bad`. */
__attribute__((format(printf, 3, 4))) void bridge_note(const struct bridge *bridge, bool bad, const char *format, ...);
int bridge_end(struct bridge *bridge);

/* bridge_verdict.c: bridge->catalogue gets the rows. 0, or -1 with a sentence. */
int bridge_verdict_rows(struct bridge *bridge, struct iwarp_sentence *error);
/* A row of these: `text` is what it says. */
void bridge_verdict_row(const char *id, const char *text, FILE *out);
/* A result for each impairment that says what is allowed, a line and a count with those of the rules. */
void bridge_verdicts(struct bridge *bridge);
/* Writes and counts a result of such a row. */
void bridge_verdict_add(struct bridge *bridge, const struct result *result);

/* bridge_contents.c: the same for what both ends of the command's own connections hold. False: some were not made. */
void bridge_contents_rows(const struct bridge *bridge, FILE *out);
bool bridge_contents_verdicts(struct bridge *bridge);

#endif
