/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/cmd_peer.h"
#include "tools/memory_reserve.h"
#include "tools/standard_streams.h"
#include "wire/exit_status.h"
#include "wire/out_of_memory.h"

int main(int argc, char **argv)
{
    int status;

    if (!standard_streams_open())
        return EXIT_ENVIRONMENT;
    memory_reserve_begin("iwarp-peer: out of memory\n");
    status = cmd_peer(argc, argv);
    if (out_of_memory_noted()) /* a sentence has been written, or a stream was refused */
        status = EXIT_ENVIRONMENT;
    return standard_streams_close("iwarp-peer", status, EXIT_ENVIRONMENT);
}
