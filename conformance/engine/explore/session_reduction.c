/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_reduction.h"

#include <stdlib.h>
#include <string.h>

/* ---- smaller sessions -------------------------------------------------------------------------------------------- */

/* Counts down to the cut that is asked for: each kind of cut takes those that are its own. */
static bool is_asked(size_t *n, size_t own, size_t *which)
{
    if (*n < own) {
        *which = *n;
        return true;
    }
    *n -= own;
    return false;
}

static void remove_steps(struct session *session, size_t first, size_t count)
{
    memmove(&session->steps[first], &session->steps[first + count],
            (session->step_count - first - count) * sizeof(session->steps[0]));
    session->step_count -= count;
}

/* Runs of steps: half of them, a quarter, ..., one. */
static bool without_steps(struct session *session, size_t *n)
{
    for (size_t length = session->step_count; length > 0; length /= 2) {
        size_t which;

        if (!is_asked(n, (session->step_count + length - 1) / length, &which))
            continue;
        which *= length;
        remove_steps(session, which, which + length > session->step_count ? session->step_count - which : length);
        return true;
    }
    return false;
}

/* The list of members number i; NULL: there are no more. */
static struct session_members *members_of(struct session *session, size_t i)
{
    struct session_members *const own[] = {&session->open, &session->own, &session->word, &session->device,
                                           &session->wrong_start.what};
    const size_t owned = sizeof(own) / sizeof(own[0]);

    if (i < owned)
        return own[i];
    i -= owned;
    if (i < session->region_count)
        return &session->regions[i].members;
    i -= session->region_count;
    if (i >= 3 * session->step_count)
        return NULL;
    return i % 3 == 0   ? &session->steps[i / 3].members
           : i % 3 == 1 ? &session->steps[i / 3].wrong.what
                        : &session->steps[i / 3].wrong.frame;
}

static bool without_all(struct session *session, size_t *n)
{
    struct session_members *members;

    for (size_t i = 0; (members = members_of(session, i)) != NULL; i++)
        if (members->count > 1 && (*n)-- == 0) {
            members->count = 0;
            return true;
        }
    return false;
}

static bool without_member(struct session *session, size_t *n)
{
    struct session_members *members;

    for (size_t i = 0; (members = members_of(session, i)) != NULL; i++) {
        size_t which;

        if (!is_asked(n, members->count, &which))
            continue;
        memmove(&members->at[which], &members->at[which + 1], (members->count - which - 1) * sizeof(members->at[0]));
        members->count--;
        return true;
    }
    return false;
}

/* A region, the ending, the other role. */
static bool without_whole(struct session *session, size_t *n)
{
    if (session->region_count > 0 && (*n)-- == 0) {
        session->region_count--;
        memset(&session->regions[session->region_count], 0, sizeof(session->regions[0]));
        return true;
    }
    if (session->ends != NULL && (*n)-- == 0) {
        session->ends = NULL;
        return true;
    }
    if (session->atomics && (*n)-- == 0) {
        session->atomics = false;
        return true;
    }
    if (session->initiator && (*n)-- == 0) {
        session->initiator = false;
        return true;
    }
    for (size_t i = 0; i < session->region_count; i++)
        if (session->regions[i].access != NULL && (*n)-- == 0) {
            session->regions[i].access = NULL;
            return true;
        }
    return false;
}

/* A number, in steps towards 0: a cut for each that makes it less. */
static bool with_less_of(struct session_member *member, size_t *n)
{
    /* No steps of 1: a number that has to be large would take thousands of them. */
    const int64_t number = member->number, one = number > 0 ? 1 : -1;
    const int64_t less[] = {0, one, number / 2, number - number / 4, number - number / 16};

    if (member->kind != SESSION_NUMBER || strcmp(member->name, "bits") == 0)
        return false;
    for (size_t i = 0; i < sizeof(less) / sizeof(less[0]); i++) {
        bool before = false;

        for (size_t k = 0; k < i; k++)
            before = before || less[k] == less[i];
        if (!before && llabs(less[i]) < llabs(number) && (*n)-- == 0) {
            member->number = less[i];
            return true;
        }
    }
    return false;
}

static bool with_less(struct session *session, size_t *n)
{
    struct session_members *members;

    for (size_t i = 0; (members = members_of(session, i)) != NULL; i++)
        for (size_t k = 0; k < members->count; k++)
            if (with_less_of(&members->at[k], n))
                return true;
    return false;
}

bool session_smaller(const struct session *session, size_t n, struct session *smaller)
{
    *smaller = *session;
    smaller->reaction_count = 0; /* they are those of other octets */
    smaller->untouched = false;
    return without_steps(smaller, &n) || without_whole(smaller, &n) || without_all(smaller, &n) ||
           without_member(smaller, &n) || with_less(smaller, &n);
}

/* ---- do they fail in the same way? ------------------------------------------------------------------------------- */

/* Few at first, since the first that fails in the same way is taken; more where none did. */
enum { TRIED_FIRST = 6, TRIED_AT_ONCE = EXPLORE_BATCH };

struct reducing {
    const struct explore_config *config;
    struct session_device *oracle;
    const char *cause;
    size_t at_once;
    struct session tried[TRIED_AT_ONCE];
    bool fails[TRIED_AT_ONCE], unsound[TRIED_AT_ONCE]; /* by number */
};

