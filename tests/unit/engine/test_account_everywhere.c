/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The account adds up, whatever the input is: each frame and each captured octet is in one row. So it is for every
 * capture of pcaps/, for every input of the fuzz corpora, as the capture that its target takes it for, as frames of
 * every link type, and as what TCP, SCTP and UDP carry; and for 10,000 captures that were mangled.
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/capture/capture_folder.h"
#include "conformance/flow/decoder.h"
#include "generator/packet/packet.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *account_everywhere_suite(void);

enum { MANGLED = 10000, PARTS = 4, FRAME_MAX = 70000, PAYLOAD_MAX = 60000 };

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* ---- captures in memory ------------------------------------------------------------------------------------------ */

struct frame {
    uint32_t link;
    uint64_t time_ns;
    uint8_t *octets;
    size_t captured, length;
};

struct capture {
    struct frame *frames;
    size_t count, room;
};

static void add(struct capture *capture, const struct frame *frame)
{
    if (capture->count == capture->room) {
        capture->room = capture->room != 0 ? 2 * capture->room : 64;
        capture->frames = realloc(capture->frames, capture->room * sizeof(*capture->frames));
        ck_assert_ptr_nonnull(capture->frames);
    }
    capture->frames[capture->count] = *frame;
    capture->frames[capture->count].octets = malloc(frame->captured != 0 ? frame->captured : 1);
    ck_assert_ptr_nonnull(capture->frames[capture->count].octets);
    memcpy(capture->frames[capture->count++].octets, frame->octets, frame->captured);
}

static void drop_at(struct capture *capture, size_t at)
{
    free(capture->frames[at].octets);
    memmove(&capture->frames[at], &capture->frames[at + 1], (capture->count - at - 1) * sizeof(*capture->frames));
    capture->count--;
}

static void release(struct capture *capture)
{
    for (size_t i = 0; i < capture->count; i++)
        free(capture->frames[i].octets);
    free(capture->frames);
    *capture = (struct capture){0};
}

static void load(struct capture *capture, const char *path)
{
    struct iwarp_sentence error = {""};
    struct capture_file *file = capture_open(path, &error);
    struct flow_frame frame;

    ck_assert_msg(file != NULL, "%s", error.text);
    while (capture_next(file, &frame, &error) == 1)
        add(capture, &(struct frame){frame.link, frame.time_ns, (uint8_t *)frame.octets, frame.captured, frame.length});
    capture_close(file);
}

/* Decodes it, and holds the decoder's account against what it was given. */
static void adds_up(const struct capture *capture, const struct flow_config *config, const char *what, unsigned seed)
{
    struct flow_decoder *decoder = flow_decoder_create(config, NULL, NULL);
    const struct flow_totals *totals = flow_decoder_totals(decoder);
    struct flow_count sum = {0};
    uint64_t octets = 0;

    for (size_t i = 0; i < capture->count; i++) {
        const struct frame *frame = &capture->frames[i];

        octets += frame->captured;
        flow_decoder_frame(decoder, &(struct flow_frame){frame->link, frame->time_ns, i + 1, frame->octets,
                                                         frame->captured, frame->length});
    }
    flow_decoder_finish(decoder);
    for (unsigned kind = FLOW_JUDGED; kind < FLOW_MISSING; kind++) {
        struct flow_count of_kind = flow_account_sum(&totals->account, (enum flow_account_kind)kind);

        sum.frames += of_kind.frames;
        sum.octets += of_kind.octets;
    }
    ck_assert_msg(sum.frames == capture->count, "%s, seed %u: %llu of %zu frames", what, seed,
                  (unsigned long long)sum.frames, capture->count);
    ck_assert_msg(sum.octets == octets, "%s, seed %u: %llu of %llu octets", what, seed, (unsigned long long)sum.octets,
                  (unsigned long long)octets);
    ck_assert(flow_totals_balanced(totals));
    flow_decoder_destroy(decoder);
}

/* ---- pcaps/ ------------------------------------------------------------------------------------------------------ */

static struct capture_list paths;

static void list_pcaps(void)
{
    struct iwarp_sentence error;

    ck_assert_int_eq(capture_list_add(&paths, "pcaps", &error), 0);
    ck_assert_uint_gt(paths.count, 50);
}

static void free_pcaps(void)
{
    capture_list_free(&paths);
}

START_TEST(account_of_each_capture_adds_up)
{
    for (size_t i = 0; i < paths.count; i++) {
        struct capture capture = {0};

        load(&capture, paths.paths[i]);
        ck_assert_uint_gt(capture.count, 0);
        adds_up(&capture, NULL, paths.paths[i], 0);
        release(&capture);
    }
}
END_TEST

/* ---- the fuzz corpora -------------------------------------------------------------------------------------------- */

