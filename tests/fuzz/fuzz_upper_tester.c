/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The upper tester's lines (docs/upper-tester.md), beside a stream in operation that the lines may name: each gets one
 * reply of one line, and the peer lives. The input is the lines; the transport swallows what is sent.
 */
#include "reference-stack/peer/peer.h"
#include "tests/fuzz/json.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"

/*
 * What one input may hold is little enough to reach its limits often: a command for more is refused, and an input takes
 * the time of its lines, not that of filling large buffers. A message still goes into several segments.
 */
enum { FUZZ_PORT = 7174, FUZZ_REGIONS = 1 << 17, FUZZ_MEMORY = 1 << 18, LINES_MAX = 32 };

static int op_listen(void *context, uint16_t port, struct iwarp_sentence *why)
{
    (void)context;
    (void)why;
    return port == 0 ? FUZZ_PORT : port;
}

static void op_unlisten(void *context, uint16_t port)
{
    (void)context;
    (void)port;
}

static void *op_connect(void *context, const char *address, uint16_t port, struct peer_stream *stream)
{
    (void)address;
    (void)port;
    (void)stream;
    return context;
}

static void op_send(void *transport, const uint8_t *octets, size_t count)
{
    FUZZ_HOLDS(transport != NULL && octets != NULL && count != 0);
}

static void op_end(void *transport)
{
    FUZZ_HOLDS(transport != NULL);
}

static const struct peer_transport_ops ops = {
    .listen = op_listen,
    .unlisten = op_unlisten,
    .connect = op_connect,
    .send = op_send,
    .carrier.shutdown = op_end,
    .carrier.abort = op_end,
    .carrier.release = op_end,
};

/* One reply: a JSON object with "ok", and with "error" where that is false; without a newline. */
static void obey(struct peer *peer, const char *line, uint64_t now)
{
    char *text = peer_command(peer, line, now);

    FUZZ_HOLDS(text != NULL && strchr(text, '\n') == NULL && fuzz_is_answer(text, strlen(text)));
    free(text);
}

/* Stream 1: an initiator has said hello and sent an empty RDMA Write, so that the gate is open. */
static void open_stream(struct peer *peer, void *transport)
{
    static const uint8_t write[14] = {0xC1, 0x40};
    struct iwarp_mpa_start start = {
        .kind = IWARP_MPA_REQUEST, .revision = 2, .enhanced = true, .crc = true, .ird = 4, .ord = 4};
    struct fpdu_framing framing = {false, true, 0};
    uint8_t octets[MPA_START_MAX];
    struct peer_stream *stream;

    obey(peer, "{\"verb\":\"listen\",\"port\":7174,\"receives\":2,\"receive_octets\":64}", 1);
    stream = peer_accepted(peer, FUZZ_PORT, transport, 1);
    FUZZ_HOLDS(stream != NULL);
    peer_input(stream, octets, mpa_start_pack(&start, octets, sizeof(octets)), 1);
    peer_input(stream, octets, fpdu_pack(write, sizeof(write), &framing, octets, sizeof(octets)), 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct peer_config config = {.streams_max = 8, .regions_octets_max = FUZZ_REGIONS, .memory_max = FUZZ_MEMORY};
    int transport = 0;
    struct peer *peer = peer_new(&config, &ops, &transport, NULL);
    char *lines = malloc(size + 1);
    uint64_t now = 2;

    if (peer == NULL || lines == NULL)
        abort();
    memcpy(lines, data, size);
    lines[size] = '\0';
    open_stream(peer, &transport);
    for (char *at = lines; at != NULL && *at != '\0' && now < LINES_MAX; now++) {
        char *end = strchr(at, '\n');

        if (end != NULL)
            *end++ = '\0';
        obey(peer, at, now);
        at = end;
    }
    peer_tick(peer, UINT64_MAX - 1);
    obey(peer, "{\"verb\":\"poll\"}", now);
    peer_free(peer);
    free(lines);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_json_mutate(data, size, room, seed, true);
}
