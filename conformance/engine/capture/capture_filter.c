/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/capture/capture_filter.h"

#include <pcap/pcap.h>
#include <stdlib.h>

enum { SNAP_OCTETS = 262144, WRONG_OCTETS = 200 };

/* The expression for one link type. */
struct program {
    uint32_t link;
    bool compiled;
    struct bpf_program code;
    char wrong[WRONG_OCTETS]; /* why it could not be */
};

struct capture_filter {
    const char *expression;
    size_t count;
    struct program programs[];
};

static const uint32_t links[] = {
#define LINK(name, number) FLOW_LINK_##name,
    FLOW_LINKS(LINK)
#undef LINK
};

enum { LINKS = sizeof(links) / sizeof(links[0]) };

/* DLT_RAW has other numbers in files than in programs. */
static int dlt_of(uint32_t link)
{
    return link == FLOW_LINK_RAW || link == FLOW_LINK_RAW_12 || link == FLOW_LINK_RAW_14 ? DLT_RAW : (int)link;
}

static void compile(struct program *program, const char *expression)
{
    pcap_t *dead = pcap_open_dead(dlt_of(program->link), SNAP_OCTETS);

    if (dead == NULL) {
        (void)snprintf(program->wrong, sizeof(program->wrong), "out of memory");
        return;
    }
    program->compiled = pcap_compile(dead, &program->code, expression, 1, PCAP_NETMASK_UNKNOWN) == 0;
    if (!program->compiled)
        (void)snprintf(program->wrong, sizeof(program->wrong), "%s", pcap_geterr(dead));
    pcap_close(dead);
}

struct capture_filter *capture_filter_new(const char *expression, struct iwarp_sentence *error)
{
    struct capture_filter *filter = calloc(1, sizeof(*filter) + LINKS * sizeof(filter->programs[0]));
    bool good = false;

    if (filter == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for the filter");
        return NULL;
    }
    filter->expression = expression;
    filter->count = LINKS;
    for (size_t i = 0; i < LINKS; i++) {
        filter->programs[i].link = links[i];
        compile(&filter->programs[i], expression);
        good = good || filter->programs[i].compiled;
    }
    if (good)
        return filter;
    (void)iwarp_sentence_set(error,
                             "--filter \"%.80s\": %s; an expression as tcpdump has it was expected (pcap-filter(7))",
                             expression, filter->programs[0].wrong);
    capture_filter_free(filter);
    return NULL;
}

int capture_filter_wants(const struct capture_filter *filter, const struct flow_frame *frame,
                         struct iwarp_sentence *error)
{
    struct pcap_pkthdr header = {.caplen = (bpf_u_int32)frame->captured, .len = (bpf_u_int32)frame->length};

    for (size_t i = 0; i < filter->count; i++) {
        const struct program *program = &filter->programs[i];

        if (program->link != frame->link)
            continue;
        if (program->compiled)
            return pcap_offline_filter(&program->code, &header, frame->octets) != 0;
        return iwarp_sentence_set(error, "--filter \"%.80s\": link type %u: %s", filter->expression,
                                  (unsigned)frame->link, program->wrong);
    }
    return 1;
}

void capture_filter_free(struct capture_filter *filter)
{
    for (size_t i = 0; filter != NULL && i < filter->count; i++)
        if (filter->programs[i].compiled)
            pcap_freecode(&filter->programs[i].code);
    free(filter);
}
