/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/cmd_peer.h"
#include "tools/memory_reserve.h"
#include "tools/standard_streams.h"
#include "wire/exit_status.h"

int main(int argc, char **argv)
{
    if (!standard_streams_open())
        return EXIT_ENVIRONMENT;
    memory_reserve_begin("iwarp-peer: out of memory\n");
    return standard_streams_close("iwarp-peer", cmd_peer(argc, argv), EXIT_ENVIRONMENT);
}
