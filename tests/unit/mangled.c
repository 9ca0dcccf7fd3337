/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/mangled.h"

#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "conformance/flow/sctp/flow_sctp.h"
#include "tests/unit/stack_sim.h"

/* ---- judging ----------------------------------------------------------------------------------------------------- */

struct judging {
    struct rule_engine *engine;
    struct mangled_verdicts *verdicts;
};

static void keep_result(const struct rule_result *result, void *argument)
{
    struct mangled_verdicts *verdicts = argument;
    size_t i = result->rule->index;

    if ((int)result->verdict <= verdicts->verdict[i])
        return;
    verdicts->verdict[i] = (int)result->verdict;
    (void)snprintf(verdicts->message[i], sizeof(verdicts->message[i]), "%s", result->message);
}

static bool adds_up(const struct flow_octets *octets)
{
    uint64_t sum = octets->delivered + octets->cut + octets->again + octets->late;

    for (size_t i = 0; i < FLOW_REFUSALS; i++)
        sum += octets->refused[i];
    return octets->held == 0 && sum == octets->sent;
}

/* Every frame, and every octet of it, is in one row of the account. */
static bool accounted(const struct mangle_capture *capture, const struct flow_account *account)
{
    uint64_t frames = 0, octets = 0;

    for (unsigned kind = 0; kind < FLOW_MISSING; kind++) {
        struct flow_count sum = flow_account_sum(account, (enum flow_account_kind)kind);

        frames += sum.frames;
        octets += sum.octets;
    }
    for (size_t i = 0; i < capture->count; i++)
        octets -= capture->frames[i].captured;
    return frames == capture->count && octets == 0;
}

static void sink(void *ctx, const struct flow_event *event)
{
    struct judging *judging = ctx;

    rule_engine_event(judging->engine, event);
    if (event->kind == FLOW_SESSION)
        judging->verdicts->user_octets += event->session->count;
    else if (event->kind == FLOW_ULPDU && event->ulpdu->message != NULL)
        judging->verdicts->user_octets += event->ulpdu->message->count;
    else if (event->kind == FLOW_ULPDU)
        judging->verdicts->framed_octets += event->ulpdu->mpa->fpdu.octets;
    else if (event->kind == FLOW_MPA_START)
        judging->verdicts->framed_octets += event->start->octet_count;
    else if (event->kind == FLOW_CM)
        judging->verdicts->messages++;
    if (event->kind != FLOW_END)
        return;
    judging->verdicts->flows++;
    judging->verdicts->kinds |= 1u << event->flow->kind;
    for (unsigned i = 0; i < FLOW_DIRECTIONS && event->flow->kind == FLOW_CONNECTION; i++) {
        judging->verdicts->adds_up = judging->verdicts->adds_up && adds_up(event->flow->half[i].tcp->octets);
        judging->verdicts->stream_octets += event->flow->half[i].tcp->octets->delivered;
    }
    (void)rule_engine_flow_results(judging->engine, event->flow, keep_result, judging->verdicts);
    rule_engine_flow_done(judging->engine, event->flow);
}

void mangled_judge(const struct mangle_capture *capture, bool thorough, struct mangled_verdicts *verdicts)
{
    struct flow_config flow = {.rule_state_octets = rule_state_octets()};
    struct rule_config rules = {.thorough = thorough};
    struct judging judging = {rule_engine_create(&rules), verdicts};
    struct flow_decoder *decoder = flow_decoder_create(&flow, sink, &judging);

    ck_assert(decoder != NULL && judging.engine != NULL);
    memset(verdicts, 0, sizeof(*verdicts));
    memset(verdicts->verdict, -1, sizeof(verdicts->verdict));
    verdicts->adds_up = true;
    mangle_feed(capture, decoder);
    verdicts->adds_up = verdicts->adds_up && accounted(capture, &flow_decoder_totals(decoder)->account);
    verdicts->whole = flow_account_whole(&flow_decoder_totals(decoder)->account);
    verdicts->framed_octets += flow_decoder_totals(decoder)->account.row[FLOW_ROW_ULP].octets;
    flow_decoder_destroy(decoder);
    rule_engine_free(judging.engine);
}