static const uint32_t links[] = {FLOW_LINK_ETHERNET,   FLOW_LINK_RAW,        FLOW_LINK_NULL,
                                 FLOW_LINK_LINUX_SLL,  FLOW_LINK_LINUX_SLL2, FLOW_LINK_LOOP,
                                 FLOW_LINK_INFINIBAND, FLOW_LINK_ERF,        147,
                                 FLOW_LINK_NONE};

/* As fuzz_capture.c takes its input. */
static void as_records(struct capture *capture, const uint8_t *data, size_t size)
{
    struct frame frame = {.link = links[size > 0 ? data[0] % 8 : 0]};

    for (size_t at = 1; size > at && size - at >= 3;) {
        frame.captured = (size_t)data[at] << 8 | data[at + 1];
        frame.length = data[at + 2];
        at += 3;
        if (frame.captured > size - at)
            frame.captured = size - at;
        frame.length += frame.captured;
        frame.octets = (uint8_t *)data + at;
        frame.time_ns += 1000000;
        add(capture, &frame);
        at += frame.captured;
    }
}

/* All of it as one frame of each link type. */
static void as_frames(struct capture *capture, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        add(capture, &(struct frame){links[i], 1, (uint8_t *)data, size, size + i % 3});
}

/* In TCP segments of a connection, of that side, from a sequence number on. */
static void in_tcp(struct capture *capture, unsigned side, uint32_t seq, uint8_t flags, const uint8_t *data,
                   size_t size)
{
    static uint8_t out[FRAME_MAX];
    struct packet_tcp fields = {
        .source_port = side == 0 ? 40000 : 7174,
        .destination_port = side == 0 ? 7174 : 40000,
        .sequence = seq,
        .acknowledgment = 1,
        .flags = flags,
        .window = 65535,
        .payload = data,
        .payload_octets = size,
    };
    size_t count;

    net_address_parse(&fields.source, side == 0 ? "10.0.0.1" : "10.0.0.2");
    net_address_parse(&fields.destination, side == 0 ? "10.0.0.2" : "10.0.0.1");
    count = packet_build_tcp(out, sizeof(out), &fields);
    ck_assert_uint_gt(count, 0);
    add(capture, &(struct frame){FLOW_LINK_ETHERNET, 1, out, count, count});
}

static void as_stream(struct capture *capture, const uint8_t *data, size_t size, bool from_start)
{
    if (from_start) {
        in_tcp(capture, 0, 0, TCP_FLAG_SYN, NULL, 0);
        in_tcp(capture, 1, 0, TCP_FLAG_SYN | TCP_FLAG_ACK, NULL, 0);
    }
    for (size_t at = 0; at < size; at += 700)
        for (unsigned side = 0; side < 2; side++)
            in_tcp(capture, side, 1 + (uint32_t)at, TCP_FLAG_ACK, data + at, size - at < 700 ? size - at : 700);
}

/* As what SCTP and UDP carry, to the ports of RoCE: the IP header of a TCP segment with another protocol. */
static void as_datagrams(struct capture *capture, const uint8_t *data, size_t size)
{
    static const uint8_t protocols[] = {132, 17};

    for (size_t i = 0; i < sizeof(protocols); i++) {
        in_tcp(capture, 0, 0, TCP_FLAG_ACK, data, size);
        capture->frames[capture->count - 1].octets[14 + 9] = protocols[i];
        octets_put16(capture->frames[capture->count - 1].octets + 14 + 20 + 2, i == 0 ? 5043 : 4791);
    }
}

static void corpus_input(const char *path)
{
    size_t size;
    char *octets = sample_read(path, &size);
    const uint8_t *data = (const uint8_t *)octets;
    struct capture capture = {0};

    if (size > PAYLOAD_MAX)
        size = PAYLOAD_MAX;
    as_records(&capture, data, size);
    as_frames(&capture, data, size);
    as_datagrams(&capture, data, size);
    adds_up(&capture, NULL, path, 0);
    for (unsigned from_start = 0; from_start < 2; from_start++) {
        release(&capture);
        as_stream(&capture, data, size, from_start != 0);
        adds_up(&capture, NULL, path, from_start);
    }
    release(&capture);
    free(octets);
}

START_TEST(account_of_each_fuzz_input_adds_up)
{
    static const char root[] = "tests/fuzz/corpus";
    DIR *folders = opendir(root);
    struct dirent *folder, *file;
    size_t inputs = 0;

    ck_assert_ptr_nonnull(folders);
    while ((folder = readdir(folders)) != NULL) {
        char path[1024];
        DIR *files;

        if (folder->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof(path), "%s/%s", root, folder->d_name);
        files = opendir(path);
        ck_assert_ptr_nonnull(files);
        while ((file = readdir(files)) != NULL) {
            if (file->d_name[0] == '.')
                continue;
            (void)snprintf(path, sizeof(path), "%s/%.250s/%.250s", root, folder->d_name, file->d_name);
            corpus_input(path);
            inputs++;
        }
        (void)closedir(files);
    }
    (void)closedir(folders);
    ck_assert_uint_gt(inputs, 100);
}
END_TEST

