/* SPDX-License-Identifier: BSD-2-Clause */
/* Days of the calendar by their numbers: seconds of the years to come do not fit into a time_t of 32 bits. */
#include "conformance/engine/option/review_day.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct day {
    int year, month, number; /* from 1 on */
};

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

static int day_read(const char *text, struct day *day)
{
    static const char digits[] = "0123456789";

    if (strlen(text) != 10 || strspn(text, digits) != 4 || strspn(text + 5, digits) != 2 ||
        strspn(text + 8, digits) != 2 || sscanf(text, "%4d-%2d-%2d", &day->year, &day->month, &day->number) != 3)
        return -1;
    return day->month >= 1 && day->month <= 12 && day->number >= 1 &&
                   day->number <= days_of_month(day->year, day->month)
               ? 0
               : -1;
}

int day_check(const char *text)
{
    struct day day;

    return day_read(text, &day);
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
    struct day day = {0};

    if (day_read(today, &day) == 0) {
        for (; days > 0; days--)
            if (++day.number > days_of_month(day.year, day.month)) {
                day.number = 1;
                day.month = day.month % 12 + 1;
                day.year += day.month == 1;
            }
        for (; days < 0; days++)
            if (--day.number == 0) {
                day.month = (day.month + 10) % 12 + 1;
                day.year -= day.month == 12;
                day.number = days_of_month(day.year, day.month);
            }
    }
    (void)snprintf(text, DAY_TEXT_OCTETS, "%04d-%02d-%02d", day.year, day.month, day.number);
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