static void note_failure(void *user, struct session *session, const struct result *result)
{
    struct reducing *reducing = user;
    char *cause;

    if (!explore_fails(reducing->config, result))
        return;
    cause = explore_cause(result);
    if (cause != NULL && strcmp(cause, reducing->cause) == 0)
        reducing->fails[session->number] = true;
    free(cause);
}

static void note_unsound(void *user, struct session *session, const struct result *result)
{
    struct reducing *reducing = user;

    if (result->verdict != VERDICT_PASS && result->verdict != VERDICT_WARN)
        reducing->unsound[session->number] = true;
}

/* Only those stay that the correct stack serves, or refuses as the texts allow: how many, or -1. */
static int keep_sound(struct reducing *reducing, size_t count, struct iwarp_sentence *error)
{
    struct session_device correct = {0};
    int kept = 0;
    int status =
        session_run(&reducing->config->world, &correct, reducing->tried, count, note_unsound, NULL, reducing, error);

    run_services_free(&correct.services);
    for (size_t i = 0; status == 0 && i < count; i++) {
        if (reducing->unsound[reducing->tried[i].number])
            continue;
        if ((size_t)kept != i)
            reducing->tried[kept] = reducing->tried[i];
        kept++;
    }
    return status == 0 ? kept : -1;
}

/*
 * The sessions that are tried are numbered from 0 on, in the order in which they are wanted. Those that are not sound
 * do not meet the device: on the wire they would be waited for. `drawn`: they are as the generator has drawn them, and
 * meet it. How many are left, or -1.
 */
static int try_all(struct reducing *reducing, size_t count, bool drawn, struct iwarp_sentence *error)
{
    const struct explore_config *config = reducing->config;
    int kept = (int)count;

    memset(reducing->fails, 0, sizeof(reducing->fails));
    memset(reducing->unsound, 0, sizeof(reducing->unsound));
    if (explore_predict(config, reducing->oracle, reducing->tried, count, NULL, error) != 0)
        return -1;
    if (!drawn)
        kept = keep_sound(reducing, count, error);
    if (kept > 0 && session_run(&config->world, config->device, reducing->tried, (size_t)kept, note_failure, NULL,
                                reducing, error) != 0)
        return -1;
    return kept;
}

static struct session *numbered(struct reducing *reducing, size_t count, uint64_t number)
{
    for (size_t i = 0; i < count; i++)
        if (reducing->tried[i].number == number)
            return &reducing->tried[i];
    return NULL;
}

/*
 * From cut `*n` on: 1: `session` is smaller now, and *n is where the next one may be; 2: not by these; 0: none is left;
 * -1.
 */
static int reduce_once(struct reducing *reducing, struct session *session, size_t *n, struct iwarp_sentence *error)
{
    size_t count = 0;
    int kept;

    for (; count < reducing->at_once && session_smaller(session, *n + count, &reducing->tried[count]); count++)
        reducing->tried[count].number = count;
    if (count == 0)
        return 0;
    kept = try_all(reducing, count, false, error);
    for (size_t i = 0; kept >= 0 && i < count; i++) {
        const struct session *smaller = reducing->fails[i] ? numbered(reducing, (size_t)kept, i) : NULL;

        if (smaller == NULL)
            continue;
        *n += i;
        *session = *smaller;
        reducing->at_once = TRIED_FIRST;
        return 1;
    }
    *n += count;
    reducing->at_once = reducing->at_once * 2 < TRIED_AT_ONCE ? reducing->at_once * 2 : TRIED_AT_ONCE;
    return kept < 0 ? -1 : 2;
}

/* Cuts from the first to the last, and again as long as one succeeds. */
static int reduce_all(struct reducing *reducing, struct session *session, struct iwarp_sentence *error)
{
    bool changed = true;

    while (changed) {
        size_t n = 0;
        int status;

        changed = false;
        while ((status = reduce_once(reducing, session, &n, error)) > 0)
            changed = changed || status == 1;
        if (status < 0)
            return -1;
    }
    return 0;
}

/* How often the session fails so when it is played again. -1 with a sentence. */
static int replay(struct reducing *reducing, const struct session *session, struct explore_group *group,
                  struct iwarp_sentence *error)
{
    for (size_t i = 0; i < EXPLORE_REPLAYS; i++) {
        reducing->tried[i] = *session;
        reducing->tried[i].number = i;
    }
    if (try_all(reducing, EXPLORE_REPLAYS, true, error) < 0)
        return -1;
    group->replayed = true;
    group->again = 0;
    for (size_t i = 0; i < EXPLORE_REPLAYS; i++)
        group->again += reducing->fails[i];
    return 0;
}

int session_reduce(const struct explore_config *config, struct session_device *oracle, struct explore_group *group,
                   struct session *session, struct iwarp_sentence *error)
{
    struct reducing *reducing = calloc(1, sizeof(*reducing));
    uint64_t number = session->number;
    int status;

    if (reducing == NULL)
        return iwarp_sentence_set(error, "out of memory for a smaller session");
    reducing->config = config;
    reducing->oracle = oracle;
    reducing->cause = group->cause;
    reducing->at_once = TRIED_FIRST;
    status = replay(reducing, session, group, error);
    if (status == 0)
        status = group->again != EXPLORE_REPLAYS ? 1 : reduce_all(reducing, session, error);
    session->number = number;
    free(reducing);
    return status;
}
