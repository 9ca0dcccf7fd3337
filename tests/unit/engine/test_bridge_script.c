/* SPDX-License-Identifier: BSD-2-Clause */
/* Impairments as scripts say them, against a Send in an FPDU, or in a DATA chunk: when one is due, and what it makes of it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/octets.h"
#include "conformance/engine/bridge/bridge_script.h"
#include "conformance/flow/sctp/flow_sctp.h"
#include "tests/unit/suites.h"
#include "wire/ddp.h"
#include "wire/rdmap.h"

Suite *bridge_script_suite(void);

enum { ULPDU = 22, ROOM = 1024, TSN = 70, HOLD_NS = 1000000000 };

/* A Send with MSN 5 of A. */
struct bench {
    struct bridge_script *script;
    struct bridge_streams streams;
    struct bridge_sctp sctp;
    struct bridge_connection connection;
    struct bridge_association association;
    struct bridge_call call;
    struct flow flow;
    struct flow_tcp_state tcp;
    struct flow_sctp_state session;
    struct flow_half halves[FLOW_DIRECTIONS];
    struct flow_fpdu fpdu;
    struct flow_session message;
    struct flow_ulpdu ulpdu;
    struct flow_ddp ddp;
    struct flow_rdmap rdmap;
    struct flow_event event;
    uint8_t raw[ROOM], out[ROOM];
    size_t raw_octets, octets;
    struct iwarp_sentence error;
};

static void make_ulpdu(uint8_t out[ULPDU])
{
    memset(out, 0, ULPDU);
    ddp_untagged_set_L(out, 1);
    ddp_untagged_set_DV(out, 1);
    rdmap_control_set_RV(out + 1, 1);
    rdmap_control_set_Opcode(out + 1, 3);
    ddp_untagged_set_MSN(out, 5);
    octets_put32(out + 18, 0x64617461);
}

/* The event of what stands at `ulpdu`. */
static void decode(struct bench *bench, const uint8_t *ulpdu)
{
    const uint8_t *p = ulpdu;

    bench->ulpdu = (struct flow_ulpdu){.octets = ulpdu, .have = ULPDU, .length = ULPDU};
    ck_assert_int_eq(ddp_parse(&p, p + ULPDU, &bench->ddp.segment), WIRE_OK);
    bench->ddp.payload_have = bench->ddp.segment.payload_octets;
    ck_assert_int_eq(rdmap_parse(&bench->ddp.segment, &bench->rdmap.message), WIRE_OK);
    bench->event = (struct flow_event){
        .kind = FLOW_RDMAP, .flow = &bench->flow, .ulpdu = &bench->ulpdu, .ddp = &bench->ddp, .rdmap = &bench->rdmap};
    bench->flow.half = bench->halves;
    bench->call =
        (struct bridge_call){.streams = &bench->streams, .sctp = &bench->sctp, .stream = 1, .hold_ns = HOLD_NS};
}

static struct bench *begin(const char *script)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    struct fpdu_framing framing = {.crc = true};
    const uint8_t *p;
    uint8_t ulpdu[ULPDU];

    ck_assert_ptr_nonnull(bench);
    bench->script = bridge_script_new(1, &bench->error);
    ck_assert_ptr_nonnull(bench->script);
    ck_assert_msg(bridge_script_read(bench->script, "test.lua", script, strlen(script), &bench->error) == 0, "%s",
                  bench->error.text);
    make_ulpdu(ulpdu);
    bench->raw_octets = fpdu_pack(ulpdu, ULPDU, &framing, bench->raw, ROOM);
    p = bench->raw;
    ck_assert_int_eq(fpdu_parse(&p, p + bench->raw_octets, &framing, NULL, &bench->fpdu.fpdu), WIRE_OK);
    bench->fpdu.framing = framing;
    bench->flow.kind = FLOW_CONNECTION;
    bench->flow.tcp = &bench->tcp;
    decode(bench, bench->fpdu.fpdu.ulpdu);
    bench->ulpdu.mpa = &bench->fpdu;
    bench->call.connection = &bench->connection;
    bridge_unit_begin(&bench->call.unit, &bench->event, bench->raw, bench->raw_octets);
    return bench;
}

