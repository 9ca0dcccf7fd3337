/* SPDX-License-Identifier: BSD-2-Clause */
/* Defects as data: the file that is carried, rows that are wrong, and what defects do to what is sent. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/core/stream_internal.h"
#include "reference-stack/defects/defect.h"
#include "reference-stack/defects/defect_internal.h"
#include "reference-stack/defects/defect_judge.h"
#include "tests/unit/stream_pair.h"
#include "tests/unit/suites.h"
#include "wire/atomic.h"
#include "wire/crc32c.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "base/octets.h"
#include "wire/rdmap.h"

Suite *defect_suite(void);

START_TEST(carried_rows_compile)
{
    struct iwarp_sentence sentence = {""};
    struct defect_list *list = defect_list_embedded(&sentence);

    ck_assert_msg(list != NULL, "%s", sentence.text);
    ck_assert_uint_gt(defect_list_count(list), 150);
    for (size_t i = 0; i < defect_list_count(list); i++) {
        const struct defect *defect = defect_list_at(list, i);
        struct defect_set *set = defect_set_new(list, &defect->id, 1, &sentence);

        ck_assert_msg(set != NULL, "%s: %s", defect->id, sentence.text);
        defect_set_free(set);
        ck_assert_ptr_eq(defect_list_find(list, defect->id), defect);
    }
    ck_assert_ptr_null(defect_list_at(list, defect_list_count(list)));
    defect_list_free(list);
}
END_TEST

START_TEST(requirements_are_a_list)
{
    static const char text[] = "x\tDDP-1,DDP-10,MPA-2\tbehaviour\tno-terminate\ton\n";
    struct defect_list *list = defect_list_parse(text, strlen(text), NULL);
    const struct defect *defect = defect_list_find(list, "x");

    ck_assert(defect_breaks(defect, "DDP-1"));
    ck_assert(defect_breaks(defect, "DDP-10"));
    ck_assert(defect_breaks(defect, "MPA-2"));
    ck_assert(!defect_breaks(defect, "DDP-"));
    ck_assert(!defect_breaks(defect, "DDP-100"));
    ck_assert(!defect_breaks(defect, ""));
    defect_list_free(list);
}
END_TEST

/* Each is refused with a sentence that names the line and holds the word. */
static const struct {
    const char *text;
    const char *word;
} wrong_rows[] = {
    {"x\tR\tbehaviour\tno-terminate\n", "fields"},
    {"x\tR\tbehaviour\tno-terminate\ton\t\tmore\n", "fields"},
    {"\tR\tbehaviour\tno-terminate\ton\n", "id"},
    {"x\t\tbehaviour\tno-terminate\ton\n", "requirement"},
    {"x\tR\tbehaviour\tno-terminate\ton\nx\tR\tbehaviour\tno-terminate\ton\n", "twice"},
    {"x\tR\thook\tno-terminate\ton\n", "hook"},
    {"x\tR\tbehaviour\tno-such\ton\n", "no-such"},
    {"x\tR\tbehaviour\tno-terminate\toff\n", "off"},
    {"x\tR\tvalidate\tDDP-0.0-00\toff\n", "DDP-0.0-00"},
    {"x\tR\tvalidate\tddp-qn\tset\n", "set"},
    {"x\tR\tvalidate\tddp-qn\ttriple\n", "triple"},
    {"x\tR\tvalidate\tddp-qn\ttriple\tDDP_NOTHING\n", "DDP_NOTHING"},
    {"x\tR\tvalidate\tddp-qn\ttriple\t0x12345\n", "0x12345"},
    {"x\tR\tvalidate\tddp-qn\tfail\n", "@QUANTITY"},
    {"x\tR\tvalidate\tddp-qn\toff\tqn=4\n", "qn=4"},
    {"x\tR\tvalidate\tddp-qn\toff\t@qn\n", "@qn"},
    {"x\tR\tvalidate\tddp-qn\toff\t@weight=4\n", "@weight=4"},
    {"x\tR\tvalidate\tddp-qn\toff\t@qn=\n", "@qn="},
    {"x\tR\tvalidate\tddp-qn\toff\t@qn=4..\n", "@qn=4.."},
    {"x\tR\tvalidate\tddp-qn\toff\t@qn=5..4\n", "@qn=5..4"},
    {"x\tR\tvalidate\tddp-qn\toff\t@qn=4.5\n", "@qn=4.5"},
    {"x\tR\tvalidate\tddp-qn\ttriple\tDDP_INVALID_QN@qn=x\n", "@qn=x"},
    {"x\tR\tbehaviour\tclose-never\ton\t@error=0x100\n", "@error=0x100"},
    {"x\tR\tbehaviour\tclose-never\ton\t@error=\n", "@error="},
    {"x\tR\tbehaviour\tclose-never\ton\t@triple=0x10000\n", "@triple=0x10000"},
    {"x\tR\tbehaviour\tclose-never\ton\t@triple=\n", "@triple="},
    {"x\tR\tbehaviour\tclose-never\ton\t0x12\n", "0x12"},
    {"x\tR\ttransmit\tfpdu.pad\tset\t1@pad4\n", "@pad4"},
    {"x\tR\ttransmit\tfpdu\tset\t1\n", "layout.field"},
    {"x\tR\ttransmit\tnothing.L\tset\t1\n", "nothing.L"},
    {"x\tR\ttransmit\tnobody/ddp_tagged.L\tset\t1\n", "nobody"},
    {"x\tR\ttransmit\tddp_tagged.MSN\tset\t1\n", "MSN"},
    {"x\tR\ttransmit\tddp_tagged.L\tdouble\t1\n", "double"},
    {"x\tR\ttransmit\tddp_tagged.L\tset\tone\n", "one"},
    {"x\tR\ttransmit\tddp_tagged.L\tset\t1@0\n", "@0"},
    {"x\tR\ttransmit\tddp_tagged.L\tset\t1@soon\n", "@soon"},
    {"x\tR\ttransmit\tddp_tagged.L\tset\t1 \n", "@n"},
    {"x\tR\ttransmit\tddp_tagged.L\tswap\tQN\n", "QN"},
    {"x\tR\ttransmit\tfpdu.crc\tswap\tULPDU_Length\n", "ULPDU_Length"},
};

