/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/rules/rule_field.h"

#include <string.h>

#include "wire/hint_seen.h"

/* clang-format off */
static const struct {
    const char *id, *field;
} judged[] = {
    {"DDP-4.1-06", "L"},            {"DDP-4.1-07", NULL},    {"DDP-4.1-10", "Rsvd"},    {"DDP-4.2-11", "STag"},
    {"DDP-4.3-11", "MSN"},          {"DDP-4.3-12", "MSN"},   {"DDP-4.3-16", "MO"},      {"DDP-5.2-06", "MO"},
    {"DDP-5.2-08", "TO"},           {"RDMAP-4.1-19", "Rsv"}, {"RDMAP-5.3-11", "QN"},    {"RDMAP-4.4-03", "STag"},
    {"RDMAP-4.4-04", "TO"},         {"ATOM-4.1-04", "QN"},   {"ATOM-5.2.1-17", "MSN"},  {"ATOM-5.2.2-05", "MSN"},
    {"ATOM-5.2.2-02", "RequestId"}, {"ATOM-6.3-04", "QN"},   {"RDMAP-6580.3.4-01", "Opcode"},
    {"DDP-4.2-06", "RsvdULP"},      {"DDP-4.3-05", "RsvdULP"}, {"DDP-4.3-14", "MSN"},   {"MPA-7.1.1-21", "Rev"},
    {"EMPA-6-06", "Rev"},           {"MPA-7.1.1-32", "PD_Length"}, {"EMPA-10-01", "S"},     {"EMPA-6-03", "Res"},
    {"EMPA-6-07", "S"},             {"EMPA-6-11", "S"},
    {"MPA-7.1.1-04", "Key"},        {"MPA-7.1.1-19", "Res"}, {"DDP-4.1-04", "L"},       {"EMPA-9.2-28", "A"},
    {"ATOM-4.1-08", NULL}, /* NULL: odd_field() */
};

/* More than one field, and one fault: as checks call it, too (scripts/lib/4-causes.lua). NULL: the words of an observation. */
static const struct {
    const char *id;
    struct hint_field cause;
} shared[] = {
    {"RDMAP-4.8-03",      {"terminate-unregistered", "Terminates have an error that no text registers"}},
    {"RDMAP-6580.3.1-01", {"terminate-unregistered", "Terminates have an error that no text registers"}},
    {"RDMAP-6580.3.2-01", {"terminate-unregistered", "Terminates have an error that no text registers"}},
    {"RDMAP-6580.3.3-01", {"terminate-unregistered", "Terminates have an error that no text registers"}},
    {"EMPA-8-02",         {"terminate-unregistered", "Terminates have an error that no text registers"}},
    {"DDP-4.4-01",        {"ddp-header-cut", "segments are shorter than a DDP header"}},
    {"RDMAP-4.5-01",      {"octets-otherwise", NULL}},
    {"MPA-4.1-03",        {"pad-not-zero", "the pad of FPDUs is not zero"}},
    {"MPA-7.1.2-04",      {"reply-for-end", "an MPA Reply in place of the end of the stream"}},
    {"MPA-7.1.2-17",      {"responder-sends-first", "the responder sends an FPDU before it had one"}},
    {"MPA-7.1.2-18",      {"responder-sends-first", "the responder sends an FPDU before it had one"}},
    {"SCTP-2.1-03",       {"indication-wrong", "the Adaptation Layer Indication is not DDP's"}},
    {"SCTP-2.1-05",       {"indication-wrong", "the Adaptation Layer Indication is not DDP's"}},
    {"SCTP5043-5.1-05",   {"indication-wrong", "the Adaptation Layer Indication is not DDP's"}},
};
/* clang-format on */

/* The kind of the message or start-up frame that the event is about; HINT_OF_COUNT: it is of none. */
static enum hint_kind_of kind_of(const struct flow_event *event)
{
    if (event->kind == FLOW_MPA_START)
        return event->direction == FLOW_FROM_INITIATOR ? HINT_OF_REQUEST : HINT_OF_REPLY;
    if (event->kind == FLOW_DDP || event->kind == FLOW_RDMAP)
        return hint_kind_of_opcode(event->ddp->segment.control & 0x0F);
    return HINT_OF_COUNT;
}

/*
 * Which of several fields it is that a rule found wrong. The last of several segments is never the one with MO 0. Else
 * the first field that has one value in all segments, and has another.
 */
static const char *odd_field(const char *id, const struct flow_event *event)
{
    const struct ddp_segment *segment = &event->ddp->segment;

    if (strcmp(id, "DDP-4.1-07") == 0)
        return segment->mo == 0 ? "MO" : "L";
    return segment->reserved != 0 ? "Rsvd" : segment->version != DDP_VERSION ? "DV" : "Rsv";
}

bool rule_field_cause(const char *id, const struct flow_event *event, struct hint_field *found)
{
    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
        if (strcmp(shared[i].id, id) == 0) {
            *found = shared[i].cause;
            if (found->text == NULL)
                found->text = hint_seen_words(found->name);
            return true;
        }
    for (size_t i = 0; i < sizeof(judged) / sizeof(judged[0]); i++)
        if (strcmp(judged[i].id, id) == 0)
            return hint_field(kind_of(event), judged[i].field != NULL ? judged[i].field : odd_field(id, event), found);
    return false;
}
