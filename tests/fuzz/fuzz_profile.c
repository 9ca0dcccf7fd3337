/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device's profile of anybody's: what is wrong with it is said once, in a sentence that begins with the path. One
 * that is taken judges results: of verdicts it knows FAIL, WARN and PASS alone, it makes no PASS, a WARN only of a
 * WARN, and an outcome that it names is excused unless that is over.
 */
#include "conformance/engine/profile/profile.h"
#include "tests/fuzz/json.h"

#define TODAY "2026-11-22"

static struct catalogue *catalogue;
static struct pics *pics;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct iwarp_sentence error;

    (void)argc;
    (void)argv;
    FUZZ_HOLDS(catalogue_load(&catalogue, &error) == 0 && pics_load(&pics, &error) == 0);
    return 0;
}

/* Every item as it is while no profile says otherwise: one input has nothing to do with the one before it. */
static void forget_capabilities(void)
{
    struct iwarp_sentence error;

    fuzz_keep_begin();
    for (size_t i = 0; i < pics_count(pics); i++)
        FUZZ_HOLDS(pics_set(pics, pics_at(pics, i)->name, pics_at(pics, i)->fallback, &error) == 0);
    fuzz_keep_end();
}

static void judge(struct profile *profile, const struct result *seen)
{
    char text[DEVIATION_TEXT_OCTETS], digest[OUTCOME_OCTETS];
    struct result result = *seen;

    (void)outcome_digest(seen, digest);
    if (!deviations_judge(&profile->deviations, &result, TODAY, text)) {
        FUZZ_HOLDS(result.verdict == seen->verdict && result.message == seen->message);
        FUZZ_HOLDS(result.finding == seen->finding && result.deviation == seen->deviation);
        return;
    }
    FUZZ_HOLDS(seen->verdict == VERDICT_PASS || seen->verdict == VERDICT_FAIL || seen->verdict == VERDICT_WARN);
    FUZZ_HOLDS(result.verdict == VERDICT_FAIL || result.verdict == VERDICT_KNOWN ||
               (result.verdict == VERDICT_WARN && seen->verdict == VERDICT_WARN));
    FUZZ_HOLDS(result.message != NULL && strlen(text) < sizeof(text));
}

/* The very outcome that an entry names. */
static void judge_own(struct profile *profile, const struct known_deviation *entry)
{
    bool warning = entry->verdict != NULL && strcmp(entry->verdict, "WARN") == 0;
    struct result result = {.id = entry->requirement,
                            .verdict = warning ? VERDICT_WARN : VERDICT_FAIL,
                            .role = entry->role != NULL ? entry->role : "responder",
                            .by = entry->by != NULL ? entry->by : "check",
                            .actual = entry->actual.text,
                            .message = entry->message.text != NULL ? entry->message.text : "something"};
    bool plain = entry->outcome == NULL && (result.actual == NULL || strchr(result.actual, '<') == NULL) &&
                 strchr(result.message, '<') == NULL;

    FUZZ_HOLDS(warning || !plain || strcmp(TODAY, entry->review_by) > 0 ||
               deviations_excuse(&profile->deviations, &result, TODAY));
    judge(profile, &result);
}

static void use(struct profile *profile)
{
    static const char *const ids[] = {"DDP-7.1-01", "RDMAP-4.8-02", "MPA-7.1.2-05"};
    static const char *const roles[] = {"initiator", "responder", NULL};
    struct result result = {.expected = "Terminate DDP / Untagged Buffer Error / Invalid QN (0x1201)",
                            .actual = "no Terminate within 5 s",
                            .message = "a Send to a queue number that does not exist is answered by nothing"};

    FUZZ_HOLDS(profile->name != NULL && profile->interface != NULL && profile->place.port != 0);
    FUZZ_HOLDS(profile->address.family == profile->place.own_address.family && profile->address.family != 0);
    FUZZ_HOLDS(profile->beside_count <= PROFILE_BESIDE_MOST);
    for (size_t i = 0; i < profile->beside_count; i++) {
        FUZZ_HOLDS(profile->beside[i].port != 0);
        FUZZ_HOLDS(profile->beside[i].own_address.family == profile->address.family);
        FUZZ_HOLDS((profile->beside[i].control.family != 0) == (profile->place.control.family != 0));
    }
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        (void)profile_hazard(profile, ids[i], roles[i % 2]);
        for (int verdict = 0; verdict < VERDICT_COUNT; verdict++) {
            result.id = ids[i];
            result.verdict = (enum verdict)verdict;
            result.role = roles[(i + (size_t)verdict) % 3];
            result.by = verdict % 2 == 0 ? "check" : "rule";
            judge(profile, &result);
        }
    }
    for (size_t i = 0; i < profile->deviations.count && i < 8; i++) {
        judge_own(profile, &profile->deviations.entries[i]);
        (void)deviation_unmet(&profile->deviations, i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct profile_context context = {catalogue, pics, TODAY};
    const char *path = fuzz_file(0, data, size);
    struct iwarp_sentence error = {""};
    struct profile profile;

    if (profile_load(&profile, path, &context, &error) == 0) {
        use(&profile);
        profile_free(&profile);
    } else {
        FUZZ_HOLDS(strncmp(error.text, path, strlen(path)) == 0);
    }
    forget_capabilities();
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_json_mutate(data, size, room, seed, false);
}
