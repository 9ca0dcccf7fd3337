/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A key-value store whose server does nothing: clients put with an RDMA Write and get with an RDMA Read, straight in
 * the server's table, whose STag and Tagged Offset they get in the Private Data of the Reply.
 *
 *     kv serve PORT                    port 0: any; "port N" is printed
 *     kv ADDRESS PORT put KEY VALUE
 *     kv ADDRESS PORT get KEY          prints the value; exit status 1 when there is none, with a sentence when nobody knows
 *
 * A slot is found by the key's hash; one that holds another key is passed over. Two clients that put different keys
 * into the same empty slot at once can lose one of them: for that there are atomics (iwarp_post_atomic()).
 */
#include <fcntl.h>
#include <iwarp/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096, KEY = 32, VALUE = 96, PROBES = 16 };

struct slot {
    char key[KEY];
    char value[VALUE];
};

struct table {
    uint64_t to;
    uint32_t stag;
    uint32_t slots;
};

struct client {
    struct iwarp_context *context;
    struct iwarp_cq *cq;
    struct iwarp_qp *qp;
    struct table table;
    struct slot slot;
    uint32_t stag; /* of `slot` */
    bool lost;     /* a Read did not come back: nobody knows what is in the table */
};

static const char lost[] = "the connection was lost, or memory was short";

static int fail(const char *what)
{
    (void)fprintf(stderr, "kv: %s\n", what);
    return EXIT_FAILURE;
}

/* 0 to `most` in digits; -1: anything else. */
static long number(const char *text, long most)
{
    char *end;
    long value = strtol(text, &end, 10);

    return *text == '\0' || *end != '\0' || value < 0 || value > most ? -1 : value;
}

/* Serves until it cannot any more. */
static void serve_on(struct iwarp_context *context, struct iwarp_cq *cq, struct slot *slots, uint16_t port,
                     struct iwarp_sentence *why)
{
    struct table table = {.to = (uint64_t)(uintptr_t)slots, .slots = SLOTS};
    struct iwarp_listener *listener;
    struct iwarp_completion done;
    struct iwarp_qp_options options;
    struct iwarp_qp_event event;

    if (iwarp_register(context, slots, SLOTS * sizeof(*slots), IWARP_REMOTE_READ | IWARP_REMOTE_WRITE, &table.stag,
                       why) != 0)
        return;
    iwarp_qp_options_default(&options, cq);
    memcpy(options.stream.private_data, &table, sizeof(table));
    options.stream.private_octets = sizeof(table);
    listener = iwarp_listen(context, "127.0.0.1", port, &options, why);
    if (listener == NULL)
        return;
    if (printf("port %u\n", iwarp_listener_port(listener)) < 0 || fflush(stdout) != 0) {
        (void)iwarp_sentence_set(why, "standard output cannot be written");
        return;
    }
    while (iwarp_context_run(context, -1, why) >= 0) {
        while (iwarp_next_event(context, &event))
            if (event.kind == IWARP_QP_CLOSED)
                iwarp_qp_free(event.qp);
        while (iwarp_poll_cq(cq, &done, 1) != 0) {
        }
    }
}

static int serve(uint16_t port)
{
    struct iwarp_sentence why = {"out of memory"};
    struct iwarp_context *context = iwarp_context_new(NULL, &why);
    struct iwarp_cq *cq = iwarp_cq_new(context);
    struct slot *slots = calloc(SLOTS, sizeof(*slots));

    if (cq != NULL && slots != NULL)
        serve_on(context, cq, slots, port, &why);
    iwarp_context_free(context);
    free(slots);
    return fail(why.text);
}

/* Until the work that was posted is done. */
static int wait_for_work(struct client *client)
{
    struct iwarp_completion done;
    struct iwarp_sentence why = {""};

    while (iwarp_poll_cq(client->cq, &done, 1) == 0) {
        struct iwarp_qp_event event;

        if (iwarp_context_run(client->context, -1, &why) < 0)
            return -1;
        while (iwarp_next_event(client->context, &event)) {
        }
    }
    return done.status == IWARP_STATUS_OK ? 0 : -1;
}

