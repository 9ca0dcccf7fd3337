/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/peer/cm_driver.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/transport/tcp_socket.h"
#include "reference-stack/transport/udp_socket.h"
#include "wire/roce.h"

enum { SIGNALS_MAX = 2 };

#define MILLISECOND UINT64_C(1000000)

struct cm_driver {
    struct cm_driver_config config;
    uv_loop_t loop;
    bool loop_made;
    uv_timer_t timer;
    uv_signal_t signals[SIGNALS_MAX];
    unsigned signal_count;
    struct udp_socket *socket;
    struct cm_agent *agent;
    struct cm_address own;
    struct cm_driver_counts counts;
    uint32_t psn;
};

uint64_t cm_driver_now(void)
{
    return uv_hrtime();
}

struct cm_agent *cm_driver_agent(struct cm_driver *driver)
{
    return driver->agent;
}

uint16_t cm_driver_port(const struct cm_driver *driver)
{
    return udp_socket_port(driver->socket);
}

struct cm_address cm_driver_address(const struct cm_driver *driver)
{
    return driver->own;
}

void cm_driver_counts(const struct cm_driver *driver, struct cm_driver_counts *counts)
{
    *counts = driver->counts;
}

/*
 * --- Addresses -----------------------------------------------------------------------------------------------------
 */

int cm_address_parse(struct cm_address *address, const char *text)
{
    memset(address, 0, sizeof(*address));
    address->family = strchr(text, ':') != NULL ? 6 : 4;
    return inet_pton(address->family == 6 ? AF_INET6 : AF_INET, text, address->octets) == 1 ? 0 : -1;
}

const char *cm_address_format(const struct cm_address *address, char *text, size_t room)
{
    if (inet_ntop(address->family == 6 ? AF_INET6 : AF_INET, address->octets, text, (socklen_t)room) == NULL)
        text[0] = '\0';
    return text;
}

static void name_of(const struct cm_place *place, struct sockaddr_storage *name)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(place->port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(place->port)};

    memset(name, 0, sizeof(*name));
    memcpy(&six.sin6_addr, place->address, 16);
    memcpy(&four.sin_addr, place->address, 4);
    if (place->family == 6)
        memcpy(name, &six, sizeof(six));
    else
        memcpy(name, &four, sizeof(four));
}

static struct cm_place place_of(const struct sockaddr_storage *name)
{
    struct cm_place place = {.family = name->ss_family == AF_INET6 ? 6 : 4};
    struct sockaddr_in6 six;
    struct sockaddr_in four;

    memcpy(&six, name, sizeof(six));
    memcpy(&four, name, sizeof(four));
    if (place.family == 6)
        memcpy(place.address, &six.sin6_addr, 16);
    else
        memcpy(place.address, &four.sin_addr, 4);
    place.port = ntohs(place.family == 6 ? six.sin6_port : four.sin_port);
    return place;
}

/* As the kernel makes it of a socket that has its packets never fragmented. */
static void path_of(const struct cm_driver *driver, const struct cm_place *other, bool outgoing, struct roce_path *path)
{
    memset(path, 0, sizeof(*path));
    path->family = driver->own.family;
    memcpy(outgoing ? path->source : path->destination, driver->own.octets, 16);
    memcpy(outgoing ? path->destination : path->source, other->address, 16);
    path->source_port = outgoing ? cm_driver_port(driver) : other->port;
    path->destination_port = outgoing ? other->port : cm_driver_port(driver);
}

/*
 * --- In and out ----------------------------------------------------------------------------------------------------
 */

static void on_timer(uv_timer_t *timer);

static void send_all(struct cm_driver *driver)
{
    struct cm_output output;

    while (cm_agent_output(driver->agent, &output)) {
        uint8_t packet[UD_MAD_OCTETS];
        struct sockaddr_storage to;
        struct roce_path path;

        path_of(driver, &output.to, true, &path);
        roce_pack(packet, &path, &(struct ud_header){.psn = driver->psn++ & 0xFFFFFF, .migrated = true}, output.mad);
        name_of(&output.to, &to);
        driver->counts.unsent +=
            output.to.family != driver->own.family || !udp_socket_send(driver->socket, &to, packet, sizeof(packet));
    }
}

void cm_driver_flush(struct cm_driver *driver)
{
    struct cm_event event;
    uint64_t due, now;

    send_all(driver);
    while (cm_agent_poll(driver->agent, &event))
        driver->config.event(driver->config.context, driver, &event);
    send_all(driver); /* what the ULP has decided */
    due = cm_agent_deadline(driver->agent);
    now = cm_driver_now();
    if (due == UINT64_MAX)
        (void)uv_timer_stop(&driver->timer);
    else
        (void)uv_timer_start(&driver->timer, on_timer, due <= now ? 0 : (due - now) / MILLISECOND + 1, 0);
}

