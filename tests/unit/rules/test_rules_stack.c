/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules over the reference stack's own octets: the correct stack draws no FAIL and no WARN in any
 * configuration, and
 * faults of its sender are found by the rules of the requirements that they break.
 */
#include <stdlib.h>
#include <string.h>

#include "iwarp/stream.h"
#include "reference-stack/defects/defect.h"
#include "tests/unit/rule_case.h"

enum { OCTETS = 5001, RECEIVES = 8, SIDES = 2 };

struct setting {
    unsigned revision;
    bool enhanced;
    unsigned rtr;
    bool markers[SIDES];
    bool crc;
};

/* Revision, RTR and Markers in combination. */
static struct setting setting_of(int n)
{
    static const struct setting kinds[] = {{.revision = 1},
                                           {.revision = 2},
                                           {.revision = 2, .enhanced = true},
                                           {.revision = 2, .enhanced = true, .rtr = IWARP_RTR_SEND},
                                           {.revision = 2, .enhanced = true, .rtr = IWARP_RTR_WRITE},
                                           {.revision = 2, .enhanced = true, .rtr = IWARP_RTR_READ}};
    struct setting setting = kinds[n % 6];

    setting.markers[0] = n / 6 & 1;
    setting.markers[1] = n / 12 & 1;
    setting.crc = !(n / 24 & 1);
    return setting;
}

enum { SETTINGS = 48 };

/* Side 0 is the Initiator here, as in a conversation. */
struct talk {
    struct conversation *conversation;
    struct iwarp_device *device[SIDES];
    struct iwarp_stream *stream[SIDES];
    bool closed[SIDES];
    uint8_t data[OCTETS];
    uint8_t receives[SIDES][RECEIVES][3000];
};

static bool move(struct talk *talk, unsigned from)
{
    struct iwarp_output output;
    uint8_t octets[70000];
    struct iwarp_event event;
    size_t count = 0;

    while (iwarp_stream_poll(talk->stream[from], &event))
        continue;
    if (iwarp_stream_output(talk->stream[from], &output) != 0) {
        for (size_t i = 0; i < output.span_count; i++) {
            memcpy(octets + count, output.spans[i].octets, output.spans[i].count);
            count += output.spans[i].count;
        }
        iwarp_stream_output_done(talk->stream[from], count, 1000);
        conversation_octets(talk->conversation, from, octets, count);
        iwarp_stream_input(talk->stream[1 - from], octets, count, 1000);
        return true;
    }
    if (iwarp_stream_wants(talk->stream[from]) == IWARP_WANT_NOTHING || talk->closed[from])
        return false;
    talk->closed[from] = true;
    conversation_close(talk->conversation, from, iwarp_stream_wants(talk->stream[from]) == IWARP_WANT_ABORT);
    iwarp_stream_input_fin(talk->stream[1 - from], 1000);
    return true;
}

static void run(struct talk *talk)
{
    bool moved = true;

    for (unsigned i = 0; moved && i < 400; i++) {
        bool first = move(talk, 0);

        moved = move(talk, 1) || first;
    }
}

/* A region that belongs to the side's stream alone: so it can be invalidated by the other. */
static struct iwarp_region region_new(struct talk *talk, unsigned side, size_t length, unsigned access)
{
    struct iwarp_region region = {.base = 0x7000, .length = length, .access = access, .stream = side + 1};

    ck_assert_int_eq(iwarp_region_register(talk->device[side], &region, NULL), 0);
    return region;
}