START_TEST(wrong_row_of_a_defect_is_refused)
{
    struct iwarp_sentence sentence = {""};
    struct defect_list *list = defect_list_parse(wrong_rows[_i].text, strlen(wrong_rows[_i].text), &sentence);

    ck_assert_ptr_null(list);
    ck_assert_msg(strstr(sentence.text, "line ") != NULL && strstr(sentence.text, wrong_rows[_i].word) != NULL, "%s",
                  sentence.text);
}
END_TEST

START_TEST(unknown_defect_is_named)
{
    static const char text[] = "x\tR\tbehaviour\tno-terminate\ton\n";
    static const char *const ids[] = {"x", "y"};
    struct defect_list *list = defect_list_parse(text, strlen(text), NULL);
    struct iwarp_sentence sentence = {""};

    ck_assert_ptr_null(defect_set_new(list, ids, 2, &sentence));
    ck_assert_ptr_nonnull(strstr(sentence.text, "'y'"));
    defect_list_free(list);
}
END_TEST

/*
 * The rows of variants.tsv compile, each is allowed by some requirement, and warns are distinguished from those that
 * allow it.
 */
START_TEST(carried_variants_compile)
{
    struct iwarp_sentence sentence = {""};
    struct defect_list *list = variant_list_embedded(&sentence);

    ck_assert_msg(list != NULL, "%s", sentence.text);
    ck_assert_uint_ge(defect_list_count(list), 80);
    for (size_t i = 0; i < defect_list_count(list); i++) {
        const struct defect *variant = defect_list_at(list, i);
        struct defect_set *set = defect_set_new(list, &variant->id, 1, &sentence);

        ck_assert_msg(set != NULL, "%s: %s", variant->id, sentence.text);
        ck_assert_ptr_nonnull(variant->warns);
        defect_set_free(set);
    }
    defect_list_free(list);
}
END_TEST

