/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages and receives in pieces, and messages that are copied: what is refused, and who may change what when. */
#include <check.h>
#include <string.h>

#include "reference-stack/core/span_list.h"
#include "tests/unit/verbs_talk.h"

Suite *span_list_suite(void);

static struct verbs_talk talk;
static uint8_t target[64];
static uint32_t stag;

static void opened(void)
{
    verbs_talk_begin(&talk);
    memset(target, 0x5A, sizeof(target));
    ck_assert_int_eq(iwarp_register(talk.context, target, sizeof(target), 31, &stag, &talk.why), 0);
    verbs_talk_open(&talk);
}

static void closed(void)
{
    verbs_talk_end(&talk);
}

static const struct iwarp_completion *completed(uint64_t id)
{
    for (;;) {
        for (size_t i = 0; i < talk.completion_count; i++)
            if (talk.completions[i].id == id)
                return &talk.completions[i];
        verbs_talk_turn(&talk, 100);
    }
}

/* "one, two" in three pieces, one of them empty, into a receive of three pieces. */
START_TEST(send_into_pieces)
{
    uint8_t first[3], second[1], third[16];
    struct iwarp_buffer room[] = {{first, sizeof(first)}, {second, sizeof(second)}, {third, sizeof(third)}};
    struct iwarp_span text[] = {{(const uint8_t *)"one", 3}, {NULL, 0}, {(const uint8_t *)", two", 5}};
    const struct iwarp_completion *received;

    memset(third, 0xA5, sizeof(third));
    ck_assert_int_eq(iwarp_post_receive_pieces(talk.qp[0], 1, room, 3, &talk.why), 0);
    memset(room, 0, sizeof(room)); /* the list itself is the caller's again */
    ck_assert_int_eq(
        iwarp_post_send(talk.qp[1], &(struct iwarp_send){.id = 2, .pieces = text, .piece_count = 3}, &talk.why), 0);
    memset(text, 0, sizeof(text));
    received = completed(1);
    ck_assert_int_eq(received->status, IWARP_STATUS_OK);
    ck_assert_uint_eq(received->octets, 8);
    ck_assert_ptr_null(received->buffer);
    ck_assert_mem_eq(first, "one", 3);
    ck_assert_mem_eq(second, ",", 1);
    ck_assert_mem_eq(third, " two\xA5", 5);
    ck_assert_uint_eq(completed(2)->octets, 8);
}
END_TEST

/* What is copied may change before a single octet is sent. */
START_TEST(write_of_a_copy)
{
    static const uint8_t inlined[8] = {'i', 'n', 'l', 'i', 'n', 'e', 'd', '!'};
    uint8_t text[8];

    memcpy(text, inlined, sizeof(text));
    ck_assert_int_eq(
        iwarp_post_write(
            talk.qp[1],
            &(struct iwarp_write){
                .id = 3, .octets = text, .count = 8, .copy = true, .stag = stag, .to = (uint64_t)(uintptr_t)target},
            &talk.why),
        0);
    memset(text, 0, sizeof(text));
    ck_assert_int_eq(
        iwarp_post_read(
            talk.qp[1],
            &(struct iwarp_read){.id = 4, .source_stag = stag, .source_to = (uint64_t)(uintptr_t)target, .count = 0},
            &talk.why),
        0);
    ck_assert_int_eq(completed(4)->status, IWARP_STATUS_OK);
    ck_assert_mem_eq(target, "inlined!\x5A", 9);
}
END_TEST

/* Pieces that are too many, too long, or not there; octets and pieces at once. Nothing is posted then. */
START_TEST(impossible_pieces_are_refused)
{
    struct iwarp_span many[IWARP_PIECES + 1] = {{0}};
    struct iwarp_span none[] = {{NULL, 4}}, vast[] = {{target, UINT32_MAX}, {target, 1}};
    struct iwarp_buffer nowhere[] = {{NULL, 4}};
    static const char *const sentences[] = {
        "stream: 65 pieces, at most 64 were expected", "stream: piece 0 has 4 octets, but none were given",
        "stream: pieces of more than 2^32 - 1 octets in all", "stream: 2 pieces, but none were given",
        "stream: either octets or pieces were expected, not both"};
    const struct iwarp_send sends[] = {{.pieces = many, .piece_count = IWARP_PIECES + 1},
                                       {.pieces = none, .piece_count = 1},
                                       {.pieces = vast, .piece_count = 2},
                                       {.piece_count = 2},
                                       {.octets = target, .count = 1, .pieces = many, .piece_count = 1}};

    for (size_t i = 0; i < sizeof(sends) / sizeof(sends[0]); i++) {
        const struct iwarp_send *send = &sends[i];
        struct iwarp_write write = {
            .octets = send->octets, .count = send->count, .pieces = send->pieces, .piece_count = send->piece_count};

        ck_assert_int_eq(iwarp_post_send(talk.qp[1], send, &talk.why), -1);
        ck_assert_str_eq(talk.why.text, sentences[i]);
        ck_assert_int_eq(iwarp_post_write(talk.qp[1], &write, &talk.why), -1);
        ck_assert_str_eq(talk.why.text, sentences[i]);
    }
    ck_assert_int_eq(iwarp_post_receive_pieces(talk.qp[0], 1, nowhere, 1, &talk.why), -1);
    ck_assert_str_eq(talk.why.text, sentences[1]);
    ck_assert_int_eq(iwarp_post_receive_pieces(talk.qp[0], 1, NULL, 1, &talk.why), -1);
    ck_assert_int_eq(iwarp_post_receive_pieces(NULL, 1, nowhere, 1, &talk.why), -1);
    iwarp_disconnect(talk.qp[0]);
    ck_assert_int_eq(iwarp_post_receive_pieces(talk.qp[0], 1, nowhere, 0, &talk.why), -1);
}
END_TEST

/* Work that never goes out is flushed; what it held is freed (the sanitised run sees leaks). */
START_TEST(unsent_pieces_are_flushed_and_freed)
{
    struct iwarp_span text[] = {{target, 2}, {target, 3}};
    uint8_t in[8];
    struct iwarp_buffer room[] = {{in, 4}, {in + 4, 4}};

    ck_assert_int_eq(iwarp_post_receive_pieces(talk.qp[0], 1, room, 2, &talk.why), 0);
    /* The responder may not send yet. */
    for (uint64_t id = 2; id < 4; id++)
        ck_assert_int_eq(
            iwarp_post_send(talk.qp[0],
                            &(struct iwarp_send){.id = id, .pieces = text, .piece_count = 2, .copy = id == 3},
                            &talk.why),
            0);
    iwarp_qp_free(talk.qp[1]);
    talk.qp[1] = NULL;
    for (uint64_t id = 1; id < 4; id++)
        ck_assert_int_eq(completed(id)->status, IWARP_STATUS_FLUSHED);
}
END_TEST

Suite *span_list_suite(void)
{
    Suite *suite = suite_create("span_list");
    TCase *tcase = tcase_create("pieces and copies");

    tcase_add_checked_fixture(tcase, opened, closed);
    tcase_add_test(tcase, send_into_pieces);
    tcase_add_test(tcase, write_of_a_copy);
    tcase_add_test(tcase, impossible_pieces_are_refused);
    tcase_add_test(tcase, unsent_pieces_are_flushed_and_freed);
    suite_add_tcase(suite, tcase);
    return suite;
}