/* Sends of all kinds, a Write, Reads. What a stack with a defect refuses is left out. */
static void work(struct talk *talk, unsigned side)
{
    static const size_t sizes[] = {0, 1, 17, 3000};
    struct iwarp_region target = region_new(talk, 1 - side, OCTETS, IWARP_REMOTE_READ | IWARP_REMOTE_WRITE);
    struct iwarp_region sink = region_new(talk, side, OCTETS, IWARP_LOCAL_WRITE);
    struct iwarp_region gone = region_new(talk, 1 - side, 8, IWARP_REMOTE_READ);
    struct iwarp_write write = {.octets = talk->data, .count = OCTETS, .stag = target.stag, .to = target.base};
    struct iwarp_read read = {.sink_stag = sink.stag,
                              .sink_to = sink.base,
                              .source_stag = target.stag,
                              .source_to = target.base,
                              .count = 2000};

    for (unsigned i = 0; i < 4; i++) {
        struct iwarp_send send = {
            .octets = talk->data, .count = sizes[i], .solicited = i & 1, .invalidate = i == 2, .stag = gone.stag};

        (void)iwarp_stream_post_send(talk->stream[side], &send, NULL);
    }
    (void)iwarp_stream_post_write(talk->stream[side], &write, NULL);
    for (unsigned i = 0; i < 6; i++) {
        read.count = i == 3 ? 0 : 2000 - i;
        (void)iwarp_stream_post_read(talk->stream[side], &read, NULL);
    }
    run(talk);
}

/* The last message is one that the other side has to refuse: a Read or a Write of an unknown STag. */
static void offend(struct talk *talk, unsigned side, bool by_read)
{
    struct iwarp_region sink = region_new(talk, side, OCTETS, IWARP_LOCAL_WRITE);
    struct iwarp_write write = {.octets = talk->data, .count = 100, .stag = 0xBAD, .to = 1};
    struct iwarp_read read = {.sink_stag = sink.stag, .sink_to = sink.base, .source_stag = 0xBAD, .count = 100};

    if (by_read)
        (void)iwarp_stream_post_read(talk->stream[side], &read, NULL);
    else
        (void)iwarp_stream_post_write(talk->stream[side], &write, NULL);
    run(talk);
}

static void talk_run(int n, const struct defect_set *const defects[SIDES], bool by_read, struct verdicts *verdicts)
{
    struct setting setting = setting_of(n);
    struct talk *talk = calloc(1, sizeof(*talk));
    struct iwarp_sentence sentence = {""};

    ck_assert_ptr_nonnull(talk);
    talk->conversation = conversation_create(NULL);
    conversation_open(talk->conversation, 1460);
    for (unsigned i = 0; i < SIDES; i++) {
        struct iwarp_device_config device = {.seed = i + 7};
        struct iwarp_stream_config config;

        iwarp_stream_config_default(&config, i == 0 ? IWARP_INITIATOR : IWARP_RESPONDER);
        config.number = i + 1;
        config.crc = setting.crc;
        config.markers = setting.markers[i];
        config.revision = (uint8_t)setting.revision;
        config.enhanced = setting.enhanced;
        config.peer_to_peer = setting.rtr != 0;
        config.rtr = setting.rtr != 0 ? setting.rtr : config.rtr;
        config.faults = defect_set_faults(defects[i]);
        talk->device[i] = iwarp_device_new(&device);
        talk->stream[i] = iwarp_stream_new(talk->device[i], &config, 1000, &sentence);
        ck_assert_msg(talk->stream[i] != NULL, "%s", sentence.text);
        for (unsigned r = 0; r < RECEIVES; r++)
            (void)iwarp_stream_post_receive(talk->stream[i], r, talk->receives[i][r], 3000, NULL);
    }
    work(talk, 0);
    work(talk, 1);
    offend(talk, 0, by_read);
    iwarp_stream_disconnect(talk->stream[0], 1000);
    iwarp_stream_disconnect(talk->stream[1], 1000);
    run(talk);
    rule_case_judge(talk->conversation, verdicts);
    for (unsigned i = 0; i < SIDES; i++) {
        iwarp_stream_free(talk->stream[i]);
        iwarp_device_free(talk->device[i]);
    }
    conversation_free(talk->conversation);
    free(talk);
}

START_TEST(correct_stack_draws_nothing)
{
    const struct defect_set *const none[SIDES] = {NULL, NULL};
    struct verdicts verdicts;

    for (unsigned by_read = 0; by_read < 2; by_read++) {
        talk_run(_i, none, by_read != 0, &verdicts);
        ck_assert_uint_eq(verdicts.flows, 1);
        rule_case_quiet(&verdicts, NULL, "correct stack");
        ck_assert_int_eq(verdicts.verdict[rule_find("RDMAP-4.8-37")->index], RULE_PASS); /* it came to the Terminate */
        ck_assert_int_eq(verdicts.verdict[rule_find("RDMAP-4.5-01")->index], RULE_PASS);
    }
}
END_TEST

