/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of defects of anybody's (the form of reference-stack/defects/defects.tsv), and a stream that has some of its
 * rows: what it sends is then wrong in whatever way the rows say, its memory is not. The table ends where a line begins
 * with '=': what comes after is the peer's side of the stream.
 */
#include "iwarp/stream.h"
#include "reference-stack/defects/defect.h"
#include "tests/fuzz/fuzz.h"

enum { IDS_MAX = 8, BUFFER_OCTETS = 256, PORTIONS = 64 };

/*
 * ---- a stream with defects ------------------------------------------------------------------------------------------
 */

static void drain(struct iwarp_stream *stream, uint64_t now)
{
    struct iwarp_output output;
    struct iwarp_event event;

    for (unsigned i = 0; i < PORTIONS && iwarp_stream_output(stream, &output) != 0; i++) {
        for (size_t span = 0; span < output.span_count; span++)
            fuzz_touch(output.spans[span].octets, output.spans[span].count);
        iwarp_stream_output_done(stream, output.octets, now);
    }
    while (iwarp_stream_poll(stream, &event))
        continue;
}

static void post(struct iwarp_stream *stream, uint8_t *memory)
{
    static const uint8_t text[40] = "so many octets are sent and written";
    struct iwarp_send send = {.id = 1, .octets = text, .count = sizeof(text)};
    struct iwarp_write write = {.id = 2, .octets = text, .count = sizeof(text), .stag = 256};
    struct iwarp_read read = {.id = 3, .source_stag = 256, .count = 16, .sink_stag = 256};

    (void)iwarp_stream_post_receive(stream, 4, memory, BUFFER_OCTETS, NULL);
    (void)iwarp_stream_post_send(stream, &send, NULL);
    (void)iwarp_stream_post_write(stream, &write, NULL);
    (void)iwarp_stream_post_read(stream, &read, NULL);
}

static void talk(struct defect_set *defects, enum iwarp_role role, const uint8_t *said, size_t count)
{
    struct iwarp_device *device = iwarp_device_new(NULL);
    struct iwarp_region region = {.length = BUFFER_OCTETS, .access = 31, .stag = 256};
    struct iwarp_stream_config config;
    struct iwarp_stream *stream;
    uint8_t memory[BUFFER_OCTETS];
    uint64_t now = 1;

    iwarp_stream_config_default(&config, role);
    config.faults = defect_set_faults(defects);
    FUZZ_HOLDS(device != NULL && iwarp_region_register(device, &region, NULL) == 0);
    stream = iwarp_stream_new(device, &config, now, NULL);
    FUZZ_HOLDS(stream != NULL);
    post(stream, memory);
    drain(stream, now);
    for (size_t at = 0; at < count; at += PORTIONS) {
        size_t portion = count - at < PORTIONS ? count - at : PORTIONS;

        iwarp_stream_input(stream, said + at, portion, ++now);
        drain(stream, now);
    }
    iwarp_stream_tick(stream, UINT64_MAX / 2);
    drain(stream, now);
    iwarp_stream_free(stream);
    iwarp_device_free(device);
}

/*
 * ---- the table ------------------------------------------------------------------------------------------------------
 */

static void check_rows(const struct defect_list *list)
{
    for (size_t i = 0; i < defect_list_count(list); i++) {
        const struct defect *defect = defect_list_at(list, i);

        FUZZ_HOLDS(defect_list_find(list, defect->id) != NULL);
        (void)defect_breaks(defect, "DDP-7.1-01");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct iwarp_sentence why = {""};
    const char *ids[IDS_MAX];
    struct defect_list *list;
    struct defect_set *set;
    size_t table = 0, count;

    while (table < size && !(data[table] == '=' && (table == 0 || data[table - 1] == '\n')))
        table++;
    list = defect_list_parse((const char *)data, table, &why);
    FUZZ_HOLDS(list != NULL || why.text[0] != '\0');
    if (list == NULL)
        return 0;
    check_rows(list);
    count = defect_list_count(list) < IDS_MAX ? defect_list_count(list) : IDS_MAX;
    for (size_t i = 0; i < count; i++)
        ids[i] = defect_list_at(list, i)->id;
    set = defect_set_new(list, ids, count, &why);
    FUZZ_HOLDS(set != NULL || why.text[0] != '\0');
    defect_list_free(list);
    if (set != NULL) {
        const uint8_t *said = data + (table < size ? table + 1 : table);

        talk(set, size & 1 ? IWARP_INITIATOR : IWARP_RESPONDER, said, (size_t)(data + size - said));
    }
    defect_set_free(set);
    return 0;
}
