/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same traffic by each way into a capture: every capture of pcaps/, lawful and faulty, over TCP, SCTP and of the
 * CM, with each frame in each tunnel that can be opened, and below each link header. The rules say the same of it, of
 * as many flows, and as much of it is judged.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/octets.h"
#include "tests/unit/flow_encapsulation.h"
#include "tests/unit/mangled.h"
#include "tests/unit/suites.h"

Suite *inputs_suite(void);

enum { PACKET_MOST = 60000, PARTS = 8 };

/* ---- links ------------------------------------------------------------------------------------------------------- */

/*
 * A link header in place of Ethernet's. `family`: an IP packet alone can follow, and this stands for IPv4 and for IPv6.
 */
struct link_header {
    const char *name;
    uint32_t link;
    size_t count;
    size_t type_at; /* SIZE_MAX: it has no EtherType */
    uint8_t header[24];
    size_t family_at; /* SIZE_MAX: nothing says which version of IP follows */
    uint8_t family[2];
};

static const struct link_header links[] = {
    {"802.1Q", FLOW_LINK_ETHERNET, 18, 16, {[12] = 0x81, 0, 0, 5}, SIZE_MAX, {0}},
    {"QinQ", FLOW_LINK_ETHERNET, 22, 20, {[12] = 0x88, 0xA8, 0, 5, 0x81, 0, 0, 6}, SIZE_MAX, {0}},
    {"cooked", FLOW_LINK_LINUX_SLL, 16, 14, {0, 0, 0, 1, 0, 6}, SIZE_MAX, {0}},
    {"cooked, version 2", FLOW_LINK_LINUX_SLL2, 20, 0, {[9] = 1}, SIZE_MAX, {0}},
    {"Cisco HDLC", FLOW_LINK_CISCO_HDLC, 4, 2, {0x0F}, SIZE_MAX, {0}},
    {"NULL, little-endian", FLOW_LINK_NULL, 4, SIZE_MAX, {0}, 0, {2, 30}},
    {"NULL, big-endian", FLOW_LINK_NULL, 4, SIZE_MAX, {0}, 3, {2, 10}},
    {"LOOP", FLOW_LINK_LOOP, 4, SIZE_MAX, {0}, 3, {2, 24}},
    {"raw IP", FLOW_LINK_RAW, 0, SIZE_MAX, {0}, SIZE_MAX, {0}},
    {"PPP", FLOW_LINK_PPP, 2, SIZE_MAX, {0}, 1, {0x21, 0x57}},
    {"PPP in HDLC", FLOW_LINK_PPP_HDLC, 4, SIZE_MAX, {0xFF, 3}, 3, {0x21, 0x57}},
    {"PPP with its direction", FLOW_LINK_PPP_DIRECTED, 3, SIZE_MAX, {1}, 2, {0x21, 0x57}},
    {"PPPoE", FLOW_LINK_PPPOE, 8, SIZE_MAX, {0x11, 0, 0, 9, 0xFF, 0xFF}, 7, {0x21, 0x57}},
    {"MPLS", FLOW_LINK_MPLS, 4, SIZE_MAX, {0, 1, 1, 64}, SIZE_MAX, {0}},
};

enum { LINKS = sizeof(links) / sizeof(links[0]) };

/* ---- captures ---------------------------------------------------------------------------------------------------- */

enum what { ANY_FRAME, ANY_IP, IPV4_ALONE };

static bool is_of(enum what what, const struct mangle_frame *frame)
{
    unsigned type = octets_get16(frame->octets + 12);

    return what == ANY_FRAME || type == 0x0800 || (what == ANY_IP && type == 0x86DD);
}

/* It is of Ethernet, and each frame has room in a tunnel and what that can carry. */
static bool fits(const struct mangle_capture *capture, enum what what)
{
    for (size_t i = 0; i < capture->count; i++)
        if (capture->frames[i].link != FLOW_LINK_ETHERNET || capture->frames[i].captured < ETHERNET ||
            capture->frames[i].length > PACKET_MOST || !is_of(what, &capture->frames[i]))
            return false;
    return true;
}