/* The same in a DATA chunk with SID 6 and DDP-SSN 3. */
static struct bench *begin_chunk(const char *script)
{
    struct bench *bench = begin(script);

    bench->raw_octets = SCTP_DATA_OCTETS + DDP_SCTP_SSN_OCTETS + ULPDU;
    memset(bench->raw, 0, SCTP_DATA_OCTETS);
    bench->raw[1] = SCTP_FLAG_U | SCTP_FLAG_B | SCTP_FLAG_E;
    octets_put16(bench->raw + 2, (unsigned)bench->raw_octets);
    octets_put32(bench->raw + 4, TSN);
    octets_put16(bench->raw + 8, 6);
    octets_put32(bench->raw + 12, DDP_SCTP_PPID_SEGMENT);
    octets_put16(bench->raw + SCTP_DATA_OCTETS, 3);
    make_ulpdu(bench->raw + SCTP_DATA_OCTETS + DDP_SCTP_SSN_OCTETS);
    bench->flow.kind = FLOW_STREAM;
    bench->flow.sctp = &bench->session;
    decode(bench, bench->raw + SCTP_DATA_OCTETS + DDP_SCTP_SSN_OCTETS);
    bench->ulpdu.message = &bench->message;
    bench->call.association = &bench->association;
    bench->call.at = TSN;
    bridge_unit_begin(&bench->call.unit, &bench->event, bench->raw, bench->raw_octets);
    return bench;
}

static int ask(struct bench *bench, size_t index)
{
    return bridge_script_ask(bench->script, index, &bench->call, &bench->event, &bench->error);
}

/* It is due, and makes something of the unit that is refused where `refused` is a text. */
static void act(struct bench *bench, const char *refused)
{
    ck_assert_msg(ask(bench, 0) == 1, "%s", bench->error.text);
    if (refused != NULL)
        ck_assert_str_eq(bench->call.refused.text, refused);
    else
        ck_assert_str_eq(bench->call.refused.text, "");
    if (refused == NULL)
        ck_assert_msg(bridge_unit_write(&bench->call.unit, bench->out, ROOM, &bench->octets, &bench->error) == 0, "%s",
                      bench->error.text);
}

static void end(struct bench *bench)
{
    bridge_unit_end(&bench->call.unit);
    bridge_script_free(bench->script);
    free(bench);
}

/* The FPDU at *p, and whether its CRC is right. */
static struct fpdu next_fpdu(const struct bench *bench, const uint8_t **p, bool crc_ok)
{
    struct fpdu_framing framing = {.crc = true};
    struct fpdu fpdu;

    ck_assert_int_eq(fpdu_parse(p, bench->out + bench->octets, &framing, NULL, &fpdu), crc_ok ? WIRE_OK : TERM_MPA_CRC);
    return fpdu;
}

#define ON_SEND(body) "impair { name = 'x', when = { message = 'Send' }, act = function(unit, event) " body " end }"

START_TEST(impairment_is_due_for_the_matches_that_count)
{
    struct bench *bench =
        begin("impair { name = 'x', when = { message = 'Send', MSN = 5, nth = 2, times = 2 }, act = function() end }");

    ck_assert_int_eq(ask(bench, 0), 0);
    ck_assert_int_eq(ask(bench, 0), 1);
    ck_assert_int_eq(ask(bench, 0), 1);
    ck_assert_int_eq(ask(bench, 0), 0);
    ck_assert_uint_eq(bridge_script_at(bench->script, 0)->trigger.matched, 3);
    end(bench);
}
END_TEST

