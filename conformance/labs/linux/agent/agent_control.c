/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/labs/linux/agent/agent_control.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_OCTETS = 65536 };

void agent_control_end(struct agent_control *control)
{
    if (control->fd >= 0)
        close(control->fd);
    free(control->line);
    control->fd = -1;
    control->line = NULL;
    control->count = control->room = control->seen = 0;
    control->skipping = false;
    control->shown = false;
}

/* A peer that does not read its answers is waited for: there is one tester. Takes over `text`. */
static void say(struct agent_control *control, char *text)
{
    size_t length = text != NULL ? strlen(text) : 0, at = 0;

    if (text != NULL)
        text[length++] = '\n'; /* in the place of the end mark */
    while (at < length) {
        ssize_t written = send(control->fd, text + at, length - at, MSG_NOSIGNAL);

        if (written <= 0)
            break;
        at += (size_t)written;
    }
    free(text);
    if (length == 0 || at < length)
        agent_control_end(control);
}

static bool is_empty(const char *line, size_t octets)
{
    for (size_t i = 0; i < octets; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

/* Who shows another token, or none, is not listened to any longer. */
static void answer_line(struct agent_control *control, const char *line, size_t octets, agent_answer *answer,
                        void *context)
{
    if (control->token == NULL || control->shown) {
        say(control, answer(context, line, octets));
        return;
    }
    say(control, upper_token_answer(control->token, line, octets, &control->shown));
    if (!control->shown && control->fd >= 0)
        agent_control_end(control);
}

static size_t line_max(const struct agent_control *control)
{
    return control->token == NULL || control->shown ? AGENT_LINE_MAX : UPPER_TOKEN_LINE;
}

static void handle_lines(struct agent_control *control, agent_answer *answer, void *context)
{
    size_t begin = 0;
    char *end;

    while (control->fd >= 0 && control->seen < control->count &&
           (end = memchr(control->line + control->seen, '\n', control->count - control->seen)) != NULL) {
        size_t octets = (size_t)(end - control->line) - begin;
        const char *line = control->line + begin;

        begin += octets + 1;
        control->seen = begin;
        if (!is_empty(line, octets))
            answer_line(control, line, octets, answer, context);
    }
    if (control->fd < 0)
        return;
    control->count -= begin;
    if (begin != 0 && control->count != 0)
        memmove(control->line, control->line + begin, control->count);
    control->seen = control->count;
}

/* A line that is too long, or longer than there is memory for, has its answer at once. */
static void give_up_line(struct agent_control *control)
{
    free(control->line);
    control->line = NULL;
    control->count = control->room = control->seen = 0;
    control->skipping = true;
    say(control, strdup("{\"ok\":false,\"error\":\"the line is too long\"}"));
    if (control->token != NULL && !control->shown && control->fd >= 0)
        agent_control_end(control);
}

static bool keep(struct agent_control *control, const char *octets, size_t count)
{
    if (control->room - control->count < count) {
        size_t room = control->room * 2 + 2 * (size_t)READ_OCTETS;
        char *grown = realloc(control->line, room);

        if (grown == NULL)
            return false;
        control->line = grown;
        control->room = room;
    }
    memcpy(control->line + control->count, octets, count);
    control->count += count;
    return true;
}

/* What has come; what is after a line that was too long is obeyed as ever. */
static void obey_octets(struct agent_control *control, const char *octets, size_t count, agent_answer *answer,
                        void *context)
{
    while (count != 0 && control->fd >= 0) {
        const char *end = control->skipping ? memchr(octets, '\n', count) : NULL;
        size_t skip = end == NULL ? count : (size_t)(end - octets) + 1;

        if (!control->skipping) {
            if (control->count + count <= line_max(control) && keep(control, octets, count)) {
                handle_lines(control, answer, context);
                return;
            }
            give_up_line(control);
            continue;
        }
        control->skipping = end == NULL;
        octets += skip;
        count -= skip;
    }
}

void agent_control_handle(struct agent_control *control, agent_answer *answer, void *context)
{
    char octets[READ_OCTETS];
    ssize_t got = recv(control->fd, octets, sizeof(octets), 0);

    if (got <= 0)
        agent_control_end(control);
    else
        obey_octets(control, octets, (size_t)got, answer, context);
}
