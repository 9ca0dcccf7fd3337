/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cm_flood PORT COUNT: sends so many REQs to the CM agent at that UDP port of 127.0.0.1, each with an ID of its own,
 * and answers nothing. Waits for the agent where it is slower, so that most of them arrive: it takes in its answers,
 * and looks at none.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "wire/cm_pack.h"
#include "wire/roce.h"

enum { WINDOW = 64 };

static void put_request(uint8_t mad[MAD_OCTETS], uint32_t n)
{
    static const uint8_t loopback[4] = {127, 0, 0, 1};
    uint8_t *body = mad + MAD_HEADER_OCTETS, *data;

    cm_begin(mad, CM_REQ, n);
    cm_req_set_LocalID(body, n + 1);
    cm_req_set_ServiceID(body, ip_cm_service_id(6, 3260));
    cm_req_set_LocalTimeout(body, 12);
    cm_req_set_MaxRetries(body, 15);
    data = cm_private(mad);
    ip_cm_private_set_IPV(data, 4);
    ip_cm_set_address(data + 4, 4, loopback);
    ip_cm_set_address(data + 20, 4, loopback);
}

int main(int argc, char **argv)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0, answers = 0;
    int out = socket(AF_INET, SOCK_DGRAM, 0);
    struct timeval patience = {.tv_sec = 5};
    uint8_t packet[UD_MAD_OCTETS], mad[MAD_OCTETS], answer[2048];

    to.sin_port = htons((uint16_t)(argc == 3 ? atoi(argv[1]) : 0));
    if (out < 0 || count == 0 || connect(out, (struct sockaddr *)&to, sizeof(to)) != 0 ||
        setsockopt(out, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0)
        return 1;
    for (uint32_t n = 0; n < count; n++) {
        put_request(mad, n);
        ud_mad_pack(packet, &(struct ud_header){.psn = n & 0xFFFFFF, .migrated = true}, mad);
        if (send(out, packet, sizeof(packet), 0) < 0)
            return 1;
        while (n % WINDOW == WINDOW - 1 && answers + WINDOW < n && recv(out, answer, sizeof(answer), 0) > 0)
            answers++;
    }
    printf("%lu requests, %lu answers\n", count, answers);
    return 0;
}