START_TEST(impairment_of_another_field_value_side_or_llp_is_not_due)
{
    static const char *const whens[] = {"{ message = 'Send', MSN = 6 }",
                                        "{ message = 'RDMA Write' }",
                                        "{ kind = 'session' }",
                                        "{ side = 'B' }",
                                        "{ stream = 2 }",
                                        "function(event) return event.MSN == 6 end"};

    for (size_t i = 0; i < sizeof(whens) / sizeof(whens[0]); i++) {
        char script[200];
        struct bench *bench;

        (void)snprintf(script, sizeof(script), "impair { name = 'x', when = %s, act = function() end }", whens[i]);
        bench = begin(script);
        ck_assert_int_eq(ask(bench, 0), 0);
        end(bench);
    }
    for (unsigned sctp = 0; sctp < 2; sctp++) {
        struct bench *bench =
            (sctp != 0 ? begin_chunk : begin)("impair { name = 'x', over = 'sctp', when = {}, act = function() end }");

        ck_assert_int_eq(ask(bench, 0), (int)sctp);
        end(bench);
    }
}
END_TEST

START_TEST(fields_that_are_edited_have_a_crc_that_fits)
{
    struct bench *bench = begin(ON_SEND("unit:edit { MSN = event.MSN + 2, RV = 3 }"));
    const uint8_t *p = bench->out;
    struct fpdu fpdu;

    act(bench, NULL);
    fpdu = next_fpdu(bench, &p, true);
    ck_assert_uint_eq(ddp_untagged_get_MSN(fpdu.ulpdu), 7);
    ck_assert_uint_eq(rdmap_control_get_RV(fpdu.ulpdu + 1), 3);
    ck_assert_str_eq(bench->call.done, "2 fields edited");
    end(bench);
}
END_TEST

START_TEST(crc_that_is_kept_is_the_one_that_came)
{
    struct bench *bench = begin(ON_SEND("unit:edit({ MSN = 7 }, { crc = 'kept' })"));
    const uint8_t *p = bench->out;

    act(bench, NULL);
    ck_assert_uint_eq(next_fpdu(bench, &p, false).crc, bench->fpdu.fpdu.crc);
    end(bench);
}
END_TEST

