/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rings of anybody's. The input's first line is a path, from which the place in a ring is read; what follows, divided
 * by lines that begin with "=", are the files of a ring, which are ordered and read as one capture, twice.
 *
 * Parts of a name lie within it and the number is that of its digits; each frame of the series is one of a file, in an
 * order that goes through each file once; the second reading gives what the first gave; the account adds up.
 */
#include "conformance/engine/capture/capture_series.h"
#include "conformance/flow/decoder.h"
#include "tests/fuzz/fuzz.h"

enum { FILES_MAX = 4, FRAMES_MAX = 256 };

static void sink(void *user, const struct flow_event *event)
{
    (void)user;
    FUZZ_HOLDS(event->flow != NULL && event->frame != 0);
}

static void check_name(const uint8_t *data, size_t size)
{
    char *path = malloc(size + 1);
    struct ring_name name;

    FUZZ_HOLDS(path != NULL);
    memcpy(path, data, size);
    path[size] = '\0';
    ring_name_read(path, &name);
    if (name.kind != RING_NONE) {
        FUZZ_HOLDS(name.stem <= name.tail && name.tail + name.tail_count <= strlen(path));
        FUZZ_HOLDS(memchr(path + name.stem, '/', strlen(path) - name.stem) == NULL);
        FUZZ_HOLDS(name.kind != RING_DUMPCAP || (name.number < RING_DUMPCAP_NUMBERS && name.numbered));
        FUZZ_HOLDS(name.kind != RING_TCPDUMP || (name.time == 0 && name.number == strtoul(path + name.stem, NULL, 10)));
    }
    free(path);
}

/* Reads the series to its end. Returns its frames. */
static uint64_t read_series(struct capture_series *series, const struct capture_ring *ring)
{
    struct flow_config config = {.flows_max = 16, .half_buffer_max = 4096};
    struct flow_decoder *decoder = flow_decoder_create(&config, sink, NULL);
    struct iwarp_sentence error = {""};
    struct flow_frame frame;
    const char *file = NULL;
    uint64_t count = 0, within = 0, offset;
    int rc = 0;

    FUZZ_HOLDS(decoder != NULL);
    while (count < FRAMES_MAX && (rc = capture_series_next(series, &frame, &error)) == 1) {
        uint64_t own;
        const char *here = capture_series_where(series, ++count, &own);

        FUZZ_HOLDS(frame.number == count && capture_series_frames(series) == count);
        FUZZ_HOLDS(own == (here == file ? within + 1 : 1));
        file = here;
        within = own;
        fuzz_touch(frame.octets, frame.captured);
        (void)capture_series_place(series, &frame, &offset);
        flow_decoder_frame(decoder, &frame);
    }
    if (rc < 0)
        FUZZ_HOLDS(error.text[0] != '\0' && strchr(error.text, '\n') == NULL);
    FUZZ_HOLDS(file == NULL || ring->ordered);
    flow_decoder_finish(decoder);
    FUZZ_HOLDS(flow_totals_balanced(flow_decoder_totals(decoder)));
    flow_decoder_destroy(decoder);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = memchr(data, '\n', size);
    size_t name = line != NULL ? (size_t)(line - data) : size;
    const char *paths[FILES_MAX];
    uint32_t numbers[FILES_MAX] = {0, 1, 3, 4};
    struct capture_ring ring = {.files = (char **)paths, .numbers = numbers};
    struct capture_series *series;
    struct iwarp_sentence error = {""};

    check_name(data, name);
    if (line == NULL)
        return 0;
    ring.kind = name % 2 != 0 ? RING_DUMPCAP : RING_TCPDUMP;
    ring.count = fuzz_parts(line + 1, size - name - 1, paths, FILES_MAX);
    if (ring.count == 0)
        return 0;
    series = capture_series_open(paths[0], &ring, &error);
    if (series == NULL) {
        FUZZ_HOLDS(error.text[0] != '\0');
        return 0;
    }
    uint64_t frames = read_series(series, &ring);

    FUZZ_HOLDS(capture_series_rewind(series, &error) == 0);
    FUZZ_HOLDS(read_series(series, &ring) == frames);
    FUZZ_HOLDS(ring.missing <= RING_DUMPCAP_NUMBERS * (uint64_t)FILES_MAX);
    capture_series_close(series);
    return 0;
}