static uint64_t slot_to(const struct client *client, const char *key, unsigned probe)
{
    uint32_t hash = 2166136261u;

    for (const char *at = key; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * 16777619u;
    return client->table.to + (hash + probe) % client->table.slots * sizeof(struct slot);
}

static int read_slot(struct client *client, uint64_t to)
{
    struct iwarp_read read = {.sink_stag = client->stag,
                              .sink_to = (uint64_t)(uintptr_t)&client->slot,
                              .source_stag = client->table.stag,
                              .source_to = to,
                              .count = sizeof(client->slot)};
    struct iwarp_sentence why = {""};

    return iwarp_post_read(client->qp, &read, &why) != 0 ? -1 : wait_for_work(client);
}

/* The slot that has the key or, with `or_empty`, the first that is empty before it. 0: none. */
static uint64_t find(struct client *client, const char *key, int or_empty)
{
    for (unsigned probe = 0; probe < PROBES; probe++) {
        uint64_t to = slot_to(client, key, probe);

        if (read_slot(client, to) != 0) {
            client->lost = true;
            return 0;
        }
        if (strncmp(client->slot.key, key, KEY) == 0)
            return to;
        if (client->slot.key[0] == '\0')
            return or_empty ? to : 0;
    }
    return 0;
}

static int put(struct client *client, const char *key, const char *value)
{
    uint64_t to = find(client, key, 1);
    struct iwarp_write write = {
        .octets = (const uint8_t *)&client->slot, .count = sizeof(client->slot), .stag = client->table.stag, .to = to};
    struct iwarp_sentence why = {""};

    if (to == 0)
        return fail(client->lost ? lost : "no slot is free");
    memset(&client->slot, 0, sizeof(client->slot));
    (void)snprintf(client->slot.key, KEY, "%s", key);
    (void)snprintf(client->slot.value, VALUE, "%s", value);
    if (iwarp_post_write(client->qp, &write, &why) != 0 || wait_for_work(client) != 0)
        return fail("the Write did not go out");
    /* A Write completes when it is on its way; a Read after it says that it has arrived (RFC 5040 5.5). */
    if (find(client, key, 0) != to || strncmp(client->slot.value, value, VALUE - 1) != 0)
        return fail("the value is not there");
    return EXIT_SUCCESS;
}

static int connect_to(struct client *client, const char *address, uint16_t port, struct iwarp_sentence *why)
{
    struct iwarp_qp_options options;
    struct iwarp_qp_event event = {.kind = IWARP_QP_COMPLETION};
    const uint8_t *data;
    size_t octets;

    client->context = iwarp_context_new(NULL, why);
    client->cq = iwarp_cq_new(client->context);
    if (client->cq == NULL || iwarp_register(client->context, &client->slot, sizeof(client->slot), IWARP_LOCAL_WRITE,
                                             &client->stag, why) != 0)
        return -1;
    iwarp_qp_options_default(&options, client->cq);
    client->qp = iwarp_connect(client->context, address, port, &options, why);
    if (client->qp == NULL)
        return -1;
    while (!iwarp_next_event(client->context, &event))
        if (iwarp_context_run(client->context, -1, why) < 0)
            return -1;
    if (event.kind != IWARP_QP_ESTABLISHED)
        return iwarp_sentence_set(why, "%s", event.detail.text[0] != '\0' ? event.detail.text : "the server declines");
    data = iwarp_mpa_start_ulp_data(&event.detail.start, &octets);
    if (octets != sizeof(client->table))
        return iwarp_sentence_set(why, "that is not a key-value store");
    memcpy(&client->table, data, octets);
    return client->table.slots != 0 ? 0 : iwarp_sentence_set(why, "that is a key-value store without a slot");
}

/*
 * A descriptor that was closed is opened the wrong way round: what is written there fails, and no socket takes its
 * place.
 */
static void reserve_standard_descriptors(void)
{
    for (int i = 0; i <= 2; i++)
        if (fcntl(i, F_GETFD) < 0)
            (void)open("/dev/null", i == 0 ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    struct client client = {0};
    struct iwarp_sentence why = {"out of memory"};
    long port = argc > 2 ? number(argv[2], UINT16_MAX) : -1;
    int status = EXIT_FAILURE;

    reserve_standard_descriptors();
    if (argc > 2 && port < 0)
        return fail("a port from 0 to 65535 was expected");
    if (iwarp_reserve_memory(0, &why) != 0)
        return fail(why.text);
    if (argc == 3 && strcmp(argv[1], "serve") == 0)
        return serve((uint16_t)port);
    if (argc < 5 || (strcmp(argv[3], "put") != 0 && strcmp(argv[3], "get") != 0) || argc != (argv[3][0] == 'p' ? 6 : 5))
        return fail("usage: kv serve PORT | kv ADDRESS PORT put KEY VALUE | kv ADDRESS PORT get KEY");
    if (argv[4][0] == '\0' || strlen(argv[4]) >= KEY || (argc == 6 && strlen(argv[5]) >= VALUE))
        return fail("a key has 1 to 31 octets, a value at most 95");
    if (connect_to(&client, argv[1], (uint16_t)port, &why) != 0) {
        (void)fail(why.text);
    } else if (argv[3][0] == 'p') {
        status = put(&client, argv[4], argv[5]);
    } else if (find(&client, argv[4], 0) != 0) {
        bool written = printf("%s\n", client.slot.value) >= 0 && fflush(stdout) == 0;

        status = written ? EXIT_SUCCESS : fail("standard output cannot be written");
    } else if (client.lost) {
        (void)fail(lost);
    }
    iwarp_context_free(client.context);
    return status;
}
