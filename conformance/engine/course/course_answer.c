/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/course/course_answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/course/course_findings.h"
#include "conformance/engine/course/course_run.h"
#include "conformance/requirements/named.h"
#include "reference-stack/defects/defect.h"

/* What the words say; what is not asked for stays empty. */
struct given {
    const struct requirement *requirement;
    uint64_t frame;
    const char *role, *script;
};

static int count_asked(unsigned asks)
{
    int count = 0;

    for (; asks != 0; asks >>= 1)
        count += (int)(asks & 1);
    return count;
}

static int frame_read(const char *word, uint64_t *frame, struct iwarp_sentence *why)
{
    char *end;

    errno = 0;
    *frame = strtoull(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0 || *frame == 0)
        return iwarp_sentence_set(why, "\"%.40s\" is no number of a frame", word);
    return 0;
}

static int words_read(const struct course_exercise *exercise, const struct catalogue *catalogue, char **words,
                      int count, struct given *given, struct iwarp_sentence *why)
{
    if (count != count_asked(exercise->asks))
        return iwarp_sentence_set(why, "exercise %u asks for %s", exercise->number, course_asks_text(exercise));
    if (exercise->asks & COURSE_ASKS_REQUIREMENT) {
        given->requirement = requirement_named(catalogue, *words);
        if (given->requirement == NULL)
            return requirement_not_found(catalogue, *words, why);
        words++;
    }
    if (exercise->asks & COURSE_ASKS_FRAME && frame_read(*words++, &given->frame, why) != 0)
        return -1;
    if (exercise->asks & COURSE_ASKS_ROLE) {
        given->role = *words++;
        if (strcmp(given->role, "initiator") != 0 && strcmp(given->role, "responder") != 0)
            return iwarp_sentence_set(why, "\"%.40s\": initiator or responder was expected", given->role);
    }
    if (exercise->asks & COURSE_ASKS_SCRIPT)
        given->script = *words;
    return 0;
}

/*
 * ---- captures and peers: what the audit finds -----------------------------------------------------------------------
 */

static enum course_judgement judge_finding(const struct course_exercise *exercise, const struct catalogue *catalogue,
                                           const struct given *given, struct iwarp_sentence *why)
{
    bool requirement = false, frame = false;
    struct course_findings findings;

    if (course_findings_make(exercise, false, catalogue, &findings, why) != 0)
        return COURSE_FAILED;
    for (size_t i = 0; i < findings.count; i++) {
        const struct course_finding *finding = &findings.found[i];

        if (given->requirement != NULL && given->requirement != finding->requirement)
            continue;
        requirement = true;
        if (given->frame != 0 && given->frame != finding->frame)
            continue;
        frame = true;
        if (given->role == NULL || strcmp(given->role, finding->role) == 0)
            return COURSE_RIGHT;
    }
    if (!requirement)
        (void)iwarp_sentence_set(why, "no frame of this exercise breaks %s",
                                 given->requirement != NULL ? given->requirement->id : "a requirement");
    else if (!frame)
        (void)iwarp_sentence_set(why, "frame %" PRIu64 " is not the first one that is wrong", given->frame);
    else
        (void)iwarp_sentence_set(why, "the %s did not send that", given->role);
    return COURSE_WRONG;
}

/*
 * ---- runs: what the checks find -------------------------------------------------------------------------------------
 */

struct search {
    const char *id;
    bool failed;
};

static void search_result(void *user, const char *id, enum verdict verdict)
{
    struct search *search = user;

    if (verdict == VERDICT_FAIL && strcmp(id, search->id) == 0)
        search->failed = true;
}

/* The checks of that requirement; and if they do not fail, all of them, whose traffic a rule may judge. */
static enum course_judgement judge_run(const struct course_exercise *exercise, const struct given *given,
                                       struct iwarp_sentence *why)
{
    const char *select[1];
    struct search search = {NULL, false};
    int status;

