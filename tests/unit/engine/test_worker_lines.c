/* SPDX-License-Identifier: BSD-2-Clause */
/* What workers say: lines that come in pieces, many at once, longer than one read, and none at the end. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/process/worker_lines.h"
#include "tests/unit/suites.h"

Suite *worker_lines_suite(void);

enum { LONG_OCTETS = 150000, PIECE_OCTETS = 30000 };

struct heard {
    size_t count, octets;
    char last[16];
    bool refuse;
};

static int take(void *user, const char *line, size_t length, struct iwarp_sentence *error)
{
    struct heard *heard = user;

    heard->count++;
    heard->octets += length;
    (void)snprintf(heard->last, sizeof(heard->last), "%.*s", (int)(length < 15 ? length : 15), line);
    return heard->refuse ? iwarp_sentence_set(error, "no") : 0;
}

static void put(int out, const char *text)
{
    ck_assert_int_eq(write(out, text, strlen(text)), (ssize_t)strlen(text));
}

START_TEST(lines_of_a_worker_come_in_pieces)
{
    struct worker_lines lines = {0};
    struct heard heard = {0};
    struct iwarp_sentence error = {{0}};
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    lines.pipe = ends[0];
    put(ends[1], "one\ntw");
    ck_assert_int_eq(worker_lines_read(&lines, take, &heard, &error), 0);
    ck_assert_uint_eq(heard.count, 1);
    ck_assert_str_eq(heard.last, "one");
    put(ends[1], "o\n\nfour");
    ck_assert_int_eq(worker_lines_read(&lines, take, &heard, &error), 0);
    ck_assert_uint_eq(heard.count, 3);
    ck_assert_uint_eq(heard.octets, 6);
    put(ends[1], "\n");
    ck_assert_int_eq(worker_lines_read(&lines, take, &heard, &error), 0);
    ck_assert_str_eq(heard.last, "four");
    put(ends[1], "torn");
    close(ends[1]);
    ck_assert_int_eq(worker_lines_read(&lines, take, &heard, &error), 0);
    ck_assert_int_eq(worker_lines_read(&lines, take, &heard, &error), 0);
    ck_assert_int_eq(lines.pipe, -1);
    ck_assert_uint_eq(heard.count, 4);
    worker_lines_free(&lines);
}
END_TEST

START_TEST(longest_line_of_a_worker_is_read)
{
    struct worker_lines lines = {0};
    struct heard heard = {0};
    struct iwarp_sentence error = {{0}};
    char piece[PIECE_OCTETS + 1];
    int ends[2];

    memset(piece, 'x', PIECE_OCTETS);
    piece[PIECE_OCTETS] = '\0';
    ck_assert_int_eq(pipe(ends), 0);
    lines.pipe = ends[0];
    for (size_t put_octets = 0; put_octets < LONG_OCTETS; put_octets += PIECE_OCTETS) {
        put(ends[1], piece);
        ck_assert_int_eq(worker_lines_read(&lines, take, &heard, &error), 0);
    }
    ck_assert_uint_eq(heard.count, 0);
    put(ends[1], "\nnext\n");
    heard.refuse = true;
    ck_assert_int_eq(worker_lines_read(&lines, take, &heard, &error), -1);
    ck_assert_str_eq(error.text, "no");
    ck_assert_uint_eq(heard.octets, LONG_OCTETS);
    close(ends[1]);
    worker_lines_free(&lines);
    ck_assert_int_eq(lines.pipe, -1);
}
END_TEST

Suite *worker_lines_suite(void)
{
    Suite *suite = suite_create("worker_lines");
    TCase *lines = tcase_create("lines");

    tcase_add_test(lines, lines_of_a_worker_come_in_pieces);
    tcase_add_test(lines, longest_line_of_a_worker_is_read);
    suite_add_tcase(suite, lines);
    return suite;
}
