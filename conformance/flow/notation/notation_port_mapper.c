/* SPDX-License-Identifier: BSD-2-Clause */
/* The notation of the port mapper's messages. */
#include <arpa/inet.h>
#include <inttypes.h>

#include "conformance/flow/notation/notation_line.h"

static void add_end(struct line *line, const char *word, unsigned version, const uint8_t *address, unsigned port)
{
    char number[INET6_ADDRSTRLEN] = "?";

    inet_ntop(version == 6 ? AF_INET6 : AF_INET, address, number, sizeof(number));
    add(line, version == 6 ? " %s [%s]:%u" : " %s %s:%u", word, number, port);
}

const char *notation_port_mapper(const struct port_mapper_message *message, char *text, size_t room)
{
    static const char *const words[] = {[PORT_MAPPER_REQUEST] = "asks for",
                                        [PORT_MAPPER_ACCEPT] = "maps to",
                                        [PORT_MAPPER_ACK] = "mapped to",
                                        [PORT_MAPPER_REJECT] = "does not map"};
    struct line line = {text, room, 0};

    text[0] = '\0';
    add(&line, "port mapper %s handle 0x%" PRIx64, wire_name_of(port_mapper_type_names, message->type),
        message->handle);
    add_end(&line, "from", message->ip_version, message->connecting_address, message->connecting_port);
    if (message->mapped_address != NULL)
        add_end(&line, "which comes from", message->ip_version, message->mapped_address, message->mapped_port);
    add_end(&line, words[message->type], message->ip_version, message->accepting_address, message->accepting_port);
    return text;
}