    if (given->requirement == NULL) {
        (void)iwarp_sentence_set(why, "exercise %u asks for the id of a requirement", exercise->number);
        return COURSE_UNCLEAR;
    }
    select[0] = search.id = given->requirement->id;
    for (size_t words = 1; words != SIZE_MAX && !search.failed; words--) {
        if (words == 1 && given->requirement->observability == REQUIREMENT_SPEC)
            continue;
        if (course_run_results(exercise->defect, select, words, true, search_result, &search, &status, why) != 0)
            return COURSE_FAILED;
        if (status == EXIT_ENVIRONMENT && !search.failed && words == 0) {
            (void)iwarp_sentence_set(why, "the checks could not be run");
            return COURSE_FAILED;
        }
    }
    if (search.failed)
        return COURSE_RIGHT;
    (void)iwarp_sentence_set(why, "this device keeps %s, as far as the checks can see", given->requirement->id);
    return COURSE_WRONG;
}

/*
 * ---- the student's check --------------------------------------------------------------------------------------------
 */

struct tally {
    const struct defect *defect;
    size_t passed, failed, other; /* results */
    size_t right;                 /* failed under an id that the defect breaks */
};

static void tally_result(void *user, const char *id, enum verdict verdict)
{
    struct tally *tally = user;

    tally->passed += verdict == VERDICT_PASS;
    tally->failed += verdict == VERDICT_FAIL;
    tally->other += verdict != VERDICT_PASS && verdict != VERDICT_FAIL && verdict != VERDICT_SKIP;
    tally->right += verdict == VERDICT_FAIL && defect_breaks(tally->defect, id);
}

/* 0; -1: the script cannot be used, and the run has printed why; -2: it could not be run, and the sentence says why. */
static int script_try(const char *script, const struct defect *defect, bool good, struct tally *tally,
                      struct iwarp_sentence *why)
{
    const char *words[] = {"--script", script};
    int status;

    *tally = (struct tally){.defect = defect};
    if (course_run_results(good ? NULL : defect->id, words, 2, false, tally_result, tally, &status, why) != 0)
        return -2;
    return status == EXIT_USAGE || (status == EXIT_NOTHING_SELECTED && tally->passed + tally->failed == 0) ? -1 : 0;
}

static enum course_judgement judge_tallies(const struct tally *good, const struct tally *bad,
                                           struct iwarp_sentence *why)
{
    if (good->failed != 0 || good->other != 0 || good->passed == 0)
        (void)iwarp_sentence_set(why,
                                 "the correct stack does not pass this check: try warpcheck run --simulate --script");
    else if (bad->failed == 0)
        (void)iwarp_sentence_set(why, "the device with the hidden defect passes this check, too");
    else if (bad->right == 0)
        (void)iwarp_sentence_set(why, "this check fails, but its id is none that the hidden defect breaks");
    else
        return COURSE_RIGHT;
    return COURSE_WRONG;
}

static enum course_judgement judge_script(const struct course_exercise *exercise, const struct given *given,
                                          struct iwarp_sentence *why)
{
    struct defect_list *list = defect_list_embedded(why);
    const struct defect *defect = list != NULL ? defect_list_find(list, exercise->defect) : NULL;
    enum course_judgement judgement = COURSE_FAILED;
    struct tally good, bad;
    int done;

    if (list != NULL && defect == NULL)
        (void)iwarp_sentence_set(why, "there is no defect for exercise %u", exercise->number);
    if (defect != NULL) {
        done = script_try(given->script, defect, true, &good, why);
        if (done == 0)
            done = script_try(given->script, defect, false, &bad, why);
        if (done == 0)
            judgement = judge_tallies(&good, &bad, why);
        else if (done == -1)
            judgement = COURSE_TOLD;
    }
    defect_list_free(list);
    return judgement;
}

enum course_judgement course_answer_judge(const struct course_exercise *exercise, const struct catalogue *catalogue,
                                          char **words, int count, struct iwarp_sentence *why)
{
    struct given given = {0};

    if (words_read(exercise, catalogue, words, count, &given, why) != 0)
        return COURSE_UNCLEAR;
    switch (exercise->kind) {
    case COURSE_RUN: return judge_run(exercise, &given, why);
    case COURSE_CHECK: return judge_script(exercise, &given, why);
    default: return judge_finding(exercise, catalogue, &given, why);
    }
}