START_TEST(variants_name_their_warnings)
{
    static const char text[] = "x\tR-1\t-\tvalidate\tddp-qn\toff\n"
                               "y\tR-1\tR-2,R-3\tvalidate\tddp-qn\ttriple\t0x1203\n";
    static const char short_row[] = "x\tR-1\tvalidate\tddp-qn\toff\n";
    struct iwarp_sentence sentence = {""};
    struct defect_list *list = variant_list_parse(text, strlen(text), &sentence);

    ck_assert_msg(list != NULL, "%s", sentence.text);
    ck_assert_str_eq(defect_list_at(list, 0)->warns, "");
    ck_assert_str_eq(defect_list_at(list, 1)->value, "0x1203");
    ck_assert(variant_warns(defect_list_at(list, 1), "R-2"));
    ck_assert(variant_warns(defect_list_at(list, 1), "R-3"));
    ck_assert(!variant_warns(defect_list_at(list, 1), "R-1"));
    ck_assert(!variant_warns(defect_list_at(list, 0), "-"));
    defect_list_free(list);
    ck_assert_ptr_null(variant_list_parse(short_row, strlen(short_row), &sentence));
    ck_assert_ptr_nonnull(strstr(sentence.text, "variants: line 1: 5 fields"));
}
END_TEST

/* Names of both tables make one set; an unknown one of either is reported. */
START_TEST(defects_and_variants_together)
{
    static const char *const defect = "mpa-crc-zero", *const variant = "segments-512", *const unknown = "no-such-name";
    struct iwarp_sentence sentence = {""};
    struct defect_set *set = NULL;
    struct defect_names names = {.defects = &defect, .defect_count = 1, .variants = &variant, .variant_count = 1};

    ck_assert_msg(defect_set_named(&names, &set, &sentence) == 0, "%s", sentence.text);
    ck_assert_ptr_nonnull(set);
    defect_set_free(set);
    names.variants = &unknown;
    ck_assert_int_eq(defect_set_named(&names, &set, &sentence), -1);
    ck_assert_ptr_null(set);
    ck_assert_ptr_nonnull(strstr(sentence.text, "there is no variant 'no-such-name'"));
    names = (struct defect_names){.defects = NULL};
    ck_assert_int_eq(defect_set_named(&names, &set, &sentence), 0);
    ck_assert_ptr_null(set);
}
END_TEST

/* A device's choices, by their names or by a seed, beside a defect. */
START_TEST(choices_beside_a_defect)
{
    static const char *const defect = "mpa-crc-zero";
    struct iwarp_sentence sentence = {""};
    struct defect_set *set = NULL;
    struct defect_names names = {.defects = &defect, .defect_count = 1, .choices = "segments-512,tcp.mss=700"};

    ck_assert_msg(defect_set_named(&names, &set, &sentence) == 0, "%s", sentence.text);
    ck_assert_ptr_nonnull(set);
    defect_set_free(set);
    names = (struct defect_names){.choices = "8", .layer = CHOICE_CM};
    ck_assert_msg(defect_set_named(&names, &set, &sentence) == 0, "%s", sentence.text);
    ck_assert_ptr_nonnull(set);
    ck_assert_ptr_nonnull(defect_set_cm_faults(set));
    defect_set_free(set);
    names.choices = "segments-512";
    ck_assert_int_eq(defect_set_named(&names, &set, &sentence), -1);
    ck_assert_ptr_null(set);
    ck_assert_ptr_nonnull(strstr(sentence.text, "cm has no alternative"));
}
END_TEST

enum { MESSAGE = 3000 };

/* What an initiator sends after its Request: one Write and two Sends, with the one row as its defects. */
static struct pair *sent_with(const char *row, bool markers)
{
    static uint8_t data[MESSAGE];
    static const char *const ids[] = {"x"};
    struct defect_list *list = row == NULL ? NULL : defect_list_parse(row, strlen(row), NULL);
    struct defect_set *set = row == NULL ? NULL : defect_set_new(list, ids, 1, NULL);
    struct pair *pair = pair_new();
    uint8_t reply[MPA_START_MAX];
    struct iwarp_mpa_start start = {
        .kind = IWARP_MPA_REPLY, .revision = 2, .enhanced = true, .crc = true, .markers = markers};
    struct iwarp_write write = {.octets = data, .count = MESSAGE, .stag = 0x11223344, .to = 0x1000};
    struct iwarp_send send = {.octets = data, .count = MESSAGE};