/* ---- mangled captures -------------------------------------------------------------------------------------------- */

/* Cuts an IPv4 packet in an Ethernet frame into two fragments, the second of which takes the frame's place. */
static void fragment(struct capture *capture, size_t at)
{
    struct frame *frame = &capture->frames[at], first = *frame;
    uint8_t *ip = frame->octets + 14;
    size_t total, cut;

    if (frame->link != FLOW_LINK_ETHERNET || frame->captured < 14 + 20 + 24 ||
        octets_get16(frame->octets + 12) != 0x0800 || ip[0] != 0x45)
        return;
    total = octets_get16(ip + 2);
    cut = 8 * (1 + draw(2));
    if (total > frame->captured - 14 || total < 20 + cut + 8)
        return;
    octets_put16(ip + 4, (uint16_t)draw(8)); /* few identifications: some meet others */
    octets_put16(ip + 2, (uint16_t)(20 + cut));
    octets_put16(ip + 6, 0x2000);
    first.captured = first.length = 14 + 20 + cut;
    add(capture, &first);
    frame = &capture->frames[at];
    ip = frame->octets + 14;
    memmove(ip + 20, ip + 20 + cut, total - 20 - cut);
    octets_put16(ip + 2, (uint16_t)(total - cut));
    octets_put16(ip + 6, (uint16_t)(cut / 8));
    frame->captured = 14 + total - cut;
    frame->length = frame->captured;
    if (draw(8) == 0) /* one of them is lost */
        frame->octets[14 + 6] |= 0x20;
}

static void swap(struct capture *capture, size_t a, size_t b)
{
    struct frame kept = capture->frames[a];

    capture->frames[a] = capture->frames[b];
    capture->frames[b] = kept;
}

/* One thing is done to one frame. */
static void mangle_one(struct capture *capture)
{
    size_t at = draw((uint32_t)capture->count);
    struct frame *frame = &capture->frames[at];

    switch (draw(9)) {
    case 0: drop_at(capture, at); break;
    case 1: {
        struct frame copy = *frame;

        add(capture, &copy);
        break;
    }
    case 2: swap(capture, at, draw((uint32_t)capture->count)); break;
    case 3: swap(capture, at, at > 0 ? at - 1 : at); break;
    case 4: frame->captured = draw((uint32_t)frame->captured + 1); break;
    case 5: frame->length += draw(1500); break;
    case 6:
    case 7: /* headers more often than payload */
        if (frame->captured > 0)
            frame->octets[draw((uint32_t)(draw(3) != 0 && frame->captured > 70 ? 70 : frame->captured))] ^=
                (uint8_t)(1u << draw(8));
        break;
    default: fragment(capture, at); break;
    }
}

static void mangle(struct capture *capture, const struct capture *whole)
{
    unsigned changes = 1 + draw(12);

    for (size_t i = 0; i < whole->count; i++)
        add(capture, &whole->frames[i]);
    if (draw(6) == 0 && capture->count > 0) /* the capture begins late */
        for (size_t first = draw((uint32_t)capture->count); first > 0; first--)
            drop_at(capture, 0);
    for (unsigned i = 0; i < changes && capture->count > 0; i++)
        mangle_one(capture);
}

/*
 * With the usual limits, and with limits at which connections, flows and octets are dropped. Loop: parts of the seeds.
 */
START_TEST(account_of_mangled_captures_adds_up)
{
    static const struct flow_config small = {
        .connections_max = 3, .flows_max = 2, .buffer_max = 4096, .half_buffer_max = 2048};
    struct capture *whole = calloc(paths.count, sizeof(*whole));

    for (size_t i = 0; i < paths.count; i++)
        load(&whole[i], paths.paths[i]);
    for (unsigned seed = (unsigned)_i; seed < MANGLED; seed += PARTS) {
        size_t source = seed % paths.count;
        struct capture capture = {0};

        state = seed;
        mangle(&capture, &whole[source]);
        adds_up(&capture, seed % 3 == 0 ? &small : NULL, paths.paths[source], seed);
        release(&capture);
    }
    for (size_t i = 0; i < paths.count; i++)
        release(&whole[i]);
    free(whole);
}
END_TEST

Suite *account_everywhere_suite(void)
{
    Suite *suite = suite_create("account_everywhere");
    TCase *tests = tcase_create("adds up");

    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, list_pcaps, free_pcaps);
    tcase_add_test(tests, account_of_each_capture_adds_up);
    tcase_add_test(tests, account_of_each_fuzz_input_adds_up);
    tcase_add_loop_test(tests, account_of_mangled_captures_adds_up, 0, PARTS);
    suite_add_tcase(suite, tests);
    return suite;
}
