/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/spare_handle.h"

#include <stdint.h>
#include <string.h>

static void on_refused_closed(uv_handle_t *handle)
{
    struct spare_handle *spare = handle->data;

    spare->busy = false;
    if (spare->count != 0) {
        spare->count--;
        spare_handle_refuse_with_text(spare, spare->waiting[spare->count], spare->texts[spare->count]);
    }
}

void spare_handle_refuse(struct spare_handle *spare, uv_stream_t *server)
{
    spare_handle_refuse_with_text(spare, server, NULL);
}

void spare_handle_refuse_with_text(struct spare_handle *spare, uv_stream_t *server, const char *text)
{
    uv_buf_t buffer;

    if (spare->busy) {
        if (spare->count < SPARE_HANDLE_SERVERS) {
            spare->texts[spare->count] = text;
            spare->waiting[spare->count++] = server;
        }
        return;
    }
    if ((server->type == UV_NAMED_PIPE ? uv_pipe_init(server->loop, &spare->with.pipe, 0)
                                       : uv_tcp_init(server->loop, &spare->with.tcp)) != 0)
        return;
    spare->with.handle.data = spare;
    spare->busy = true;
    if (uv_accept(server, &spare->with.stream) == 0 && text != NULL) {
        buffer = uv_buf_init((char *)(uintptr_t)text, (unsigned)strlen(text));
        (void)uv_try_write(&spare->with.stream, &buffer, 1);
    }
    uv_close(&spare->with.handle, on_refused_closed);
}

void spare_handle_forget(struct spare_handle *spare, const uv_stream_t *server)
{
    size_t kept = 0;

    for (size_t i = 0; i < spare->count; i++)
        if (spare->waiting[i] != server) {
            spare->texts[kept] = spare->texts[i];
            spare->waiting[kept++] = spare->waiting[i];
        }
    spare->count = kept;
}