    ck_assert(row == NULL || (list != NULL && set != NULL));
    for (size_t i = 0; i < MESSAGE; i++)
        data[i] = (uint8_t)i;
    pair->side[1].config.faults = defect_set_faults(set);
    pair_open(pair);
    pair_gather(pair, 1);
    pair->side[1].sent_count = 0;
    pair_feed(pair, 1, reply, mpa_start_pack(&start, reply, sizeof(reply)));
    ck_assert_int_eq(iwarp_stream_post_write(pair->side[1].stream, &write, NULL), 0);
    ck_assert_int_eq(iwarp_stream_post_send(pair->side[1].stream, &send, NULL), 0);
    send.count = 5;
    send.solicited = true;
    ck_assert_int_eq(iwarp_stream_post_send(pair->side[1].stream, &send, NULL), 0);
    pair_gather(pair, 1);
    iwarp_stream_free(pair->side[1].stream);
    pair->side[1].stream = NULL;
    defect_set_free(set);
    defect_list_free(list);
    return pair;
}

/* A transmit path with defects but none that matters here gives octet for octet what the path without gives. */
START_TEST(harmless_defect_changes_nothing)
{
    for (int markers = 0; markers < 2; markers++) {
        struct pair *good = sent_with(NULL, markers != 0);
        struct pair *other = sent_with("x\tR\tbehaviour\tno-terminate\ton\n", markers != 0);

        ck_assert_uint_gt(good->side[1].sent_count, 2 * MESSAGE);
        ck_assert_uint_eq(good->side[1].sent_count, other->side[1].sent_count);
        ck_assert_mem_eq(good->side[1].sent, other->side[1].sent, good->side[1].sent_count);
        pair_free(good);
        pair_free(other);
    }
}
END_TEST

struct seen {
    struct ddp_segment segments[16];
    uint8_t octets[16];
    size_t count, bad_crcs;
};

/* Parses what was sent, without Markers. */
static void look(const struct pair *pair, struct seen *seen)
{
    const uint8_t *p = pair->side[1].sent;
    const uint8_t *end = p + pair->side[1].sent_count;
    struct fpdu_framing framing = {false, true, 0};
    struct fpdu fpdu;

    memset(seen, 0, sizeof(*seen));
    while (p < end && seen->count < 16) {
        const uint8_t *ulpdu;
        wire_result result = fpdu_parse(&p, end, &framing, NULL, &fpdu);

        if (result == WIRE_MORE)
            return;
        seen->bad_crcs += result == TERM_MPA_CRC;
        ulpdu = fpdu.ulpdu;
        (void)ddp_parse(&ulpdu, fpdu.ulpdu + fpdu.ulpdu_length, &seen->segments[seen->count++]);
    }
}

/* 3 Write segments, 3 of the long Send, 1 of the short. */
START_TEST(fields_change_where_configured)
{
    struct pair *pair = sent_with("x\tR\ttransmit\tsend/ddp_untagged.MO\tadd\t7@later\n", false);
    struct seen seen;

    look(pair, &seen);
    ck_assert_uint_eq(seen.count, 7);
    ck_assert_uint_eq(seen.bad_crcs, 0);
    ck_assert_uint_eq(seen.segments[3].mo, 0);
    ck_assert_uint_eq(seen.segments[4].mo, seen.segments[3].payload_octets + 7);
    ck_assert_uint_eq(seen.segments[5].mo, 2 * seen.segments[3].payload_octets + 7);
    ck_assert_uint_eq(seen.segments[6].mo, 0);
    pair_free(pair);

    pair = sent_with("x\tR\ttransmit\tddp_tagged.STag\txor\t0xFF@2\n", false);
    look(pair, &seen);
    ck_assert_uint_eq(seen.segments[0].stag, 0x11223344);
    ck_assert_uint_eq(seen.segments[1].stag, 0x112233BB);
    ck_assert_uint_eq(seen.segments[2].stag, 0x11223344);
    pair_free(pair);

    pair = sent_with("x\tR\ttransmit\tsend_se/ddp_untagged.QN\tswap\tMSN\n", false);
    look(pair, &seen);
    ck_assert_uint_eq(seen.segments[5].qn, 0);
    ck_assert_uint_eq(seen.segments[6].qn, 2);
    ck_assert_uint_eq(seen.segments[6].msn, 0);
    pair_free(pair);

    pair = sent_with("x\tR\ttransmit\twrite/ddp_tagged.L\tset\t0@last\n", false);
    look(pair, &seen);
    for (size_t i = 0; i < 3; i++)
        ck_assert(!seen.segments[i].last);
    ck_assert(seen.segments[5].last);
    pair_free(pair);

    pair = sent_with("x\tR\ttransmit\tfpdu.crc\txor\t1@3+\n", false);
    look(pair, &seen);
    ck_assert_uint_eq(seen.bad_crcs, 5);
    pair_free(pair);
}
END_TEST

