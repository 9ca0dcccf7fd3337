/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares a JSON object that a person wrote with the members that it may have. A misspelt member, or one of a wrong
 * type, is refused and never ignored: it would not do what its author expects.
 */
#ifndef CONFORMANCE_ENGINE_JSON_MEMBERS_H
#define CONFORMANCE_ENGINE_JSON_MEMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/sentence.h"

enum json_member_kind {
    MEMBER_TEXT = 1,
    MEMBER_NUMBER = 2, /* without a fraction */
    MEMBER_BOOLEAN = 4,
    MEMBER_LIST = 8,
    MEMBER_OBJECT = 16,
    MEMBER_NULL = 32, /* as if it were not there */
};

struct json_member {
    const char *name;
    unsigned
        kinds; /* of enum json_member_kind; 0: there is no such member any more, and `what` says what stands for it */
    bool required;
    const char *what; /* what belongs there: "a date, YYYY-MM-DD" */
};

/*
 * 0 when `object` is an object that has each required member, and no member but those of the table, each of a kind that
 * the table allows; texts are not empty. Else -1 with one sentence: "FILE: PLACE: what is wrong, what was expected",
 * and the nearest name for one that is unknown. `place` is a path as "known_deviations[3]"; "" for the file as a whole.
 */
int json_members_check(const json_t *object, const struct json_member *members, size_t count, const char *file,
                       const char *place, struct iwarp_sentence *error);

/* 0 when a member's text is one of the names, else -1 with the nearest of them. `at`: "file: place". */
int json_one_of(const char *value, const char *member, const char *const *names, size_t count, const char *at,
                struct iwarp_sentence *error);

/* "a text", "a list", ...: what a value is. */
const char *json_kind_name(const json_t *value);

#endif
