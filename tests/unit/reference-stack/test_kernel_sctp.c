/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCTP of the kernel below two associations of one loop, on the loopback. Skipped where the kernel has
 * no SCTP: tests/e2e/sctp-lab.sh has a guest with it.
 */
#include <check.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "iwarp/sctp.h"
#include "reference-stack/transport/kernel_sctp.h"
#include "reference-stack/transport/kernel_sctp_socket.h"
#include "reference-stack/transport/tcp_socket.h"

Suite *kernel_sctp_suite(void);

enum { PATIENCE_MS = 10000 };

struct end {
    struct iwarp_association *association;
    struct kernel_sctp_path *path;
    bool up, down;
    struct iwarp_association_event last;
};

static struct {
    uv_loop_t loop;
    uv_timer_t timer;
    struct iwarp_device *device;
    struct iwarp_association_config config;
    struct kernel_sctp *sctp;
    struct end server, client;
    bool late;
} talk;

static void on_changed(void *user)
{
    struct end *end = user;
    struct iwarp_association_event event;

    kernel_sctp_path_run(end->path, uv_hrtime());
    while (iwarp_association_poll(end->association, &event)) {
        end->last = event;
        end->up = end->up || event.kind == IWARP_ASSOCIATION_UP;
        end->down = end->down || event.kind == IWARP_ASSOCIATION_DOWN;
    }
    kernel_sctp_path_run(end->path, uv_hrtime());
}

static struct iwarp_association *on_incoming(void *owner, uint16_t port, struct kernel_sctp_path *path, void **user)
{
    struct end *end = &talk.server;

    (void)owner, (void)port;
    end->association = iwarp_association_new(talk.device, &talk.config, uv_hrtime(), NULL);
    end->path = path;
    *user = end;
    return end->association;
}

static void on_late(uv_timer_t *timer)
{
    (void)timer;
    talk.late = true;
}

/* A transport on a loop of its own; NULL with a sentence. */
static struct kernel_sctp *open_transport(struct iwarp_sentence *sentence)
{
    struct kernel_sctp_config config = {.mtu = 1500, .fragments = true, .incoming = on_incoming, .changed = on_changed};

    memset(&talk, 0, sizeof(talk));
    ck_assert_int_eq(uv_loop_init(&talk.loop), 0);
    ck_assert_int_eq(uv_timer_init(&talk.loop, &talk.timer), 0);
    ck_assert_int_eq(socket_name_parse("127.0.0.1", 0, &config.name), 0);
    talk.sctp = kernel_sctp_open(&talk.loop, &config, sentence);
    return talk.sctp;
}

static void begin(void)
{
    struct iwarp_sentence sentence = {""};

    ck_assert_msg(open_transport(&sentence) != NULL, "%s", sentence.text);
    talk.device = iwarp_device_new(NULL);
    ck_assert_ptr_nonnull(talk.device);
    iwarp_association_config_default(&talk.config, IWARP_SCTP_RFC5043);
}

static void close_transport(void)
{
    kernel_sctp_close(talk.sctp);
    uv_close((uv_handle_t *)&talk.timer, NULL);
    while (uv_run(&talk.loop, UV_RUN_DEFAULT) != 0) {
    }
    ck_assert_int_eq(uv_loop_close(&talk.loop), 0);
}

static void end(void)
{
    struct end *const ends[] = {&talk.server, &talk.client};

    for (size_t i = 0; i < 2; i++) {
        kernel_sctp_path_release(ends[i]->path);
        iwarp_association_free(ends[i]->association);
    }
    iwarp_device_free(talk.device);
    close_transport();
}

static void until(const bool *one, const bool *other)
{
    talk.late = false;
    ck_assert_int_eq(uv_timer_start(&talk.timer, on_late, PATIENCE_MS, 0), 0);
    while (!talk.late && !(*one && *other))
        (void)uv_run(&talk.loop, UV_RUN_ONCE);
    ck_assert_msg(*one && *other, "not within %d ms", PATIENCE_MS);
}

/* The client's association, with a listener that offers `streams`. */
static void associate(uint16_t streams, bool indicated)
{
    struct iwarp_sctp_init offer = {indicated, 1, streams, streams};
    struct kernel_sctp_place to;
    struct iwarp_sentence sentence = {""};
    int port = kernel_sctp_listen(talk.sctp, 0, &offer, &sentence);

    ck_assert_msg(port > 0, "%s", sentence.text);
    ck_assert_int_eq(kernel_sctp_listen(talk.sctp, (uint16_t)port, &offer, &sentence), -1);
    memset(&to, 0, sizeof(to));
    ck_assert_int_eq(socket_name_parse("127.0.0.1", (uint16_t)port, &to.name), 0);
    talk.client.association = iwarp_association_new(talk.device, &talk.config, uv_hrtime(), &sentence);
    ck_assert_msg(talk.client.association != NULL, "%s", sentence.text);
    talk.client.path = kernel_sctp_connect(talk.sctp, &to, talk.client.association, &talk.client, &sentence);
    ck_assert_msg(talk.client.path != NULL, "%s", sentence.text);
}

START_TEST(an_association_comes_up_and_ends_in_order)
{
    begin();
    associate(7, true);
    until(&talk.server.up, &talk.client.up);
    ck_assert_uint_eq(talk.client.last.streams, 7);
    ck_assert_uint_eq(talk.client.last.mode, IWARP_SCTP_RDMA);
    ck_assert_uint_eq(talk.server.last.mode, IWARP_SCTP_RDMA);
    iwarp_association_close(talk.client.association, uv_hrtime());
    kernel_sctp_path_run(talk.client.path, uv_hrtime());
    until(&talk.server.down, &talk.client.down);
    end();
}
END_TEST

START_TEST(a_peer_without_an_indication_is_aborted)
{
    begin();
    associate(7, false);
    until(&talk.server.down, &talk.client.down);
    ck_assert(!talk.client.up);
    end();
}
END_TEST

/* With SCTP and without: a transport, or one sentence that says what is missing. */
START_TEST(a_transport_or_a_sentence)
{
    struct iwarp_sentence sentence = {""};

    if (open_transport(&sentence) == NULL) {
        ck_assert_msg(strncmp(sentence.text, "SCTP of the kernel: ", 20) == 0, "'%s'", sentence.text);
        ck_assert_ptr_null(strchr(sentence.text, '\n'));
    } else {
        ck_assert_str_eq(sentence.text, "");
    }
    close_transport();
}
END_TEST

Suite *kernel_sctp_suite(void)
{
    Suite *suite = suite_create("kernel_sctp");
    TCase *tcase = tcase_create("kernel");
    struct iwarp_sentence sentence = {""};
    int descriptor = kernel_sctp_socket(AF_INET, &sentence);

    suite_add_tcase(suite, tcase);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_transport_or_a_sentence);
    if (descriptor < 0) {
        fprintf(stderr, "SKIP kernel_sctp: %s\n", sentence.text);
        return suite;
    }
    kernel_sctp_socket_close(descriptor, false);
    tcase_add_test(tcase, an_association_comes_up_and_ends_in_order);
    tcase_add_test(tcase, a_peer_without_an_indication_is_aborted);
    return suite;
}
