/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members of the objects in results.jsonl: texts are cleaned, counts are what a JSON integer holds, and what is absent
 * is left out.
 */
#ifndef REPORTS_MEMBER_H
#define REPORTS_MEMBER_H

#include <jansson.h>
#include <stdint.h>

/* Sets `key` to the cleaned text; NULL leaves the member out. 0 / -1 without memory. */
int member_set_text(json_t *object, const char *key, const char *text);
int member_set_count(json_t *object, const char *key, uint64_t count);

/* NULL when absent or no string. */
const char *member_text(const json_t *object, const char *key);
/* 0 when absent, no integer, or negative. */
uint64_t member_count(const json_t *object, const char *key);

#endif