/* Is the segment good to the entry `ddp-qn`, with this row alone? `triple`: what it is reported as where it is not. */
static bool qn_taken(const char *row, uint32_t qn, wire_result *triple)
{
    static const char *const ids[] = {"x"};
    static const uint8_t header[18];
    struct iwarp_sentence sentence = {""};
    struct defect_list *list = defect_list_parse(row, strlen(row), &sentence);
    struct defect_set *set = list == NULL ? NULL : defect_set_new(list, ids, 1, &sentence);
    struct pair *pair = pair_new();
    struct validation_outcome outcome = {0};
    struct ddp_segment segment = {.header = header, .header_octets = sizeof(header), .version = 1, .qn = qn};
    struct validation_subject subject = {.segment = &segment, .buffer_octets = UINT64_MAX};
    bool taken;

    ck_assert_msg(set != NULL, "%s", sentence.text);
    pair->side[1].config.faults = defect_set_faults(set);
    pair_open(pair);
    subject.stream = pair->side[1].stream;
    taken = stream_judge(VALIDATE_UNTAGGED, &subject, &outcome) || outcome.entry == NULL ||
            strcmp(outcome.entry->name, "ddp-qn") != 0;
    *triple = outcome.error;
    pair_free(pair);
    defect_set_free(set);
    defect_list_free(list);
    return taken;
}

/* A fault of an entry holds for the values that it names, the last ones included, and for no others. */
START_TEST(override_holds_in_its_range)
{
    static const char off[] = "x\tR\tvalidate\tddp-qn\toff\t@qn=0x10..0x20\n";
    static const char fail[] = "x\tR\tvalidate\tddp-qn\tfail\t@qn=1\n";
    static const char other[] = "x\tR\tvalidate\tddp-qn\ttriple\tDDP_NO_BUFFER@qn=9\n";
    wire_result triple;

    ck_assert(!qn_taken(off, 0xF, &triple));
    ck_assert(qn_taken(off, 0x10, &triple));
    ck_assert(qn_taken(off, 0x20, &triple));
    ck_assert(!qn_taken(off, 0x21, &triple));
    ck_assert(qn_taken(fail, 0, &triple));
    ck_assert(!qn_taken(fail, 1, &triple));
    ck_assert_int_eq((int)triple, TERM_DDP_INVALID_QN);
    ck_assert(!qn_taken(other, 9, &triple));
    ck_assert_int_eq((int)triple, TERM_DDP_NO_BUFFER);
    ck_assert(!qn_taken(other, 10, &triple));
    ck_assert_int_eq((int)triple, TERM_DDP_INVALID_QN);
}
END_TEST

/* Pads change where so many octets are due: a Write's last segment and the Sends' differ. */
START_TEST(pad_changes_where_it_is_due)
{
    struct pair *good = sent_with(NULL, false);
    size_t changed = 0;

    for (int due = 0; due <= FPDU_PAD_MAX; due++) {
        char row[64];
        struct pair *pair;

        (void)snprintf(row, sizeof(row), "x\tR\ttransmit\tfpdu.pad_octets\tadd\t4@pad%d\n", due);
        pair = sent_with(row, false);
        changed += (pair->side[1].sent_count - good->side[1].sent_count) / 4;
        pair_free(pair);
    }
    ck_assert_uint_eq(changed, 7); /* each of the seven FPDUs has one of the four pads */
    pair_free(good);
}
END_TEST

