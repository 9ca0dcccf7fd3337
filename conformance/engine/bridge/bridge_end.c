/* SPDX-License-Identifier: BSD-2-Clause */
/* What was found, and how the command ends. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/exit_status.h"
#include "base/out_of_memory.h"
#include "conformance/engine/bridge/bridge_internal.h"
#include "reference-stack/program/complaint.h"

void bridge_note(const struct bridge *bridge, bool bad, const char *format, ...)
{
    const struct bridge_options *options = bridge->options;
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (bad)
        (void)complain(0, "%s", text);
    else if (!options->quiet)
        print_plain(format_option_machine(&options->format) ? stderr : stdout, "%s", text);
    (void)fflush(stdout);
}

/*
 * Each judge sees both directions as they are on its link, and what its device sends alone is the device's own doing: the
 * other direction may be the bridge's.
 */
static bool is_of_device(const struct bridge_side *at, const struct judged_result *result)
{
    enum flow_direction direction = (enum flow_direction)result->found->direction;

    if (result->found->both)
        return at->side == 0 && (at->bridge->script == NULL || result->result->verdict == VERDICT_PASS);
    return bridge_place_is(at->bridge, at->side, result->flow, direction);
}

void bridge_append(struct bridge *bridge, const struct result *result)
{
    struct iwarp_sentence error;

    if (judged_output_append(&bridge->output, result, &error) == 0 || bridge->unwritten)
        return;
    bridge->unwritten = true;
    bridge_note(bridge, true, "%s", error.text);
}

