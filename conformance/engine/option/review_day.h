/* SPDX-License-Identifier: BSD-2-Clause */
/* Days up to which something is excused, that day included: written "2027-06-30", compared as texts. */
#ifndef CONFORMANCE_ENGINE_REVIEW_DAY_H
#define CONFORMANCE_ENGINE_REVIEW_DAY_H

#include "base/sentence.h"

enum { REVIEW_YEARS = 2, DAY_TEXT_OCTETS = 32 };

/* 0 when the text is a calendar day, "YYYY-MM-DD", else -1. */
int day_check(const char *text);

/* `today` so many days later, or earlier; returns `text`. */
const char *day_after(const char *today, long days, char text[DAY_TEXT_OCTETS]);

/* The same day that many years after `today`, of a 29 February the 28th; returns `text`. */
const char *day_later(const char *today, long years, char text[DAY_TEXT_OCTETS]);

/* 0; -1 with a sentence that begins with `at` when the day is none, or later than `today` and REVIEW_YEARS years. */
int review_day_check(const char *day, const char *today, const char *at, struct iwarp_sentence *error);

#endif
