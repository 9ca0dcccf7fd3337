/* SPDX-License-Identifier: BSD-2-Clause */
/* Days up to which something is excused: written "2027-06-30", compared as texts. */
#ifndef CONFORMANCE_ENGINE_REVIEW_DAY_H
#define CONFORMANCE_ENGINE_REVIEW_DAY_H

#include "wire/sentence.h"

enum { REVIEW_YEARS = 2, DAY_TEXT_OCTETS = 32 };

/* 0 when the text is a calendar day, "YYYY-MM-DD", else -1. */
int day_check(const char *text);

/* `today` that many years later; returns `text`. */
const char *day_later(const char *today, long years, char text[DAY_TEXT_OCTETS]);

/* 0; -1 with a sentence that begins with `at` when the day is none, or later than `today` and REVIEW_YEARS years. */
int review_day_check(const char *day, const char *today, const char *at, struct sentence *error);

#endif
