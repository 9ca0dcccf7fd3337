/* SPDX-License-Identifier: BSD-2-Clause */
/* Private Data of each form that is known by its octets, each of them changed, and each cut. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "wire/private_data.h"

Suite *private_data_suite(void);

static const struct known {
    const char *octets, *text;
    size_t count;
    enum private_form form;
    bool answers;
} known[] = {
    {"\xF6\xAB\x0E\x18\x01\x01\x03\x07",
     "RPC-over-RDMA, sends up to 4096 octets, receives up to 8192, may invalidate remotely", 8, PRIVATE_RPCRDMA, false},
    {"\0\0\x01\0\x80\0\x7F\0\x05\0", "NVMe host, queue 1, hrqsize 128 hsqsize 127", 32, PRIVATE_NVME_HOST, false},
    {"\0\0\x80\0", "NVMe controller, crqsize 128", 32, PRIVATE_NVME_CONTROLLER, true},
    {"\xC0\0\0\0", "iSER, no zero-based addresses, no Send with Invalidate", 4, PRIVATE_ISER, false},
    {"\x40\0\0\0", "iSER, no Send with Invalidate", 4, PRIVATE_ISER, true},
    {"\0\0\0\x10\0\0\0\x01", "ird 16 ord 1 as SMB Direct has them", 8, PRIVATE_DEPTHS, false},
    {"\x10\0\0\0\x01\0\0\0", "ird 16 ord 1 as SMB Direct has them, little-endian", 8, PRIVATE_DEPTHS, false},
};
enum { KNOWN = sizeof(known) / sizeof(known[0]) };

/* A copy that ends where it is said to end, so that what is read beyond is seen. */
static bool read_copy(const uint8_t *octets, size_t count, bool answers, bool has_word, struct private_data *said)
{
    uint8_t *copy = malloc(count == 0 ? 1 : count);
    bool result;

    ck_assert_ptr_nonnull(copy);
    memcpy(copy, octets, count);
    result = private_data_read(copy, count, answers, has_word, said);
    free(copy);
    return result;
}

static void octets_of(const struct known *row, uint8_t octets[32])
{
    size_t written = row->count < 10 ? row->count : row->answers ? 4 : 10;

    memset(octets, 0, 32);
    memcpy(octets, row->octets, written);
}

START_TEST(each_form_is_known_and_put_into_words)
{
    const struct known *row = &known[_i];
    char text[PRIVATE_DATA_TEXT];
    struct private_data said;
    uint8_t octets[32];

    octets_of(row, octets);
    ck_assert(read_copy(octets, row->count, row->answers, false, &said));
    ck_assert_int_eq(said.form, row->form);
    ck_assert_str_eq(private_data_text(&said, text), row->text);
}
END_TEST

START_TEST(octets_that_are_cut_are_of_no_form)
{
    const struct known *row = &known[_i];
    struct private_data said;
    uint8_t octets[32];

    octets_of(row, octets);
    for (size_t count = 0; count < row->count; count++)
        ck_assert_msg(!read_copy(octets, count, row->answers, false, &said) || said.form != row->form, "%zu octets",
                      count);
}
END_TEST

START_TEST(what_has_to_be_zero_decides)
{
    struct private_data said;
    uint8_t octets[32];

    octets_of(&known[1], octets);
    octets[31] = 1;
    ck_assert(!read_copy(octets, sizeof(octets), false, false, &said));
    octets_of(&known[2], octets);
    octets[4] = 1;
    ck_assert(!read_copy(octets, sizeof(octets), true, false, &said));
    ck_assert(!read_copy((const uint8_t *)"\xC0\0\0\x01", 4, false, false, &said));
    ck_assert(!read_copy((const uint8_t *)"\0\0\0\0", 4, false, false, &said));
    ck_assert_int_eq(said.form, PRIVATE_UNKNOWN);
}
END_TEST

START_TEST(the_number_of_rpc_over_rdma_is_found_anywhere)
{
    uint8_t octets[40] = "octets of the ULP's own";
    struct private_data said;

    for (size_t at = 0; at + known[0].count <= sizeof(octets); at++) {
        memset(octets, 0x55, sizeof(octets));
        memcpy(octets + at, known[0].octets, known[0].count);
        ck_assert(read_copy(octets, sizeof(octets), false, true, &said));
        ck_assert(said.form == PRIVATE_RPCRDMA && said.at == at && said.rpcrdma.receive == 8192);
    }
}
END_TEST

START_TEST(depths_are_nobodys_where_the_word_has_them)
{
    struct private_data said;
    char text[PRIVATE_DATA_TEXT];

    ck_assert(!read_copy((const uint8_t *)known[5].octets, 8, false, true, &said));
    ck_assert_str_eq(private_data_text(&said, text), "");
}
END_TEST

Suite *private_data_suite(void)
{
    Suite *suite = suite_create("private_data");
    TCase *forms = tcase_create("forms");

    tcase_add_loop_test(forms, each_form_is_known_and_put_into_words, 0, KNOWN);
    tcase_add_loop_test(forms, octets_that_are_cut_are_of_no_form, 0, KNOWN);
    tcase_add_test(forms, what_has_to_be_zero_decides);
    tcase_add_test(forms, the_number_of_rpc_over_rdma_is_found_anywhere);
    tcase_add_test(forms, depths_are_nobodys_where_the_word_has_them);
    suite_add_tcase(suite, forms);
    return suite;
}
