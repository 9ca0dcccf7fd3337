/* SPDX-License-Identifier: BSD-2-Clause */
/* SMB2 messages ([MS-SMB2]), counted by hand; each is read from octets behind which nothing may be touched. */
#include <check.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "wire/smb2.h"

enum { OCTETS = 128, DESCRIPTORS = 112 };

/* A READ request, MessageId 0x0807060504030201, with one descriptor; a WRITE where `write`. */
static void build(uint8_t octets[OCTETS], bool write)
{
    static const uint8_t header[] = {0xFE, 'S', 'M', 'B', 64, 0};

    memset(octets, 0, OCTETS);
    memcpy(octets, header, sizeof(header));
    octets[12] = write ? 9 : 8;
    for (unsigned i = 0; i < 8; i++)
        octets[24 + i] = (uint8_t)(i + 1);
    octets[write ? 96 : 100] = 1;
    octets[write ? 104 : 108] = DESCRIPTORS;
    octets[write ? 106 : 110] = 16;
}

static bool read_octets(const uint8_t *octets, size_t count, struct smb2_message *message, bool *more)
{
    uint8_t *placed = guard_place(octets, count);
    const uint8_t *p = placed;
    bool read = smb2_message_read(&p, placed + count, message);

    if (read) {
        *more = p != NULL;
        ck_assert(message->descriptors == NULL || message->descriptors == placed + DESCRIPTORS);
    }
    guard_free(placed, count);
    return read;
}

/* Loop: a READ, a WRITE. */
START_TEST(a_request_names_its_descriptors)
{
    uint8_t octets[OCTETS];
    struct smb2_message message;
    bool more;

    build(octets, _i == 1);
    ck_assert(read_octets(octets, OCTETS, &message, &more));
    ck_assert(!more && !message.response);
    ck_assert_uint_eq(message.command, _i == 1 ? SMB2_WRITE : SMB2_READ);
    ck_assert_uint_eq(message.message_id, UINT64_C(0x0807060504030201));
    ck_assert_uint_eq(message.channel, SMB2_CHANNEL_RDMA);
    ck_assert_uint_eq(message.descriptor_count, 1);
    octets[_i == 1 ? 96 : 100] = SMB2_CHANNEL_NONE;
    ck_assert(read_octets(octets, OCTETS, &message, &more));
    ck_assert_ptr_null(message.descriptors);
    for (size_t count = 0; count < OCTETS - 16; count++) { /* what of it is there may name no memory that is not */
        octets[_i == 1 ? 96 : 100] = SMB2_CHANNEL_RDMA;
        ck_assert(!read_octets(octets, count, &message, &more));
    }
}
END_TEST

START_TEST(a_response_has_a_status_and_names_nothing)
{
    uint8_t octets[OCTETS];
    struct smb2_message message;
    bool more;

    build(octets, false);
    octets[16] = 1;
    octets[8] = 3;
    octets[9] = 1;
    ck_assert(read_octets(octets, SMB2_HEADER_OCTETS, &message, &more));
    ck_assert(message.response);
    ck_assert_uint_eq(message.status, SMB2_STATUS_PENDING);
    ck_assert_uint_eq(message.descriptor_count, 0);
}
END_TEST

/* One octet that makes it another message, or one that names memory in a way that cannot be read. */
START_TEST(what_is_not_smb2_in_clear_is_not_read)
{
    static const uint8_t at[][2] = {
        {0, 0xFD}, {3, 'X'},  {4, 65},  {20, 63}, {20, 128}, {23, 1},   {100, 3},
        {103, 1},  {108, 63}, {109, 1}, {110, 0}, {110, 15}, {110, 32},
    };
    uint8_t octets[OCTETS];
    struct smb2_message message;
    bool more;

    build(octets, false);
    octets[at[_i][0]] = at[_i][1];
    ck_assert(!read_octets(octets, OCTETS, &message, &more));
}
END_TEST

START_TEST(a_compound_has_another_message_behind_it)
{
    uint8_t octets[2 * OCTETS];
    struct smb2_message message;
    bool more;

    build(octets, false);
    build(octets + OCTETS, true);
    octets[20] = OCTETS;
    ck_assert(read_octets(octets, sizeof(octets), &message, &more));
    ck_assert(more);
    octets[110] = 32; /* descriptors do not lie in the next message */
    ck_assert(!read_octets(octets, sizeof(octets), &message, &more));
}
END_TEST

Suite *smb2_suite(void);

Suite *smb2_suite(void)
{
    Suite *suite = suite_create("smb2");
    TCase *cases = tcase_create("messages");

    tcase_add_loop_test(cases, a_request_names_its_descriptors, 0, 2);
    tcase_add_test(cases, a_response_has_a_status_and_names_nothing);
    tcase_add_loop_test(cases, what_is_not_smb2_in_clear_is_not_read, 0, 13);
    tcase_add_test(cases, a_compound_has_another_message_behind_it);
    suite_add_tcase(suite, cases);
    return suite;
}