/* Faults of the sender, and the rule that each has to trip in one of the settings. */
static const char faults[] = "a\tMPA-7.1.1-16\ttransmit\tmpa_request.R\tset\t1\n"
                             "a\tMPA-7.1.1-19\ttransmit\tmpa_request.Res\tset\t8\n"
                             "a\tMPA-7.1.1-19\ttransmit\tmpa_reply.Res\tset\t8\n"
                             "a\tEMPA-6-03\ttransmit\tmpa_request.Res\tset\t8\n"
                             "a\tEMPA-6-03\ttransmit\tmpa_reply.Res\tset\t8\n"
                             "a\tMPA-7.1.1-21\ttransmit\tmpa_reply.Rev\tset\t2\n"
                             "a\tEMPA-6-06\ttransmit\tmpa_request.Rev\tset\t1\n"
                             "a\tEMPA-6-07\ttransmit\tmpa_reply.Rev\tset\t1\n"
                             "a\tEMPA-9.1-12\ttransmit\tmpa_reply_word.ORD\tset\t9\n"
                             "a\tEMPA-9.1-04\ttransmit\tmpa_reply_word.IRD\tset\t1\n"
                             "a\tEMPA-9.2-13\ttransmit\tmpa_reply_word.A\tset\t0\n"
                             "a\tEMPA-9.2-26\ttransmit\tmpa_reply_word.A\tset\t1\n"
                             "a\tEMPA-9.2-27\ttransmit\tmpa_request_word.B\tset\t1\n"
                             "a\tEMPA-9.2-28\ttransmit\tmpa_reply_word.C\tset\t1\n"
                             "a\tEMPA-10-01\ttransmit\tmpa_reply.S\tset\t0\n"
                             "a\tMPA-4.1-03\ttransmit\tfpdu.pad\tset\t0x5A\n"
                             "a\tMPA-4.1-06\ttransmit\tfpdu.pad_octets\tset\t0\n"
                             "a\tMPA-4.4-14\ttransmit\tfpdu.crc\txor\t1\n"
                             "a\tMPA-7.1.1-13\ttransmit\tfpdu.crc\tset\t0\n"
                             "a\tMPA-4.2-02\ttransmit\tmarker.Reserved\tset\t1\n"
                             "a\tMPA-4.2-05\ttransmit\tmarker.FPDUPTR\txor\t1\n"
                             "a\tMPA-4.3-05\ttransmit\tmarker.FPDUPTR\tadd\t4\n"
                             "a\tMPA-4.3-14\ttransmit\tmarker.FPDUPTR\tadd\t4\n"
                             "a\tMPA-4.3-16\ttransmit\tmarker.FPDUPTR\tadd\t4@5\n"
                             "a\tDDP-4.1-04\ttransmit\tsend/ddp_untagged.L\tset\t0\n"
                             "a\tDDP-4.1-06\ttransmit\tsend/ddp_untagged.L\tset\t1\n"
                             "a\tDDP-4.1-10\ttransmit\tddp_untagged.Rsvd\tset\t1\n"
                             "a\tDDP-4.1-12\ttransmit\tddp_tagged.DV\tset\t2\n"
                             "a\tDDP-4.1-13\ttransmit\tddp_tagged.DV\tset\t2\n"
                             "a\tDDP-4.2-06\ttransmit\twrite/rdmap_control.Rsv\tset\t1@later\n"
                             "a\tDDP-4.2-11\ttransmit\twrite/ddp_tagged.STag\tadd\t256@later\n"
                             "a\tDDP-4.3-05\ttransmit\tsend/rdmap_control.Rsv\tset\t1@later\n"
                             "a\tDDP-4.3-11\ttransmit\tsend/ddp_untagged.MSN\tadd\t1@2+\n"
                             "a\tDDP-4.3-12\ttransmit\tsend/ddp_untagged.MSN\tset\t0@1\n"
                             "a\tDDP-4.3-14\ttransmit\tsend/ddp_untagged.MSN\tadd\t1@later\n"
                             "a\tDDP-4.3-16\ttransmit\tsend/ddp_untagged.MO\tadd\t4\n"
                             "a\tDDP-5.2-06\ttransmit\tsend/ddp_untagged.MO\tadd\t4@later\n"
                             "a\tDDP-5.2-08\ttransmit\twrite/ddp_tagged.TO\tadd\t4@later\n"
                             "a\tRDMAP-4.1-17\ttransmit\tsend/rdmap_control.RV\tset\t0\n"
                             "a\tRDMAP-4.1-19\ttransmit\trdmap_control.Rsv\tset\t1\n"
                             "a\tRDMAP-4.1-21\ttransmit\tsend_plain/rdmap_untagged.InvalidateSTag\tset\t0x1234\n"
                             "a\tRDMAP-6580.3.4-01\ttransmit\tsend/rdmap_control.Opcode\tset\t13\n"
                             "a\tRDMAP-5.3-11\ttransmit\tsend/ddp_untagged.QN\tset\t1\n"
                             "a\tRDMAP-5.2.1-08\ttransmit\tread_request/ddp_untagged.QN\tset\t0\n"
                             "a\tRDMAP-5.4-03\ttransmit\tterminate/ddp_untagged.QN\tset\t0\n"
                             "a\tRDMAP-4.4-03\ttransmit\tread_response/ddp_tagged.STag\txor\t1\n"
                             "a\tRDMAP-4.4-04\ttransmit\tread_response/ddp_tagged.TO\tadd\t1\n"
                             "a\tRDMAP-4.8-02\ttransmit\tterminate.Layer\tswap\tEType\n"
                             "a\tRDMAP-4.8-03\ttransmit\tterminate.Code\tset\t0x77\n"
                             "a\tRDMAP-6580.3.1-01\ttransmit\tterminate.Code\tset\t0x77\n"
                             "a\tRDMAP-6580.3.2-01\ttransmit\tterminate.Code\tset\t0x77\n"
                             "a\tRDMAP-4.8-32\ttransmit\tterminate.Reserved\tset\t1\n"
                             "a\tRDMAP-4.8-34\ttransmit\tterminate_length.Length\tset\t3\n";