/*
 * ---- sources -------------------------------------------------------------------------------------------------------
 */

/* Keeps the capture when it is of the kind that is wanted. */
static void add(struct mangled_sources *sources, const char *name, struct mangle_capture *capture, bool faulty)
{
    static struct mangled_verdicts verdicts;
    struct mangled_source *source;
    bool fails = false;

    mangled_judge(capture, false, &verdicts);
    for (size_t i = 0; i < rule_count(); i++)
        fails = fails || verdicts.verdict[i] == RULE_FAIL;
    if (fails != faulty) {
        mangle_capture_free(capture);
        return;
    }
    sources->list = realloc(sources->list, (sources->count + 1) * sizeof(*source));
    ck_assert_ptr_nonnull(sources->list);
    source = &sources->list[sources->count++];
    (void)snprintf(source->name, sizeof(source->name), "%s", name);
    source->capture = capture;
    memcpy(source->verdict, verdicts.verdict, sizeof(source->verdict));
    source->kinds = verdicts.kinds;
}

/* Where the exchange of two stacks is captured. */
enum place { AT_RESPONDER, AT_INITIATOR, AT_BOTH_SENDERS, AT_BOTH_RECEIVERS, PLACES };

struct taps {
    struct mangle_capture *capture;
    enum place place;
};

static void take(const struct taps *taps, const uint8_t *frame, size_t octets, uint64_t time_ns)
{
    mangle_add(taps->capture, FLOW_LINK_ETHERNET, time_ns, frame, octets, octets);
}

static void on_sent(void *context, const uint8_t *frame, size_t octets, uint64_t time_ns, bool to_responder)
{
    const struct taps *taps = context;

    if (taps->place == AT_BOTH_SENDERS || taps->place == (to_responder ? AT_INITIATOR : AT_RESPONDER))
        take(taps, frame, octets, time_ns);
}

static void on_delivered(void *context, const uint8_t *frame, size_t octets, uint64_t time_ns, bool to_responder)
{
    const struct taps *taps = context;

    if (taps->place == AT_BOTH_RECEIVERS || taps->place == (to_responder ? AT_RESPONDER : AT_INITIATOR))
        take(taps, frame, octets, time_ns);
}

static void add_exchange(struct mangled_sources *sources, uint64_t seed)
{
    struct taps taps = {mangle_capture_new(), (enum place)(seed % PLACES)};
    struct stack_sim_taps hooks = {on_sent, on_delivered, &taps};
    struct iwarp_sentence sentence = {""};
    char name[80];

    ck_assert_msg(stack_sim_run_tapped(seed, &hooks, &sentence) == 0, "%s", sentence.text);
    (void)snprintf(name, sizeof(name), "exchange %llu", (unsigned long long)seed);
    add(sources, name, taps.capture, false);
    ck_assert_msg(sources->count != 0 && strcmp(sources->list[sources->count - 1].name, name) == 0,
                  "%s: a rule fails two correct stacks", name);
}

void mangled_load(struct mangled_sources *sources, bool faulty, size_t exchanges)
{
    struct iwarp_sentence error;
    glob_t files;

    *sources = (struct mangled_sources){NULL, 0};
    ck_assert_msg(glob("pcaps/*/*.pcap", 0, NULL, &files) == 0, "the tests do not run in the root of the tree");
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct mangle_capture *capture;

        /* Of two copies that differ one has a bad CRC: which one counts depends on which is captured. */
        if (strstr(files.gl_pathv[i], "overlap-differs") != NULL)
            continue;
        capture = mangle_load(files.gl_pathv[i], &error);
        ck_assert_msg(capture != NULL, "%s", error.text);
        add(sources, files.gl_pathv[i], capture, faulty);
    }
    globfree(&files);
    for (size_t i = 0; !faulty && i < exchanges; i++)
        add_exchange(sources, i + 1);
}

void mangled_free(struct mangled_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        mangle_capture_free(sources->list[i].capture);
    free(sources->list);
}