START_TEST(what_cannot_be_edited_says_why)
{
    static const char *const cases[][2] = {
        {ON_SEND("unit:edit { DV = 4 }"), "DV has 2 bits, the value does not fit"},
        {ON_SEND("unit:edit { SrcSTag = 1 }"), "it has no field SrcSTag"},
        {ON_SEND("unit:edit { SID = 1 }"), "it has no field SID"},
        {ON_SEND("unit:cut(1000)"), "it has no octet 1000"},
        {ON_SEND("unit:corrupt(-1000)"), "it has no such octet"},
        {ON_SEND("unit:replace(('x'):rep(65536))"), "a ULPDU of 65536 octets: at most 65535 were expected"},
        {ON_SEND("unit:delay(0.1) unit:stall()"), "the direction stands still already"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench *bench = begin(cases[i][0]);

        act(bench, cases[i][1]);
        end(bench);
    }
}
END_TEST

START_TEST(unit_goes_as_often_as_wanted_after_what_is_put_before)
{
    struct bench *bench = begin(ON_SEND("unit:duplicate(2) unit:insert('another')"));
    const uint8_t *p = bench->out;

    act(bench, NULL);
    ck_assert_uint_eq(next_fpdu(bench, &p, true).ulpdu_length, 7);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(next_fpdu(bench, &p, true).ulpdu_length, ULPDU);
    ck_assert_ptr_eq(p, bench->out + bench->octets);
    end(bench);
}
END_TEST

START_TEST(unit_that_is_dropped_leaves_nothing)
{
    struct bench *bench = begin(ON_SEND("unit:drop()"));

    act(bench, NULL);
    ck_assert_uint_eq(bench->octets, 0);
    ck_assert(bridge_unit_changed(&bench->call.unit));
    end(bench);
}
END_TEST

START_TEST(octet_that_is_corrupted_breaks_the_crc)
{
    struct bench *bench = begin(ON_SEND("unit:corrupt(20, 0x80)"));
    const uint8_t *p = bench->out;

    act(bench, NULL);
    (void)next_fpdu(bench, &p, false);
    ck_assert_uint_eq(bench->out[20], bench->raw[20] ^ 0x80);
    end(bench);
}
END_TEST

START_TEST(delay_is_no_longer_than_the_hold)
{
    struct bench *bench = begin(ON_SEND("unit:delay(3600)"));

    act(bench, NULL);
    ck_assert_uint_eq(bench->connection.direction[0].wait, BRIDGE_DELAYED);
    ck_assert_uint_eq(bench->connection.direction[0].wait_until_ns, HOLD_NS);
    end(bench);
}
END_TEST

START_TEST(chunk_is_edited_padded_and_keeps_its_place)
{
    struct bench *bench = begin_chunk(ON_SEND("unit:edit { SID = 9, PPID = 77, SSN = 4, MSN = 8 }"));
    struct sctp_chunk chunk;
    const uint8_t *p = bench->out;

    act(bench, NULL);
    ck_assert_int_eq(sctp_chunk_parse(&p, bench->out + bench->octets, &chunk), WIRE_OK);
    ck_assert_uint_eq(chunk.length, bench->raw_octets);
    ck_assert_uint_eq(octets_get32(bench->out + 4), TSN);
    ck_assert_uint_eq(octets_get16(bench->out + 8), 9);
    ck_assert_uint_eq(octets_get32(bench->out + 12), 77);
    ck_assert_uint_eq(octets_get16(bench->out + SCTP_DATA_OCTETS), 4);
    ck_assert_uint_eq(ddp_untagged_get_MSN(bench->out + SCTP_DATA_OCTETS + DDP_SCTP_SSN_OCTETS), 8);
    end(bench);
}
END_TEST

START_TEST(chunk_that_is_replaced_has_its_own_length)
{
    struct bench *bench = begin_chunk(ON_SEND("unit:replace('12345') unit:insert('1')"));
    struct sctp_chunk chunk;
    const uint8_t *p = bench->out;

    act(bench, NULL);
    ck_assert_uint_eq(bridge_unit_chunks(&bench->call.unit), 2);
    ck_assert_uint_eq(bench->octets, 20 + 24); /* with their pads */
    ck_assert_int_eq(sctp_chunk_parse(&p, bench->out + bench->octets, &chunk), WIRE_OK);
    ck_assert_uint_eq(chunk.length, SCTP_DATA_OCTETS + DDP_SCTP_SSN_OCTETS + 1);
    ck_assert_int_eq(sctp_chunk_parse(&p, bench->out + bench->octets, &chunk), WIRE_OK);
    ck_assert_uint_eq(chunk.length, SCTP_DATA_OCTETS + DDP_SCTP_SSN_OCTETS + 5);
    ck_assert_mem_eq(chunk.start + SCTP_DATA_OCTETS + DDP_SCTP_SSN_OCTETS, "12345", 5);
    end(bench);
}
END_TEST

START_TEST(what_is_not_for_chunks_says_why)
{
    static const char *const cases[][2] = {
        {ON_SEND("unit:join()"), "it is in no TCP segment: SCTP keeps its messages apart"},
        {ON_SEND("unit:cut(1)"), "it is in no TCP segment: SCTP keeps its messages apart"},
        {ON_SEND("unit:edit { TSN = 1 }"), "it has no field TSN"},
        {ON_SEND("unit:edit { Length = 1 }"), "it has no field Length"},
        {ON_SEND("unit:insert(('x'):rep(65535))"), "what is to go before it is longer than a packet"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench *bench = begin_chunk(cases[i][0]);

        act(bench, cases[i][1]);
        end(bench);
    }
}
END_TEST

START_TEST(chunk_waits_where_its_tsn_is)
{
    struct bench *bench = begin_chunk(ON_SEND("unit:stall(0.5)"));

    act(bench, NULL);
    ck_assert_uint_eq(bench->association.direction[0].wait, BRIDGE_DELAYED);
    ck_assert_uint_eq(bench->association.direction[0].wait_at, TSN);
    ck_assert_ptr_nonnull(bench->sctp.waiting);
    end(bench);
}
END_TEST

START_TEST(script_that_raises_an_error_does_nothing_any_more)
{
    struct bench *bench = begin(ON_SEND("unit:nothing()"));

    ck_assert_int_eq(ask(bench, 0), -1);
    ck_assert_ptr_nonnull(strstr(bench->error.text, "test.lua:1: "));
    ck_assert(bridge_script_at(bench->script, 0)->broken);
    ck_assert_int_eq(ask(bench, 0), 0);
    end(bench);
}
END_TEST

START_TEST(script_that_never_ends_is_ended)
{
    struct bench *bench = begin(ON_SEND("while true do end"));

    ck_assert_int_eq(ask(bench, 0), -1);
    end(bench);
}
END_TEST

START_TEST(suite_gives_each_impairment_of_its_llp_a_stream)
{
    struct bench *bench = begin("local function act() end "
                                "impair { name = 'a', over = 'sctp', when = {}, act = act } "
                                "impair { name = 'b', over = 'tcp', when = {}, act = act } "
                                "impair { name = 'c', when = {}, act = act }");

    bridge_script_spread(bench->script, BRIDGE_TCP);
    ck_assert_uint_eq(bridge_script_count(bench->script), 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_str_eq(bridge_script_at(bench->script, i)->name, i == 0 ? "b" : "c");
        ck_assert_uint_eq(bridge_script_at(bench->script, i)->trigger.stream, i + 1);
    }
    end(bench);
}
END_TEST

START_TEST(same_seed_draws_the_same)
{
    uint64_t drawn[2];

    for (size_t i = 0; i < 2; i++) {
        struct bench *bench = begin(ON_SEND("unit:edit { MSN = math.random(1000000) }"));
        const uint8_t *p = bench->out;

        act(bench, NULL);
        drawn[i] = ddp_untagged_get_MSN(next_fpdu(bench, &p, true).ulpdu);
        end(bench);
    }
    ck_assert_uint_eq(drawn[0], drawn[1]);
}
END_TEST

Suite *bridge_script_suite(void)
{
    Suite *suite = suite_create("bridge_script");
    TCase *cases = tcase_create("scripts");

    tcase_add_test(cases, impairment_is_due_for_the_matches_that_count);
    tcase_add_test(cases, impairment_of_another_field_value_side_or_llp_is_not_due);
    tcase_add_test(cases, fields_that_are_edited_have_a_crc_that_fits);
    tcase_add_test(cases, crc_that_is_kept_is_the_one_that_came);
    tcase_add_test(cases, what_cannot_be_edited_says_why);
    tcase_add_test(cases, unit_goes_as_often_as_wanted_after_what_is_put_before);
    tcase_add_test(cases, unit_that_is_dropped_leaves_nothing);
    tcase_add_test(cases, octet_that_is_corrupted_breaks_the_crc);
    tcase_add_test(cases, delay_is_no_longer_than_the_hold);
    tcase_add_test(cases, chunk_is_edited_padded_and_keeps_its_place);
    tcase_add_test(cases, chunk_that_is_replaced_has_its_own_length);
    tcase_add_test(cases, what_is_not_for_chunks_says_why);
    tcase_add_test(cases, chunk_waits_where_its_tsn_is);
    tcase_add_test(cases, script_that_raises_an_error_does_nothing_any_more);
    tcase_add_test(cases, script_that_never_ends_is_ended);
    tcase_add_test(cases, suite_gives_each_impairment_of_its_llp_a_stream);
    tcase_add_test(cases, same_seed_draws_the_same);
    suite_add_tcase(suite, cases);
    return suite;
}
