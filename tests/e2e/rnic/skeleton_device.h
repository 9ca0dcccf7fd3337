/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device that the skeleton in C is filled in with: rnic.py, by a connection to its control port (RNIC_CONTROL), as
 * a vendor's library or daemon would be called. Included by a copy of skeleton_main.c in front of its table of verbs.
 */
#ifndef TESTS_E2E_RNIC_SKELETON_DEVICE_H
#define TESTS_E2E_RNIC_SKELETON_DEVICE_H

static FILE *device_open(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const char *port = getenv("RNIC_CONTROL");
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    name.sin_port = htons((uint16_t)strtoul(port != NULL ? port : "", NULL, 10));
    if (fd < 0 || connect(fd, (struct sockaddr *)&name, sizeof(name)) != 0)
        return NULL;
    return fdopen(fd, "r+");
}

/* One line to the device, and the line that it answers with: a new reference, or NULL. */
static json_t *device_ask(const json_t *command)
{
    static FILE *device;
    char *line = json_dumps(command, JSON_COMPACT), *answer = NULL;
    size_t room = 0;
    json_t *reply = NULL;

    if (device == NULL)
        device = device_open();
    if (device != NULL && line != NULL && fprintf(device, "%s\n", line) > 0 && fflush(device) == 0 &&
        getline(&answer, &room, device) > 0)
        reply = json_loads(answer, 0, NULL);
    free(line);
    free(answer);
    return reply;
}

/* In place of unsupported(): whatever the device answers. */
static void forward(struct device *device, const json_t *command, struct reply *reply)
{
    json_t *answer = device_ask(command);

    (void)device;
    if (answer == NULL) {
        refuse(reply, "the device does not answer");
        return;
    }
    reply->failed = !json_is_true(json_object_get(answer, "ok"));
    (void)json_object_update(reply->json, answer);
    json_decref(answer);
}

#endif
