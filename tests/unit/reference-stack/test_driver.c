/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peer over kernel TCP (driver_tcp.h), driven over its control socket by a thread of the test: a transfer
 * larger than any socket takes, a connection that is refused, one that says nothing, an end by signal. Then the same
 * with allocations that fail: the driver comes to its end, and leaves nothing behind.
 */
#include <arpa/inet.h>
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "reference-stack/peer/driver_tcp.h"
#include "tests/unit/short_memory.h"

Suite *driver_suite(void);

enum { REPLY_MAX = 1 << 16, POLLS = 10000, FEW_POLLS = 150 };

/* The thread's; it allocates nothing, so that what fails is the driver's. */
static struct {
    int port; /* of the control socket */
    int fd;
    size_t octets; /* of the large transfer */
    char reply[REPLY_MAX];
    char failed_at[256]; /* the command that failed, or the event that did not come */
    int listening;
    int polls; /* for an event, a millisecond each */
} client;

static int plain_connection(int port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&name, sizeof(name)) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* One command; what is beyond REPLY_MAX of the reply is dropped. */
static bool command(const char *line)
{
    size_t count = 0;
    char text[256];

    (void)snprintf(client.failed_at, sizeof(client.failed_at), "%s", line);
    (void)snprintf(text, sizeof(text), "%s\n", line);
    if (send(client.fd, text, strlen(text), MSG_NOSIGNAL) < 0)
        return false;
    for (;;) {
        ssize_t got = recv(client.fd, client.reply + count, REPLY_MAX - 1 - count, 0);

        if (got <= 0)
            return false;
        count += (size_t)got;
        if (client.reply[count - 1] == '\n')
            break;
        if (count == REPLY_MAX - 1)
            count = 0;
    }
    client.reply[count] = '\0';
    return strstr(client.reply, "\"ok\":true") != NULL;
}

static bool event(const char *what)
{
    for (int i = 0; i < client.polls; i++) {
        if (!command("{\"verb\":\"poll\"}"))
            return false;
        if (strstr(client.reply, what) != NULL)
            return true;
        (void)usleep(1000);
    }
    (void)snprintf(client.failed_at, sizeof(client.failed_at), "no event %s", what);
    return false;
}

static bool transfer(void)
{
    char line[256];
    const char *port;

    if (!command("{\"verb\":\"listen\",\"port\":0,\"startup_ms\":40,\"linger_ms\":40}"))
        return false;
    port = strstr(client.reply, "\"port\":");
    client.listening = port == NULL ? 0 : atoi(port + 7);
    (void)snprintf(line, sizeof(line), "{\"verb\":\"reg_mr\",\"length\":%zu,\"stag\":77}", client.octets);
    if (!command(line))
        return false;
    (void)snprintf(line, sizeof(line), "{\"verb\":\"connect\",\"address\":\"127.0.0.1\",\"port\":%d}",
                   client.listening);
    if (!command(line) || !event("\"established\""))
        return false;
    (void)snprintf(line, sizeof(line), "{\"verb\":\"write\",\"stream\":1,\"stag\":77,\"length\":%zu}", client.octets);
    if (!command(line) || !command("{\"verb\":\"read\",\"stream\":1,\"source_stag\":77,\"id\":9,\"length\":0}") ||
        !event("\"read_done\""))
        return false;
    return command("{\"verb\":\"mem_read\",\"stag\":77,\"offset\":1000,\"length\":4}") &&
           strstr(client.reply, "\"f7f8f9fa\"") != NULL; /* 1000 % 251 and on */
}

static bool rest(void)
{
    char line[256];
    int silent = plain_connection(client.listening);
    bool good = silent >= 0 && event("\"error\""); /* the limit of start-up */

    (void)close(silent);
    (void)snprintf(line, sizeof(line), "{\"verb\":\"unlisten\",\"port\":%d}", client.listening);
    if (!good || !command(line))
        return false;
    (void)snprintf(line, sizeof(line), "{\"verb\":\"connect\",\"address\":\"127.0.0.1\",\"port\":%d}",
                   client.listening);
    return command(line) && event("\"connect_failed\"") && command("{\"verb\":\"disconnect\",\"stream\":1}") &&
           event("\"stream\":1,\"event\":\"closed\"");
}

static void *talk(void *result)
{
    client.fd = plain_connection(client.port);
    *(bool *)result = client.fd >= 0 && transfer() && rest();
    if (client.fd >= 0)
        (void)close(client.fd);
    (void)kill(getpid(), SIGTERM);
    return NULL;
}

