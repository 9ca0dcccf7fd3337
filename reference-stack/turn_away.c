/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/turn_away.h"

static void turned_away(uv_handle_t *handle)
{
    struct turn_away *away = handle->data;

    away->busy = false;
    if (away->count != 0)
        turn_away(away, away->waiting[--away->count]);
}

void turn_away(struct turn_away *away, uv_stream_t *server)
{
    if (away->busy) {
        if (away->count < TURN_AWAY_SERVERS)
            away->waiting[away->count++] = server;
        return;
    }
    if ((server->type == UV_NAMED_PIPE ? uv_pipe_init(server->loop, &away->with.pipe, 0)
                                       : uv_tcp_init(server->loop, &away->with.tcp)) != 0)
        return;
    away->with.handle.data = away;
    away->busy = true;
    (void)uv_accept(server, &away->with.stream);
    uv_close(&away->with.handle, turned_away);
}

void turn_away_forget(struct turn_away *away, const uv_stream_t *server)
{
    size_t kept = 0;

    for (size_t i = 0; i < away->count; i++)
        if (away->waiting[i] != server)
            away->waiting[kept++] = away->waiting[i];
    away->count = kept;
}
