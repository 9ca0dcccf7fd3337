/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_cause.h"

#include <stddef.h>
#include <string.h>

#include "reports/results/cause.h"
#include "wire/hint.h"

/* The rule's finding is a failure of the device, in this role, with a cause. */
static bool is_of_device(const struct tally_entry *entry, const char *role)
{
    return entry->exercised && (entry->verdict == VERDICT_FAIL || entry->verdict == VERDICT_KNOWN) &&
           entry->role != NULL && strcmp(entry->role, role) == 0 && entry->cause != NULL;
}

/* The best of two causes of framing: one that says what the mistake is, then the one that is seen first. */
static bool is_better(const struct tally_entry *entry, const struct tally_entry *best)
{
    enum hint_framing reading = hint_framing_of(entry->cause);

    if (reading == HINT_NO_FRAMING)
        return false;
    if (best == NULL || reading != hint_framing_of(best->cause))
        return best == NULL || reading > hint_framing_of(best->cause);
    return entry->frame < best->frame;
}

/* The device goes on after an error: what its FPDUs are like then, nobody has agreed with it. */
static bool goes_on(const struct outcome *outcome)
{
    return outcome->cause != NULL && strcmp(outcome->cause, hint_name(HINT_GOES_ON)) == 0;
}

static void adopt(struct outcome *outcome, const char *cause, const char *hint)
{
    if (goes_on(outcome) || hint_framing_of(outcome->cause) >= hint_framing_of(cause))
        return;
    outcome->cause = cause;
    outcome->hint = hint;
}

/* What a text about a frame begins with, and what causes of that kind of frame begin with (wire/hint_field.h). */
static const struct {
    const char *text, *kind;
} frames[] = {
    {"MPA Reply", "reply-"},
    {"MPA Request", "request-"},
    {"Send", "send-"},
    {"RDMA Write", "write-"},
    {"RDMA Read Request", "read-request-"},
    {"RDMA Read Response", "read-response-"},
    {"Atomic Request", "atomic-request-"},
    {"Atomic Response", "atomic-response-"},
};

static bool begins(const char *text, const char *with)
{
    return text != NULL && strncmp(text, with, strlen(with)) == 0;
}

/* A rule finds a field wrong in frames of the kind that came in place of what was expected. */
static bool is_of_frame(const struct tally_entry *entry, const char *actual)
{
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
        if (begins(actual, frames[i].text))
            return begins(entry->cause, frames[i].kind);
    return false;
}

static bool names_frame(const char *actual)
{
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
        if (begins(actual, frames[i].text))
            return true;
    return false;
}

static bool ends(const char *text, const char *with)
{
    size_t octets = strlen(text), least = strlen(with);

    return octets > least && strcmp(text + octets - least, with) == 0;
}

/* Fields by which segments are put together to messages (RFC 5041 4.1 to 4.3, 5.2): what misses then follows. */
static bool is_of_assembly(const struct tally_entry *entry)
{
    static const char *const fields[] = {"-l", "-mo", "-msn", "-qn", "-to"};

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (ends(entry->cause, fields[i]))
            return true;
    return false;
}

/*
 * How much of what comes later a wrong field makes untrusted: whether there is a whole header, whether it is that of its
 * opcode, then which queue it is about, then where a message ends, then its place in the message. 0: nothing.
 */
static unsigned weight_of(const char *cause)
{
    static const char *const places[] = {"-mo", "-msn", "-to", "-opcode"};

    if (cause == NULL)
        return 0;
    if (strcmp(cause, "ddp-header-cut") == 0)
        return 5;
    if (strcmp(cause, "model-wrong") == 0)
        return 4;
    if (ends(cause, "-qn"))
        return 3;
    if (ends(cause, "-l"))
        return 2;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (ends(cause, places[i]))
            return 1;
    return strcmp(cause, "msn-shared") == 0 ? 1 : 0;
}

static bool is_incomplete(const char *cause)
{
    return cause != NULL && (strcmp(cause, "octets-missing") == 0 || begins(cause, "silence-"));
}

/* The check saw no frame in place of another, and no mistake: only what comes of one. */
static bool is_open(const struct outcome *outcome)
{
    return is_incomplete(outcome->cause) || (outcome->cause == NULL && !names_frame(outcome->actual));
}

/* A mistake in the device's frames that rules see, and the check what comes of it. What is known explains nothing new. */
static void adopt_field(struct outcome *outcome, const struct tally *tally, const char *role)
{
    const struct tally_entry *entry, *first = NULL;

    if (outcome->cause != NULL && !cause_is_observation(outcome->cause))
        return;
    for (size_t i = 0; (entry = tally_at(tally, i)) != NULL; i++)
        if (is_of_device(entry, role) && entry->verdict == VERDICT_FAIL && !cause_is_observation(entry->cause) &&
            (is_of_frame(entry, outcome->actual) || (is_open(outcome) && is_of_assembly(entry))) &&
            (first == NULL || entry->frame < first->frame))
            first = entry;
    if (first == NULL)
        return;
    outcome->cause = first->cause;
    outcome->hint = first->hint;
}