/* What was refused. No option limits anything here. */
static unsigned short_of_memory, beyond_limits;

static void on_refused(void *context, const char *what)
{
    (void)context;
    short_of_memory += strstr(what, "the system has none left") != NULL;
    beyond_limits += strstr(what, "--max-") != NULL;
}

/* True when the thread heard all that it wanted. */
static bool drive(size_t octets, int polls, long *n)
{
    struct driver_config config = {.bind_address = "127.0.0.1", .refused = on_refused};
    struct driver *driver;
    pthread_t thread;
    bool heard = false;
    int status = -1;

    memset(&client, 0, sizeof(client));
    client.octets = octets;
    client.polls = polls;
    SHORT(*n, driver = driver_new(&config, NULL));
    if (driver == NULL)
        return false;
    SHORT(*n, client.port = driver_control(driver, "0", NULL));
    SHORT(*n, status = driver_stop_on(driver, SIGTERM, NULL));
    if (client.port > 0 && status == 0) {
        ck_assert_int_eq(pthread_create(&thread, NULL, talk, &heard), 0);
        SHORT(*n, status = driver_run(driver, false, NULL));
        ck_assert_int_eq(status, 0);
        (void)pthread_join(thread, NULL);
    }
    driver_free(driver);
    return heard;
}

START_TEST(driver_reports_every_event)
{
    long never = 0;

    ck_assert_msg(drive(16 << 20, POLLS, &never), "%s: %.200s", client.failed_at, client.reply);
}
END_TEST

/* Four signals and no more; what is no place for a control socket; a driver that goes with all that it has. */
START_TEST(driver_refuses_what_exceeds_its_limits)
{
    static const int signals[] = {SIGUSR1, SIGUSR2, SIGHUP, SIGTERM};
    struct iwarp_sentence why = {""};
    struct driver *driver = driver_new(NULL, &why);

    ck_assert_ptr_nonnull(driver);
    ck_assert_int_eq(driver_stop_on(driver, SIGKILL, &why), -1);
    ck_assert_ptr_nonnull(strstr(why.text, "signal 9 cannot be caught"));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(driver_stop_on(driver, signals[i], &why), 0);
    ck_assert_int_eq(driver_stop_on(driver, signals[3], &why), -1);
    ck_assert_ptr_nonnull(strstr(why.text, "no more signals"));
    ck_assert_int_eq(driver_control(driver, "0x", &why), -1);
    ck_assert_int_gt(driver_control(driver, "[::1]:0", &why), 0);
    ck_assert_int_gt(driver_control(driver, "0", &why), 0);
    driver_free(driver);
    driver_free(NULL);
}
END_TEST

#if OWN_ALLOCATOR

/* Not each allocation, of which there are thousands: they lie the closer the earlier they are. */
START_TEST(memory_runs_out)
{
    bool whole = false;

    ck_assert_int_eq(uv_replace_allocator(__libc_malloc, __libc_realloc, __libc_calloc, __libc_free), 0);
    for (int i = 0; i < 2; i++) { /* what is allocated once for the process, and for its threads */
        long never = 0;

        ck_assert_msg(drive(1000000, POLLS, &never), "%s", client.failed_at);
    }
    for (long first = 1; !whole; first += 1 + first / 12) {
        long n = first, before = short_live;

        short_failed = false;
        whole = drive(1000000, FEW_POLLS, &n);
        if (!whole && !short_failed) { /* a busy machine: once more, with patience */
            n = 0;
            whole = drive(1000000, POLLS, &n);
        }
        ck_assert_msg(whole || short_failed, "%s: %.200s", client.failed_at, client.reply);
        whole = whole && !short_failed;
        ck_assert_msg(short_live == before, "with allocation %ld failing %ld stay behind", first, short_live - before);
        ck_assert_int_lt(first, 1000000);
    }
    ck_assert_uint_ne(short_of_memory, 0);
    ck_assert_uint_eq(beyond_limits, 0);
}
END_TEST

#endif

Suite *driver_suite(void)
{
    Suite *suite = suite_create("driver");
    TCase *tcase = tcase_create("peer over kernel TCP");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, driver_reports_every_event);
    tcase_add_test(tcase, driver_refuses_what_exceeds_its_limits);
#if OWN_ALLOCATOR
    tcase_add_test(tcase, memory_runs_out);
#endif
    suite_add_tcase(suite, tcase);
    return suite;
}
