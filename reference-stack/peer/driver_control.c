/* SPDX-License-Identifier: BSD-2-Clause */
/* The upper tester's socket: lines in, one line out for each (docs/upper-tester.md). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reference-stack/peer/driver_internal.h"
#include "reference-stack/transport/tcp_listener.h"

enum { SHORT_REPLY = 4096 }; /* octets: there is always room for those */

/* A server socket or one of its connections. libuv's handle comes first, and both kinds share its stream part. */
struct control {
    union {
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } handle;
    struct driver *driver;
    struct control *next, *previous;
    bool is_pipe;
    bool is_client; /* not a server socket */
    bool skipping;  /* the rest of a line that could not be kept; it has its answer */
    bool ending;    /* the client says no more: close after the last reply */
    bool shown;     /* the token, where one is demanded */
    bool waiting;   /* the client does not read: no more is obeyed until its replies are out */
    char *line;
    size_t count, room;
    size_t seen; /* octets of the line that hold no newline */
    char read_buffer[65536];
};

struct reply {
    uv_write_t request;
    size_t count; /* octets of the text */
    char *text;
};

static void control_closed(uv_handle_t *handle)
{
    struct control *control = handle->data;

    if (control->previous != NULL)
        control->previous->next = control->next;
    else
        control->driver->controls = control->next;
    if (control->next != NULL)
        control->next->previous = control->previous;
    control->driver->control_count -= control->is_client;
    budget_give(control->driver->pool.budget, control->room + (control->is_client ? sizeof(*control) : 0));
    free(control->line);
    free(control);
}

static void control_close(struct control *control)
{
    spare_handle_forget(&control->driver->pool.spare, &control->handle.stream);
    if (!uv_is_closing((uv_handle_t *)&control->handle))
        uv_close((uv_handle_t *)&control->handle, control_closed);
}

static struct control *control_new(struct driver *driver, bool is_pipe)
{
    struct control *control = calloc(1, sizeof(*control));
    int result;

    if (control == NULL)
        return NULL;
    control->driver = driver;
    control->is_pipe = is_pipe;
    result = is_pipe ? uv_pipe_init(&driver->loop, &control->handle.pipe, 0)
                     : uv_tcp_init(&driver->loop, &control->handle.tcp);
    if (result != 0) {
        free(control);
        return NULL;
    }
    control->handle.stream.data = control;
    control->next = driver->controls;
    if (control->next != NULL)
        control->next->previous = control;
    driver->controls = control;
    return control;
}

static struct control *client_new(struct driver *driver, bool is_pipe)
{
    struct control *control = NULL;

    if (!budget_charge_reserved(driver->pool.budget, sizeof(*control)))
        return NULL;
    control = control_new(driver, is_pipe);
    if (control == NULL) {
        budget_give(driver->pool.budget, sizeof(*control));
        return NULL;
    }
    control->is_client = true;
    driver->control_count++;
    return control;
}

void driver_control_free(struct driver *driver)
{
    for (struct control *control = driver->controls; control != NULL; control = control->next)
        control_close(control);
}

static void control_resume(struct control *control);

static void reply_done(uv_write_t *request, int status)
{
    struct reply *reply = request->data;
    struct control *control = request->handle->data;

    budget_give(control->driver->pool.budget, reply->count);
    free(reply->text);
    free(reply);
    if (status < 0 || (control->ending && control->handle.stream.write_queue_size == 0))
        control_close(control);
    else if (control->waiting && control->handle.stream.write_queue_size == 0)
        control_resume(control);
}

/* A long reply that the limit has no room for is not given. The text that stands for it is short. */
static char *within_limit(struct control *control, char *text)
{
    struct budget *budget = control->driver->pool.budget;
    size_t count = text == NULL ? 0 : strlen(text);

    if (count <= SHORT_REPLY || budget_charge_reserved(budget, count)) {
        if (count > SHORT_REPLY)
            budget_give(budget, count);
        return text;
    }
    driver_refuse(control->driver, DRIVER_REFUSED_MEMORY);
    free(text);
    return strdup("{\"ok\":false,\"error\":\"the reply is beyond the limit of memory\"}");
}

static void answer(struct control *control, char *text)
{
    struct reply *reply = (text = within_limit(control, text)) == NULL ? NULL : malloc(sizeof(*reply));
    size_t count = text == NULL ? 0 : strlen(text);
    uv_buf_t buffer;

    if (reply == NULL) {
        free(text);
        control_close(control);
        return;
    }
    budget_add(control->driver->pool.budget, count);
    reply->count = count;
    text[count] = '\n'; /* in the place of the zero octet: the text goes out by its count */
    reply->text = text;
    reply->request.data = reply;
    buffer = uv_buf_init(text, (unsigned)count + 1);
    if (uv_write(&reply->request, &control->handle.stream, &buffer, 1, reply_done) != 0) {
        budget_give(control->driver->pool.budget, count);
        free(text);
        free(reply);
        control_close(control);
    }
}