/* Does the rule find something when that side of the stack has the defect, in some setting? */
static bool is_found(const struct rule *rule, const struct defect_set *set)
{
    struct verdicts verdicts;

    for (int n = 0; n < SETTINGS; n++)
        for (unsigned side = 0; side < SIDES; side++)
            for (unsigned by_read = 0; by_read < 2; by_read++) {
                const struct defect_set *const defects[SIDES] = {side == 0 ? set : NULL, side == 1 ? set : NULL};

                talk_run(n, defects, by_read != 0, &verdicts);
                if (verdicts.verdict[rule->index] > RULE_AMBIGUOUS)
                    return true;
            }
    return false;
}

START_TEST(faults_of_the_sender_are_found)
{
    const char *line = faults, *end;

    for (int i = 0; (end = strchr(line, '\n')) != NULL && i < _i; i++)
        line = end + 1;
    ck_assert_ptr_nonnull(end);

    struct iwarp_sentence sentence = {""};
    struct defect_list *list = defect_list_parse(line, (size_t)(end + 1 - line), &sentence);

    ck_assert_msg(list != NULL, "%s", sentence.text);
    const struct defect *defect = defect_list_at(list, 0);
    struct defect_set *set = defect_set_new(list, &defect->id, 1, &sentence);

    ck_assert_msg(set != NULL, "%s", sentence.text);
    const struct rule *rule = rule_find(defect->requirement);

    ck_assert_msg(rule != NULL, "no rule %s", defect->requirement);
    ck_assert_msg(is_found(rule, set), "%s does not find %s %s %s", rule->id, defect->target, defect->operation,
                  defect->value);
    defect_set_free(set);
    defect_list_free(list);
}
END_TEST

Suite *rules_stack_suite(void);

Suite *rules_stack_suite(void)
{
    Suite *suite = suite_create("rules_stack");
    TCase *cases = tcase_create("stack");
    int count = 0;

    for (const char *at = faults; *at != '\0'; at++)
        count += *at == '\n';
    tcase_add_loop_test(cases, correct_stack_draws_nothing, 0, SETTINGS);
    tcase_add_loop_test(cases, faults_of_the_sender_are_found, 0, count);
    suite_add_tcase(suite, cases);
    return suite;
}