static void put_inside(struct mangle_capture *copy, const struct encapsulation *with, const struct mangle_frame *frame)
{
    size_t skip = with->inner == IP ? ETHERNET : 0, at;
    uint8_t *octets = calloc(1, ENCAPSULATION_MOST + frame->captured);

    ck_assert_ptr_nonnull(octets);
    at = encapsulation_put(with, frame->length - skip, octets);
    memcpy(octets + at, frame->octets + skip, frame->captured - skip);
    mangle_add(copy, encapsulation_link(with), frame->time_ns, octets, at + frame->captured - skip,
               at + frame->length - skip);
    free(octets);
}

static void put_below(struct mangle_capture *copy, const struct link_header *with, const struct mangle_frame *frame)
{
    uint8_t *octets = calloc(1, ENCAPSULATION_MOST + frame->captured);

    ck_assert_ptr_nonnull(octets);
    memcpy(octets, with->header, with->count);
    if (with->type_at != SIZE_MAX)
        memcpy(octets + with->type_at, frame->octets + 12, 2);
    if (with->family_at != SIZE_MAX)
        octets[with->family_at] = with->family[frame->octets[ETHERNET] >> 4 == 6];
    memcpy(octets + with->count, frame->octets + ETHERNET, frame->captured - ETHERNET);
    mangle_add(copy, with->link, frame->time_ns, octets, with->count + frame->captured - ETHERNET,
               with->count + frame->length - ETHERNET);
    free(octets);
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

static void same(const struct mangled_source *source, const struct mangle_capture *copy, const char *name)
{
    static struct mangled_verdicts before, after;

    mangled_judge(source->capture, false, &before);
    mangled_judge(copy, false, &after);
    ck_assert_msg(after.adds_up, "%s, %s: octets do not add up", source->name, name);
    ck_assert_msg(before.flows == after.flows && before.kinds == after.kinds, "%s, %s: other flows", source->name,
                  name);
    ck_assert_msg(before.whole == after.whole, "%s, %s: more or less is judged", source->name, name);
    for (size_t i = 0; i < rule_count(); i++)
        ck_assert_msg(before.verdict[i] == after.verdict[i], "%s, %s: %s: %s", source->name, name, rule_at(i)->id,
                      after.message[i]);
}

/* Each capture in each tunnel, or below each link; how many of these there were. */
static unsigned try_each(const struct mangled_source *source, unsigned *kinds)
{
    unsigned tried = 0;

    for (size_t i = 0; i < encapsulation_count + LINKS; i++) {
        const struct encapsulation *tunnel = i < encapsulation_count ? &encapsulations[i] : NULL;
        const struct link_header *link = tunnel == NULL ? &links[i - encapsulation_count] : NULL;
        struct mangle_capture *copy;

        if (tunnel != NULL
                ? tunnel->sight != OPENED || !fits(source->capture, tunnel->inner == IP ? IPV4_ALONE : ANY_FRAME)
                : !fits(source->capture, link->type_at == SIZE_MAX ? ANY_IP : ANY_FRAME))
            continue;
        copy = mangle_capture_new();
        for (size_t frame = 0; frame < source->capture->count; frame++)
            if (tunnel != NULL)
                put_inside(copy, tunnel, &source->capture->frames[frame]);
            else
                put_below(copy, link, &source->capture->frames[frame]);
        same(source, copy, tunnel != NULL ? tunnel->name : link->name);
        mangle_capture_free(copy);
        *kinds |= source->kinds;
        tried++;
    }
    return tried;
}

static void judge_all(bool faulty, int part)
{
    struct mangled_sources sources;
    unsigned tried = 0, kinds = 0;

    mangled_load(&sources, faulty, 0);
    for (size_t i = (size_t)part; i < sources.count; i += PARTS)
        tried += try_each(&sources.list[i], &kinds);
    mangled_free(&sources);
    ck_assert_uint_gt(tried, LINKS);
    ck_assert_uint_ne(kinds, 0);
}

START_TEST(lawful_captures_are_judged_alike_by_each_way)
{
    judge_all(false, _i);
}
END_TEST

START_TEST(faults_are_found_alike_by_each_way)
{
    judge_all(true, _i);
}
END_TEST

Suite *inputs_suite(void)
{
    Suite *suite = suite_create("inputs");
    TCase *tests = tcase_create("inputs");

    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, lawful_captures_are_judged_alike_by_each_way, 0, PARTS);
    tcase_add_loop_test(tests, faults_are_found_alike_by_each_way, 0, PARTS);
    suite_add_tcase(suite, tests);
    return suite;
}