static bool is_admitted(const struct control *control)
{
    return control->shown || control->driver->config.token.text[0] == '\0';
}

/* Nothing more is read of it. It is closed when its answer is out. */
static void dismiss(struct control *control)
{
    control->ending = true;
    if (!uv_is_closing((uv_handle_t *)&control->handle))
        (void)uv_read_stop(&control->handle.stream);
}

/* One line without its newline; octets[count] may be written. */
static void obey_line(struct control *control, char *octets, size_t count)
{
    char *zero;

    if (count != 0 && octets[count - 1] == '\r')
        count--;
    if (count == 0)
        return;
    octets[count] = '\0';
    /* What is after a zero octet would go unseen. No control character can be in JSON. */
    while ((zero = memchr(octets, '\0', count)) != NULL)
        *zero = '\1';
    if (is_admitted(control)) {
        answer(control, peer_command(control->driver->peer, octets, driver_now(control->driver)));
        return;
    }
    answer(control, upper_token_answer(&control->driver->config.token, octets, count, &control->shown));
    if (!control->shown)
        dismiss(control);
}

/* Obeys each whole line that is there. */
static void obey_lines(struct control *control)
{
    char *at = control->line;
    size_t left = control->count;
    size_t seen = control->seen;
    char *end;

    while (left != seen && (end = memchr(at + seen, '\n', left - seen)) != NULL) {
        size_t octets = (size_t)(end - at) + 1;

        if (control->handle.stream.write_queue_size > control->driver->config.unread_max) {
            control->waiting = true;
            (void)uv_read_stop(&control->handle.stream);
            break;
        }
        seen = 0;
        if (!control->ending && !uv_is_closing((uv_handle_t *)&control->handle))
            obey_line(control, at, octets - 1);
        at += octets;
        left -= octets;
    }
    if (left != 0)
        memmove(control->line, at, left);
    control->count = left;
    control->seen = control->waiting ? 0 : left;
}

static bool keep(struct control *control, const char *octets, size_t count)
{
    size_t room = control->count + count + 1;

    if (room > (is_admitted(control) ? DRIVER_LINE_MAX : UPPER_TOKEN_LINE))
        return false;
    if (room > control->room) {
        struct budget *budget = control->driver->pool.budget;
        uint64_t refused = budget->refused;
        size_t more = room * 2 - control->room;
        char *bigger = budget_charge_reserved(budget, more) ? realloc(control->line, room * 2) : NULL;

        if (bigger == NULL) {
            driver_refuse_memory(control->driver, refused);
            return false;
        }
        control->line = bigger;
        control->room = room * 2;
    }
    memcpy(control->line + control->count, octets, count);
    control->count += count;
    return true;
}

/* A line that cannot be kept has its answer at once; what is after it is obeyed as ever. */
static void obey_octets(struct control *control, const char *octets, size_t count)
{
    while (count != 0 && !control->ending) {
        const char *end = control->skipping ? memchr(octets, '\n', count) : NULL;
        size_t skip = end == NULL ? count : (size_t)(end - octets) + 1;

        if (!control->skipping) {
            if (keep(control, octets, count))
                return;
            free(control->line);
            control->line = NULL;
            budget_give(control->driver->pool.budget, control->room);
            control->count = control->room = control->seen = 0;
            control->skipping = true;
            answer(control, strdup("{\"ok\":false,\"error\":\"the line is too long\"}"));
            if (!is_admitted(control))
                dismiss(control);
            continue;
        }
        control->skipping = end == NULL;
        octets += skip;
        count -= skip;
    }
}

static void control_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct control *control = handle->data;

    (void)suggested;
    *buffer = uv_buf_init(control->read_buffer, sizeof(control->read_buffer));
}

static void control_read(uv_stream_t *handle, ssize_t count, const uv_buf_t *buffer)
{
    struct control *control = handle->data;

    if (count == 0)
        return;
    if (count == UV_EOF && handle->write_queue_size != 0) {
        control->ending = true;
        (void)uv_read_stop(handle);
        return;
    }
    if (count < 0) {
        control_close(control);
        return;
    }
    obey_octets(control, buffer->base, (size_t)count);
    obey_lines(control);
}

