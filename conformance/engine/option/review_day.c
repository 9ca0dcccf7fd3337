/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* timegm */
#include "conformance/engine/option/review_day.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int day_check(const char *text)
{
    struct tm day = {0}, same;
    time_t seconds;

    if (strlen(text) != 10 || text[4] != '-' || text[7] != '-' || strspn(text, "0123456789-") != 10 ||
        sscanf(text, "%4d-%2d-%2d", &day.tm_year, &day.tm_mon, &day.tm_mday) != 3)
        return -1;
    day.tm_year -= 1900;
    day.tm_mon -= 1;
    same = day;
    seconds = timegm(&same);
    return seconds != (time_t)-1 && same.tm_year == day.tm_year && same.tm_mon == day.tm_mon &&
                   same.tm_mday == day.tm_mday
               ? 0
               : -1;
}

const char *day_later(const char *today, long years, char text[DAY_TEXT_OCTETS])
{
    (void)snprintf(text, DAY_TEXT_OCTETS, "%04ld%.6s", strtol(today, NULL, 10) + years, today + 4);
    if (day_check(text) != 0) /* a 29 February of a year without one */
        memcpy(text + 8, "28", 2);
    return text;
}

const char *day_after(const char *today, long days, char text[DAY_TEXT_OCTETS])
{
    struct tm day = {0};

    if (sscanf(today, "%4d-%2d-%2d", &day.tm_year, &day.tm_mon, &day.tm_mday) == 3) {
        time_t seconds;

        day.tm_year -= 1900;
        day.tm_mon -= 1;
        day.tm_mday += (int)days;
        seconds = timegm(&day);
        (void)gmtime_r(&seconds, &day);
    }
    (void)strftime(text, DAY_TEXT_OCTETS, "%Y-%m-%d", &day);
    return text;
}

int review_day_check(const char *day, const char *today, const char *at, struct iwarp_sentence *error)
{
    char limit[DAY_TEXT_OCTETS];

    if (day_check(day) != 0)
        return iwarp_sentence_set(error, "%s: \"review_by\" is \"%.20s\", a calendar day, YYYY-MM-DD, was expected", at,
                                  day);
    if (strcmp(day, day_later(today, REVIEW_YEARS, limit)) > 0)
        return iwarp_sentence_set(error,
                                  "%s: \"review_by\" is %s, a day in the next %d years, %s at the latest, was expected",
                                  at, day, REVIEW_YEARS, limit);
    return 0;
}
