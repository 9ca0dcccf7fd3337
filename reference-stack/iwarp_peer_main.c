/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/cmd_peer.h"

int main(int argc, char **argv)
{
    return cmd_peer(argc, argv);
}