static void control_resume(struct control *control)
{
    control->waiting = false;
    obey_lines(control);
    if (!control->waiting && !uv_is_closing((uv_handle_t *)&control->handle) &&
        uv_read_start(&control->handle.stream, control_room, control_read) != 0)
        control_close(control);
}

/* Where a token is demanded, strangers never keep the tester out: the oldest of them leaves. False: there is none. */
static bool dismiss_stranger(struct driver *driver)
{
    struct control *oldest = NULL;

    for (struct control *control = driver->controls; control != NULL; control = control->next)
        if (control->is_client && !is_admitted(control) && !uv_is_closing((uv_handle_t *)&control->handle))
            oldest = control;
    if (oldest != NULL)
        control_close(oldest);
    return oldest != NULL;
}

static void control_accepted(uv_stream_t *server, int status)
{
    const struct control *listener = server->data;
    uint64_t refused = listener->driver->pool.budget->refused;
    struct control *control;

    if (status < 0)
        return;
    if (listener->driver->control_count >= listener->driver->config.controls_max &&
        !dismiss_stranger(listener->driver)) {
        driver_refuse(listener->driver, DRIVER_REFUSED_CONTROL);
        spare_handle_refuse_with_text(&listener->driver->pool.spare, server,
                                      "{\"ok\":false,\"error\":\"too many control clients are connected\"}\n");
        return;
    }
    control = client_new(listener->driver, listener->is_pipe);
    if (control == NULL) {
        driver_refuse_memory(listener->driver, refused);
        spare_handle_refuse_with_text(&listener->driver->pool.spare, server,
                                      "{\"ok\":false,\"error\":\"memory is short\"}\n");
        return;
    }
    if (uv_accept(server, &control->handle.stream) != 0 ||
        uv_read_start(&control->handle.stream, control_room, control_read) != 0) {
        control_close(control);
        return;
    }
    if (!control->is_pipe)
        (void)uv_tcp_nodelay(&control->handle.tcp, 1);
}

int driver_place_parse(struct driver_place *place, const char *where, const char *address)
{
    const char *colon = strrchr(where, ':');
    const char *digits = colon == NULL ? where : colon + 1;
    struct sockaddr_storage name;
    char *end;
    unsigned long port = strtoul(digits, &end, 10);

    if (digits[0] < '0' || digits[0] > '9' || *end != '\0' || port > UINT16_MAX || (colon == NULL && address == NULL))
        return -1;
    if (colon != NULL) {
        size_t skip = where[0] == '[';
        size_t octets = (size_t)(colon - where);

        if (octets < 1 + 2 * skip || octets - 2 * skip >= sizeof(place->address))
            return -1;
        memcpy(place->address, where + skip, octets - 2 * skip);
        place->address[octets - 2 * skip] = '\0';
    } else {
        (void)snprintf(place->address, sizeof(place->address), "%s", address);
    }
    place->port = (uint16_t)port;
    return socket_name_parse(place->address, place->port, &name);
}

static int open_tcp(struct control *control, const char *where, struct iwarp_sentence *sentence)
{
    struct sockaddr_storage name;
    struct driver_place place;
    int result;

    if (driver_place_parse(&place, where, "127.0.0.1") != 0 || socket_name_parse(place.address, place.port, &name) != 0)
        return iwarp_sentence_set(sentence, "control: '%s': a port, ADDRESS:PORT or a path was expected", where);
    result = tcp_listener_bind(&control->handle.tcp, &name, control_accepted);
    if (result < 0)
        return iwarp_sentence_set(sentence, "control: %s cannot be opened: %s", where, uv_strerror(result));
    return result;
}

static int open_pipe(struct control *control, const char *where, struct iwarp_sentence *sentence)
{
    int result;

    result = uv_pipe_bind(&control->handle.pipe, where);
    if (result == 0)
        result = uv_listen(&control->handle.stream, TCP_SOCKET_BACKLOG, control_accepted);
    if (result != 0)
        return iwarp_sentence_set(sentence, "control: %s cannot be opened: %s", where, uv_strerror(result));
    return 0;
}

int driver_control(struct driver *driver, const char *where, struct iwarp_sentence *sentence)
{
    bool is_pipe = strchr(where, '/') != NULL;
    struct control *control = control_new(driver, is_pipe);
    int result;

    if (control == NULL)
        return iwarp_sentence_set(sentence, "control: out of memory");
    result = is_pipe ? open_pipe(control, where, sentence) : open_tcp(control, where, sentence);
    if (result < 0)
        control_close(control);
    return result;
}