/* A field that rules find wrong makes the one untrusted that the check names. */
static void adopt_weightier(struct outcome *outcome, const struct tally *tally, const char *role)
{
    const struct tally_entry *entry;
    unsigned least = weight_of(outcome->cause);

    for (size_t i = 0; least != 0 && (entry = tally_at(tally, i)) != NULL; i++)
        if (is_of_device(entry, role) && entry->verdict == VERDICT_FAIL && weight_of(entry->cause) > least) {
            least = weight_of(entry->cause);
            outcome->cause = entry->cause;
            outcome->hint = entry->hint;
        }
}

void run_cause_adopt(struct outcome *outcome, const struct tally *tally, const char *role,
                     const struct run_services *services)
{
    const struct tally_entry *entry, *best = NULL;
    const char *hint = NULL, *cause;

    if (outcome->verdict != VERDICT_FAIL && outcome->verdict != VERDICT_WARN)
        return;
    cause = run_services_framing(services, &hint);
    adopt(outcome, cause, hint);
    for (size_t i = 0; (entry = tally_at(tally, i)) != NULL; i++)
        if (is_of_device(entry, role) && is_better(entry, best))
            best = entry;
    if (best != NULL)
        adopt(outcome, best->cause, best->hint);
    adopt_weightier(outcome, tally, role);
    adopt_field(outcome, tally, role);
}

/* The FPDU of a device that goes on after an error of start-up: it is no start-up frame, and no CRCs are agreed. */
static void share_goes_on(struct tally *tally, const char *role, const struct outcome *outcome)
{
    const struct tally_entry *entry;

    for (size_t i = 0; goes_on(outcome) && (entry = tally_at(tally, i)) != NULL; i++)
        if (entry->verdict == VERDICT_FAIL && entry->role != NULL && strcmp(entry->role, role) == 0 &&
            (hint_framing_of(entry->cause) != HINT_NO_FRAMING || begins(entry->cause, "reply-") ||
             begins(entry->cause, "request-")))
            tally_because(tally, i, outcome->cause, outcome->hint);
}

/* Start-up frames come before all FPDUs. */
static bool is_of_start(const struct rule *rule)
{
    return (rule->events & ~(1u << FLOW_MPA_START)) == 0;
}

/* Rules that saw what follows from FPDUs that cannot be read as the device meant them. */
static void share_framing(struct tally *tally, const char *role, const char *cause, const char *hint)
{
    const struct tally_entry *entry;

    if (hint_framing_of(cause) != HINT_FRAMING_READ)
        return;
    for (size_t i = 0; (entry = tally_at(tally, i)) != NULL; i++)
        if (entry->verdict == VERDICT_FAIL && entry->role != NULL && strcmp(entry->role, role) == 0 &&
            !is_of_start(entry->rule) && hint_framing_of(entry->cause) == HINT_NO_FRAMING)
            tally_because(tally, i, cause, hint);
}

/*
 * Another rule names the mistake in the same frame, where this one names none; or one that makes untrusted the field
 * that this one names, in that frame or later.
 */
static bool explains(const struct tally_entry *other, const struct tally_entry *entry)
{
    if (other->cause == NULL || other->verdict != VERDICT_FAIL || other->role == NULL || entry->role == NULL ||
        strcmp(other->role, entry->role) != 0)
        return false;
    if (entry->cause == NULL)
        return other->frame == entry->frame;
    return weight_of(entry->cause) != 0 && weight_of(other->cause) > weight_of(entry->cause) &&
           (other->frame < entry->frame || (other->frame == entry->frame && !ends(other->cause, "-l")));
}

/* The check names a mistake that makes untrusted what a rule named, or could not name. */
static bool check_explains(const struct outcome *outcome, const struct tally_entry *entry, const char *role)
{
    return outcome->verdict == VERDICT_FAIL && entry->role != NULL && strcmp(entry->role, role) == 0 &&
           weight_of(entry->cause) != 0 && weight_of(outcome->cause) > weight_of(entry->cause);
}

void run_cause_share(struct tally *tally, const char *role, const struct outcome *outcome,
                     const struct run_services *services)
{
    const struct tally_entry *entry, *other;
    const char *hint = NULL, *cause = run_services_framing(services, &hint);

    share_framing(tally, role, cause, hint);
    share_framing(tally, role, outcome->cause, outcome->hint);
    share_goes_on(tally, role, outcome);
    for (size_t i = 0; (entry = tally_at(tally, i)) != NULL; i++) {
        if (entry->verdict != VERDICT_FAIL)
            continue;
        if (check_explains(outcome, entry, role))
            tally_because(tally, i, outcome->cause, outcome->hint);
        for (size_t k = 0; (other = tally_at(tally, k)) != NULL; k++)
            if (explains(other, entry)) {
                tally_because(tally, i, other->cause, other->hint);
                break;
            }
    }
}
