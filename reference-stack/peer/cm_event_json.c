/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/peer/cm_event_json.h"

#include <jansson.h>
#include <stdio.h>

#include "reference-stack/peer/cm_driver.h"

enum { ADDRESS_TEXT = 64, HEX_TEXT = 2 * 224 + 1 };

static void set_text(json_t *object, const char *name, const char *text)
{
    (void)json_object_set_new(object, name, json_string(text));
}

static void set_number(json_t *object, const char *name, uint64_t value)
{
    (void)json_object_set_new(object, name, json_integer((json_int_t)value));
}

static void set_hex(json_t *object, const char *name, const uint8_t *octets, size_t count)
{
    char text[HEX_TEXT] = "";

    for (size_t i = 0; i < count && 2 * i + 2 < sizeof(text); i++)
        (void)snprintf(text + 2 * i, 3, "%02x", octets[i]);
    set_text(object, name, text);
}

static void set_address(json_t *object, const char *name, const struct cm_address *address)
{
    char text[ADDRESS_TEXT];

    set_text(object, name, cm_address_format(address, text, sizeof(text)));
}

static void set_service(json_t *object, const struct cm_event *event)
{
    char text[ADDRESS_TEXT];

    (void)snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)event->service_id);
    set_text(object, "service_id", text);
    if (!event->in_service)
        return;
    set_number(object, "protocol", event->tuple.protocol);
    set_address(object, "source", &event->tuple.source);
    set_number(object, "source_port", event->tuple.source_port);
    set_address(object, "destination", &event->tuple.destination);
    set_number(object, "destination_port", event->tuple.destination_port);
    (void)snprintf(text, sizeof(text), "%u.%u", event->major, event->minor);
    if (event->kind != CM_EVENT_REFUSED)
        set_text(object, "version", text);
}

static void set_reason(json_t *object, const struct cm_event *event)
{
    const char *name = wire_name_of(cm_reason_names, event->reason);

    if (event->kind == CM_EVENT_REFUSED && event->requirement != NULL)
        set_text(object, "requirement", event->requirement);
    set_number(object, "reason", event->reason);
    set_text(object, "reason_name", name != NULL ? name : "unknown");
    if (event->has_ari) {
        set_number(object, "layer", event->layer);
        set_number(object, "code", event->code);
        set_hex(object, "info", event->info, event->info_octets);
    }
    if (event->kind == CM_EVENT_REJECTED)
        (void)json_object_set_new(object, "service_proven", json_boolean(event->service_proven));
}

/* Private Data says nothing of its length: zeros at its end may be none of it. */
static void set_data(json_t *object, const struct cm_event *event)
{
    size_t octets = event->octets;

    while (octets != 0 && event->data[octets - 1] == 0)
        octets--;
    if (octets != 0)
        set_hex(object, "data", event->data, octets);
}

char *cm_event_json(const struct cm_event *event)
{
    static const char *const names[] = {
        [CM_EVENT_REQUEST] = "request",   [CM_EVENT_REFUSED] = "refused", [CM_EVENT_ESTABLISHED] = "established",
        [CM_EVENT_REJECTED] = "rejected", [CM_EVENT_TIMEOUT] = "timeout", [CM_EVENT_DISCONNECTED] = "disconnected",
    };
    struct cm_address peer = {.family = event->peer.family};
    char address[ADDRESS_TEXT], place[ADDRESS_TEXT + 16];
    json_t *object = json_object();
    char *text;

    if (object == NULL)
        return NULL;
    memcpy(peer.octets, event->peer.address, sizeof(peer.octets));
    (void)cm_address_format(&peer, address, sizeof(address));
    (void)snprintf(place, sizeof(place), peer.family == 6 ? "[%s]:%u" : "%s:%u", address, event->peer.port);
    set_text(object, "event", names[event->kind]);
    if (event->id != 0)
        set_number(object, "exchange", event->id);
    set_text(object, "peer", place);
    set_service(object, event);
    set_data(object, event);
    if (event->kind == CM_EVENT_REFUSED || event->kind == CM_EVENT_REJECTED)
        set_reason(object, event);
    text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return text;
}