void bridge_result(void *user, const struct judged_result *judged)
{
    struct bridge_side *at = user;
    struct bridge *bridge = at->bridge;
    struct result *result = judged->result;

    if (!is_of_device(at, judged))
        return;
    bridge->exercised[judged->requirement->index] = true;
    summary_count(&bridge->counted, result->verdict);
    result->file = at->file;
    bridge_append(bridge, result);
    if (!format_option_machine(&bridge->options->format) &&
        (bridge->options->all || (result->verdict != VERDICT_PASS && result->verdict != VERDICT_AMBIGUOUS))) {
        terminal_result(&bridge->terminal, result, judged->requirement->text);
        (void)fflush(stdout);
    }
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void fill_summary(const struct bridge *bridge, struct run_summary *summary, char ended[UTC_TEXT_OCTETS])
{
    struct flow_totals totals = *flow_decoder_totals(flow_judge_decoder(bridge->sides[0].judge));

    *summary = bridge->counted;
    judged_traffic(summary, &totals);
    flow_totals_add(&totals, flow_decoder_totals(flow_judge_decoder(bridge->sides[1].judge)));
    summary->account = totals.account; /* of both links */
    summary->allow_gaps = bridge->options->allow_gaps;
    for (size_t i = 0; i < catalogue_count(bridge->catalogue); i++)
        if (selection_matches(&bridge->options->selection, catalogue_at(bridge->catalogue, i)))
            summary->not_exercised += !bridge->exercised[i];
    summary->ended = utc_text(ended);
    summary->stopped = bridge->gone ? "an interface went away" : NULL;
}

/* True: an impairment that was asked for did not happen. */
static bool say_impairments(const struct bridge *bridge)
{
    bool missing = false;

    for (size_t i = 0; bridge->script != NULL && i < bridge_script_count(bridge->script); i++) {
        const struct bridge_impairment *impairment = bridge_script_at(bridge->script, i);
        const struct bridge_trigger *trigger = &impairment->trigger;
        bool nothing = impairment->applied == 0;

        missing |= nothing || impairment->broken;
        if (nothing)
            bridge_note(bridge, true, "INCONCLUSIVE  %s was not applied: %s (%" PRIu64 " matched)", impairment->name,
                        impairment->why.text[0] != '\0' ? impairment->why.text : "its trigger did not come",
                        trigger->matched);
        else
            bridge_note(bridge, false, "applied   %s %" PRIu64 " time%s (%" PRIu64 " matched)%s%s", impairment->name,
                        impairment->applied, impairment->applied == 1 ? "" : "s", trigger->matched,
                        impairment->why.text[0] != '\0' ? "; else: " : "", impairment->why.text);
    }
    return missing;
}

static void say_traffic(const struct bridge *bridge)
{
    const struct bridge_interface *a = &bridge->sides[0].interface, *b = &bridge->sides[1].interface;

    bridge_note(bridge, false,
                "A %s: %" PRIu64 " frames in, %" PRIu64 " out; B %s: %" PRIu64 " frames in, %" PRIu64 " out", a->name,
                a->frames, a->sent, b->name, b->frames, b->sent);
    if (bridge->completed != 0)
        bridge_note(bridge, false, "%" PRIu64 " checksums that were left to a network card were completed",
                    bridge->completed);
    if (bridge->streams.unchanged_late != 0)
        bridge_note(bridge, false,
                    "%" PRIu64
                    " segments went before the FPDU was whole that they begin: it was not seen in time (%d ms)",
                    bridge->streams.unchanged_late, BRIDGE_FRAGMENT_MS);
}

/* Why the exit status is what it is, though nothing failed. */
static void explain(const struct bridge *bridge, const struct run_summary *summary)
{
    char gaps[JUDGED_GAPS_OCTETS];

    if (summary->fpdus == 0)
        bridge_note(bridge, true, "no iWARP in %" PRIu64 " frames", summary->frames);
    if (summary_has_gaps(summary))
        bridge_note(bridge, true, "not judged%s, although it is or may be iWARP (--allow-gaps accepts that)",
                    judged_output_gaps(&summary->account, gaps));
}

static bool close_captures(struct bridge *bridge)
{
    struct iwarp_sentence error;
    bool whole = true;

    for (unsigned side = 0; side < BRIDGE_SIDES; side++) {
        struct bridge_side *at = &bridge->sides[side];

        if (at->capture != NULL && pcapng_close(at->capture, &error) != 0) {
            if (!at->cut_short)
                bridge_note(bridge, true, "%s", error.text);
            whole = false;
        }
        at->capture = NULL;
    }
    return whole;
}

int bridge_end(struct bridge *bridge)
{
    const struct bridge_interface *a = &bridge->sides[0].interface, *b = &bridge->sides[1].interface;
    char ended[UTC_TEXT_OCTETS];
    struct run_summary summary;
    struct iwarp_sentence error;
    bool missing, traffic, whole = close_captures(bridge);
    int status;

    bridge_verdicts(bridge);
    traffic = bridge_contents_verdicts(bridge);
    fill_summary(bridge, &summary, ended);
    if (judged_output_end(&bridge->output, &summary, &error) != 0) {
        bridge_note(bridge, true, "%s", error.text);
        whole = false;
    }
    if (judged_output_report(&bridge->output, &bridge->options->format, bridge->catalogue, &error) != 0) {
        bridge_note(bridge, true, "%s", error.text);
        whole = false;
    }
    missing = say_impairments(bridge);
    say_traffic(bridge);
    status = (int)summary_exit_status(&summary);
    if (status != EXIT_FAILS &&
        (bridge->gone || !whole || bridge->unwritten || out_of_memory_noted() || missing || !traffic ||
         bridge->lost != 0 || a->unsent + b->unsent + a->too_long + b->too_long != 0 ||
         bridge->streams.refused + bridge->streams.lost_memory != 0))
        status = EXIT_INCONCLUSIVE;
    bridge->terminal.unfinished = bridge->gone || bridge->unwritten;
    judged_output_summary(&bridge->terminal, &bridge->options->format, &summary,
                          whole ? bridge->options->output : NULL);
    if (status != EXIT_FAILS && status != EXIT_CONFORMS)
        explain(bridge, &summary);
    return status;
}