static void on_timer(uv_timer_t *timer)
{
    struct cm_driver *driver = timer->data;

    cm_agent_tick(driver->agent, cm_driver_now());
    cm_driver_flush(driver);
}

static void received(void *owner, const struct sockaddr_storage *from, const uint8_t *octets, size_t count)
{
    struct cm_driver *driver = owner;
    struct cm_place place = place_of(from);
    const uint8_t *mad = ud_mad_parse(octets, count);
    struct roce_path path;

    if (mad == NULL || place.family != driver->own.family) {
        driver->counts.foreign++;
        return;
    }
    path_of(driver, &place, false, &path);
    if (driver->config.strict_icrc && !roce_icrc_good(&path, octets)) {
        driver->counts.bad_icrc++;
        return;
    }
    cm_agent_input(driver->agent, &place, mad, MAD_OCTETS, cm_driver_now());
    cm_driver_flush(driver);
}

/*
 * --- Life ----------------------------------------------------------------------------------------------------------
 */

static int open_all(struct cm_driver *driver, struct iwarp_sentence *sentence)
{
    struct cm_agent_config agent = driver->config.agent;
    struct sockaddr_storage name;
    struct iwarp_sentence why = {""};

    if (cm_address_parse(&driver->own, driver->config.address) != 0 ||
        socket_name_parse(driver->config.address, driver->config.port, &name) != 0)
        return iwarp_sentence_set(sentence, "%s: an IPv4 or IPv6 address was expected, no name",
                                  driver->config.address);
    if (memcmp(driver->own.octets, (const uint8_t[16]){0}, 16) == 0)
        return iwarp_sentence_set(sentence, "%s: the address of an interface was expected, which the ICRC covers",
                                  driver->config.address);
    if (uv_loop_init(&driver->loop) != 0)
        return iwarp_sentence_set(sentence, "no event loop: out of memory or of file descriptors");
    driver->loop_made = true;
    driver->timer.data = driver;
    if (uv_timer_init(&driver->loop, &driver->timer) != 0)
        return iwarp_sentence_set(sentence, "out of memory");
    if (agent.own_count == 0) {
        agent.own = &driver->own;
        agent.own_count = 1;
    }
    driver->agent = cm_agent_new(&agent, sentence);
    if (driver->agent == NULL)
        return -1;
    driver->socket = udp_socket_open(&driver->loop, &name, received, driver, &why);
    if (driver->socket == NULL)
        return iwarp_sentence_set(sentence, "UDP port %u of %s: %.200s", driver->config.port, driver->config.address,
                                  why.text);
    return 0;
}

struct cm_driver *cm_driver_new(const struct cm_driver_config *config, struct iwarp_sentence *sentence)
{
    struct cm_driver *driver = calloc(1, sizeof(*driver));

    if (driver == NULL) {
        (void)iwarp_sentence_set(sentence, "out of memory");
        return NULL;
    }
    driver->config = *config;
    if (open_all(driver, sentence) == 0)
        return driver;
    cm_driver_free(driver);
    return NULL;
}

static void close_handle(uv_handle_t *handle, void *unused)
{
    (void)unused;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void cm_driver_free(struct cm_driver *driver)
{
    if (driver == NULL)
        return;
    if (driver->socket != NULL)
        udp_socket_close(driver->socket);
    if (driver->loop_made) {
        uv_walk(&driver->loop, close_handle, NULL);
        (void)uv_run(&driver->loop, UV_RUN_DEFAULT);
        (void)uv_loop_close(&driver->loop);
    }
    cm_agent_free(driver->agent);
    free(driver);
}

int cm_driver_run(struct cm_driver *driver, struct iwarp_sentence *sentence)
{
    cm_driver_flush(driver);
    if (uv_run(&driver->loop, UV_RUN_DEFAULT) < 0)
        return iwarp_sentence_set(sentence, "the event loop failed");
    return 0;
}

void cm_driver_stop(struct cm_driver *driver)
{
    uv_stop(&driver->loop);
}

static void on_signal(uv_signal_t *handle, int signal_number)
{
    (void)signal_number;
    uv_stop(handle->loop);
}

int cm_driver_stop_on(struct cm_driver *driver, int signal_number, struct iwarp_sentence *sentence)
{
    uv_signal_t *handle = &driver->signals[driver->signal_count];

    if (driver->signal_count == SIGNALS_MAX || uv_signal_init(&driver->loop, handle) != 0)
        return iwarp_sentence_set(sentence, "no more signals can be waited for");
    driver->signal_count++;
    if (uv_signal_start(handle, on_signal, signal_number) != 0)
        return iwarp_sentence_set(sentence, "signal %d cannot be waited for", signal_number);
    return 0;
}