/* A ULPDU that ends sooner has the FPDU that fits it: length, pad and CRC are right. It never ends later. */
START_TEST(ulpdu_ends_sooner)
{
    struct pair *good = sent_with(NULL, false);
    struct pair *cut = sent_with("x\tR\ttransmit\tsend_se/fpdu.ulpdu_octets\tset\t10\n", false);
    struct pair *longer = sent_with("x\tR\ttransmit\tsend_se/fpdu.ulpdu_octets\tset\t100\n", false);
    size_t before = good->side[1].sent_count - fpdu_octets(23, false, 0);
    size_t octets = fpdu_octets(10, false, 0);
    const uint8_t *last = cut->side[1].sent + before;
    uint32_t crc = crc32c(last, octets - FPDU_CRC_OCTETS);

    ck_assert_uint_eq(cut->side[1].sent_count, before + octets);
    ck_assert_uint_eq(fpdu_get_ULPDU_Length(last), 10);
    ck_assert_mem_eq(last + 2, good->side[1].sent + before + 2, 10);
    ck_assert_uint_eq(octets_get32_little(last + octets - FPDU_CRC_OCTETS), crc);
    ck_assert_uint_eq(longer->side[1].sent_count, good->side[1].sent_count);
    ck_assert_mem_eq(longer->side[1].sent, good->side[1].sent, good->side[1].sent_count);
    pair_free(good);
    pair_free(cut);
    pair_free(longer);
}
END_TEST

/* A target that ends beyond 2^64 is in no region: the octets before the region, which differ from what is compared, are not looked at. */
START_TEST(target_beyond_2_64_is_not_read)
{
    static uint8_t octets[2 * ATOMIC_TARGET_OCTETS] = {1, 2, 3, 4, 5, 6, 7, 8};
    static struct iwarp_stream stream;
    const char *id = "atom-mismatch-fails";
    struct iwarp_sentence sentence = {""};
    struct defect_list *list = defect_list_embedded(&sentence);
    struct defect_set *set = defect_set_new(list, &id, 1, &sentence);
    const struct atomic_request atomic = {
        .opcode = IWARP_ATOMIC_COMPARE_SWAP, .to = UINT64_MAX - 7, .compare_mask = UINT64_MAX};
    const struct iwarp_region region = {.octets = octets + ATOMIC_TARGET_OCTETS, .length = ATOMIC_TARGET_OCTETS};
    const struct validation_subject subject = {.stream = &stream, .atomic = &atomic, .region = &region};
    size_t entry = 0;

    while (strcmp(validation_table[entry].name, "atomic-opcode") != 0)
        ck_assert_uint_lt(++entry, validation_count);
    ck_assert(defect_atomic_judges(set, &validation_table[entry], &subject, true));
    defect_set_free(set);
    defect_list_free(list);
}
END_TEST

Suite *defect_suite(void)
{
    Suite *suite = suite_create("defect");
    TCase *data = tcase_create("data");
    TCase *effect = tcase_create("effect");

    tcase_add_test(data, carried_rows_compile);
    tcase_add_test(data, requirements_are_a_list);
    tcase_add_loop_test(data, wrong_row_of_a_defect_is_refused, 0, (int)(sizeof(wrong_rows) / sizeof(wrong_rows[0])));
    tcase_add_test(data, unknown_defect_is_named);
    tcase_add_test(data, carried_variants_compile);
    tcase_add_test(data, variants_name_their_warnings);
    tcase_add_test(data, defects_and_variants_together);
    tcase_add_test(data, choices_beside_a_defect);
    suite_add_tcase(suite, data);
    tcase_add_test(effect, harmless_defect_changes_nothing);
    tcase_add_test(effect, fields_change_where_configured);
    tcase_add_test(effect, override_holds_in_its_range);
    tcase_add_test(effect, pad_changes_where_it_is_due);
    tcase_add_test(effect, ulpdu_ends_sooner);
    tcase_add_test(effect, target_beyond_2_64_is_not_read);
    suite_add_tcase(suite, effect);
    return suite;
}
