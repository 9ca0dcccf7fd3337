/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/sctp_log.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "conformance/flow/notation/notation.h"
#include "conformance/flow/sctp/flow_sctp.h"
#include "tests/unit/guard.h"

struct sctp_log sctp_log;

void sctp_log_keep(void *ctx, const uint8_t *octets, size_t count)
{
    (void)ctx;
    ck_assert(sctp_log.frames < FRAMES && count <= sizeof(sctp_log.octets[0]));
    memcpy(sctp_log.octets[sctp_log.frames], octets, count);
    sctp_log.count[sctp_log.frames++] = count;
}

static void note_one(const struct flow_event *event)
{
    char text[NOTATION_MAX], *log = sctp_log.log;
    size_t have = strlen(log);

    ck_assert_ptr_nonnull(event->flow);
    ck_assert((event->flow->half != NULL) == (event->flow->kind == FLOW_STREAM));
    if (event->ulpdu != NULL) /* nothing of MPA is made up */
        ck_assert(event->ulpdu->mpa == NULL && event->ulpdu->message->count == event->ulpdu->length + 2u &&
                  event->flow->half[0].tcp == NULL && flow_start_of(event->flow, event->direction) == NULL);
    if (event->kind == FLOW_END) {
        sctp_log.ends++;
        return;
    }
    if (event->flow->kind == FLOW_STREAM) {
        sctp_log.late = sctp_log.late || event->flow->late;
        sctp_log.roles_known = event->flow->roles_known;
    }
    if (event->kind == FLOW_SCTP || notation_event(event, text, sizeof(text))[0] == '\0')
        return;
    snprintf(log + have, LOG - have, "%s%d %s\n", event->flow->kind == FLOW_STREAM ? "" : "*", (int)event->direction,
             text);
}

void sctp_log_note(void *ctx, const struct flow_event *event)
{
    (void)ctx;
    for (; event != NULL; event = event->next)
        note_one(event);
}

void sctp_log_decode(const size_t *order, size_t count)
{
    struct flow_decoder *decoder = flow_decoder_create(NULL, sctp_log_note, NULL);

    sctp_log.log[0] = '\0';
    sctp_log.ends = 0;
    sctp_log.late = sctp_log.roles_known = false;
    for (size_t i = 0; i < count; i++) {
        size_t n = order != NULL ? order[i] : i;
        uint8_t *placed = guard_place(sctp_log.octets[n], sctp_log.count[n]);
        struct flow_frame frame = {FLOW_LINK_RAW, (i + 1) * 1000, i + 1, placed, sctp_log.count[n], sctp_log.count[n]};

        flow_decoder_frame(decoder, &frame);
        guard_free(placed, sctp_log.count[n]);
    }
    flow_decoder_finish(decoder);
    sctp_log.totals = *flow_decoder_totals(decoder);
    flow_decoder_destroy(decoder);
}

void sctp_log_begin(struct sctp_talk *talk, bool draft)
{
    sctp_log.frames = 0;
    sctp_talk_begin(talk, draft, sctp_log_keep, NULL);
}

void sctp_log_session(struct sctp_talk *talk)
{
    sctp_talk_control(talk, 0, 1, DDP_SCTP_ENHANCED_INITIATE, "hello");
    sctp_talk_control(talk, 1, 1, DDP_SCTP_ENHANCED_ACCEPT, "");
    sctp_talk_send(talk, 0, 1, 10);
    sctp_talk_send(talk, 0, 1, 20);
    sctp_talk_send(talk, 1, 1, 30);
    sctp_talk_control(talk, 0, 1, DDP_SCTP_TERMINATE, NULL);
    sctp_talk_control(talk, 1, 1, DDP_SCTP_TERMINATE, NULL);
}
