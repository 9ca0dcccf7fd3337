/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/peer/cmd_peer.h"
#include "reference-stack/program/complaint.h"
#include "tools/memory_reserve.h"
#include "tools/standard_streams.h"
#include "base/exit_status.h"
#include "base/out_of_memory.h"

int main(int argc, char **argv)
{
    int status;

    if (!standard_streams_open())
        return EXIT_ENVIRONMENT;
    memory_reserve_begin("iwarp-peer: out of memory\n");
    status = cmd_peer(argc, argv);
    complain_as("iwarp-peer", NULL);
    if (out_of_memory_noted()) /* whoever was refused something got an error; this is for who reads the exit status */
        status = complain(EXIT_ENVIRONMENT, "out of memory: not every command was carried out");
    return standard_streams_close("iwarp-peer", status, EXIT_ENVIRONMENT);
}
