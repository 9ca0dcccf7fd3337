/* SPDX-License-Identifier: BSD-2-Clause */
/* Healthy sessions of DDP over SCTP, in both profiles, and the beginnings of those that something is wrong with. */
#ifndef TESTS_UNIT_SCTP_SESSIONS_H
#define TESTS_UNIT_SCTP_SESSIONS_H

#include <string.h>
#include "tests/unit/rule_case.h"
#include "tests/unit/sctp_talk.h"
#include "wire/rdmap.h"

/* One association; `talk` is what a broken one does otherwise. */
static struct sctp_talk talk;

static inline void give(void *ctx, const uint8_t *octets, size_t count)
{
    conversation_frame(ctx, talk.from, octets, count);
}

static inline void begin(struct conversation *c, bool draft)
{
    sctp_talk_begin(&talk, draft, give, c);
}

/*
 * ---- healthy ------------------------------------------------------------------------------------------------------
 */

static inline void messages(void)
{
    sctp_talk_send(&talk, 0, 1, 40);
    sctp_talk_send(&talk, 1, 1, 41);
    sctp_talk_write(&talk, 0, 1, 42);
    sctp_talk_send(&talk, 0, 1, 43);
    sctp_talk_send(&talk, 1, 1, 44);
}

static inline void end_both(void)
{
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_TERMINATE, NULL);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_TERMINATE, NULL);
}

/* All legal patterns. */
static inline void sessions(struct conversation *c)
{
    begin(c, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "hello");
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "welcome");
    messages();
    end_both();
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ENHANCED_INITIATE, "hello");
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_ENHANCED_ACCEPT, "");
    messages();
    end_both();
    sctp_talk_control(&talk, 0, 2, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 1, 2, DDP_SCTP_REJECT, "no");
    sctp_talk_control(&talk, 0, 3, DDP_SCTP_ENHANCED_INITIATE, "");
    sctp_talk_control(&talk, 1, 3, DDP_SCTP_ENHANCED_REJECT, "no");
    sctp_talk_control(&talk, 0, 0, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 1, 0, DDP_SCTP_TERMINATE, NULL);
    sctp_talk_shutdown(&talk);
}

static inline void drafts(struct conversation *c)
{
    begin(c, true);
    sctp_talk_open(&talk, 2, 1);
    messages();
    sctp_talk_reset(&talk, 0, 1, DDP_SCTP_PPID_DRAFT_CONTROL);
    sctp_talk_send(&talk, 0, 1, 45);
    sctp_talk_reset(&talk, 1, 1, DDP_SCTP_PPID_DRAFT_SEGMENT);
    sctp_talk_send(&talk, 1, 1, 46);
    sctp_talk_shutdown(&talk);
}

/*
 * ---- broken -------------------------------------------------------------------------------------------------------
 */

static inline void open_5043(struct conversation *c)
{
    begin(c, false);
    sctp_talk_open(&talk, 1, 1);
}

static inline void open_session(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
}

static inline void open_draft(struct conversation *c)
{
    begin(c, true);
    sctp_talk_open(&talk, 2, 2);
}

#endif
