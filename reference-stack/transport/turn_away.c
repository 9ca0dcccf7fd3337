/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/turn_away.h"

#include <stdint.h>
#include <string.h>

static void turned_away(uv_handle_t *handle)
{
    struct turn_away *away = handle->data;

    away->busy = false;
    if (away->count != 0) {
        away->count--;
        turn_away_saying(away, away->waiting[away->count], away->texts[away->count]);
    }
}

void turn_away(struct turn_away *away, uv_stream_t *server)
{
    turn_away_saying(away, server, NULL);
}

void turn_away_saying(struct turn_away *away, uv_stream_t *server, const char *text)
{
    uv_buf_t buffer;

    if (away->busy) {
        if (away->count < TURN_AWAY_SERVERS) {
            away->texts[away->count] = text;
            away->waiting[away->count++] = server;
        }
        return;
    }
    if ((server->type == UV_NAMED_PIPE ? uv_pipe_init(server->loop, &away->with.pipe, 0)
                                       : uv_tcp_init(server->loop, &away->with.tcp)) != 0)
        return;
    away->with.handle.data = away;
    away->busy = true;
    if (uv_accept(server, &away->with.stream) == 0 && text != NULL) {
        buffer = uv_buf_init((char *)(uintptr_t)text, (unsigned)strlen(text));
        (void)uv_try_write(&away->with.stream, &buffer, 1);
    }
    uv_close(&away->with.handle, turned_away);
}

void turn_away_forget(struct turn_away *away, const uv_stream_t *server)
{
    size_t kept = 0;

    for (size_t i = 0; i < away->count; i++)
        if (away->waiting[i] != server) {
            away->texts[kept] = away->texts[i];
            away->waiting[kept++] = away->waiting[i];
        }
    away->count = kept;
}
