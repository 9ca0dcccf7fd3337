/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/interop/interop_device.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/engine/option/utc_text.h"
#include "conformance/requirements/pics.h"
#include "reference-stack/defects/defect.h"

enum { READY_MS = 20000, LOOPBACK_FAMILY = 4 };

#define STACK_NAME "libiwarp"

/* ---- the command line's words ----------------------------------------------------------------------------------- */

/* The name stands in names of files, in anchors and in the heads of columns. */
static bool is_name(const char *name, size_t octets)
{
    if (octets == 0 || octets >= INTEROP_NAME_OCTETS || name[0] == '.' || name[0] == '-')
        return false;
    for (size_t i = 0; i < octets; i++)
        if (!isalnum((unsigned char)name[i]) && strchr("._-", name[i]) == NULL)
            return false;
    return true;
}

static int name_parse(struct interop_device *device, const char *name, size_t octets, struct iwarp_sentence *error)
{
    if (!is_name(name, octets))
        return iwarp_sentence_set(error,
                                  "\"%.*s\": a device's name was expected: letters, digits, '.', '_' and '-', at most "
                                  "%d",
                                  (int)(octets < 60 ? octets : 60), name, INTEROP_NAME_OCTETS - 1);
    (void)snprintf(device->name, sizeof(device->name), "%.*s", (int)octets, name);
    return 0;
}

static int defects_parse(struct interop_device *device, char **rest, struct iwarp_sentence *error)
{
    struct defect_list *list;
    struct defect_set *set;
    char *word;

    while ((word = strtok_r(NULL, ",", rest)) != NULL) {
        if (device->defect_count == INTEROP_DEFECTS_MOST)
            return iwarp_sentence_set(error, "%s: more than %d defects", device->name, INTEROP_DEFECTS_MOST);
        device->defects[device->defect_count++] = word;
    }
    device->count = INTEROP_INSTANCES;
    if (device->defect_count == 0)
        return 0;
    list = defect_list_embedded(error);
    set = list != NULL ? defect_set_new(list, device->defects, device->defect_count, error) : NULL;
    defect_list_free(list);
    if (set == NULL)
        return -1;
    defect_set_free(set);
    return 0;
}

static int profile_add(struct interop_device *device, const char *path, const struct catalogue *catalogue,
                       struct iwarp_sentence *error)
{
    struct interop_instance *instance = &device->instances[device->count];
    char today[UTC_TEXT_OCTETS];
    struct profile_context context = {catalogue, NULL, utc_text(today)};
    int rc;

    if (device->count == INTEROP_INSTANCES)
        return iwarp_sentence_set(error, "%s: more than %d profiles", device->name, INTEROP_INSTANCES);
    if (pics_load(&context.pics, error) != 0)
        return -1;
    today[10] = '\0'; /* the day alone */
    rc = profile_load(&instance->profile, path, &context, error);
    pics_free(context.pics);
    if (rc != 0)
        return -1;
    device->count++;
    if (instance->profile.sctp != IWARP_SCTP_UNDECIDED)
        return iwarp_sentence_set(error, "%.200s: this device's DDP is over SCTP; interop is for MPA over TCP", path);
    if (instance->profile.place.control.family == 0)
        return iwarp_sentence_set(error,
                                  "%.200s: no \"control\": interop asks a device through its upper tester "
                                  "(docs/upper-tester.md)",
                                  path);
    return 0;
}

int interop_device_parse(struct interop_device *device, const char *argument, const struct catalogue *catalogue,
                         struct iwarp_sentence *error)
{
    const char *equals = strchr(argument, '='), *rest = equals != NULL ? equals + 1 : argument;
    char *at, *word;

    memset(device, 0, sizeof(*device));
    for (size_t i = 0; i < INTEROP_INSTANCES; i++)
        device->instances[i].device = device;
    if (equals != NULL && name_parse(device, argument, (size_t)(equals - argument), error) != 0)
        return -1;
    device->words = strdup(rest);
    if (device->words == NULL)
        return iwarp_sentence_set(error, "out of memory");
    word = strtok_r(device->words, ",", &at);
    if (word == NULL)
        return iwarp_sentence_set(error, "\"%.60s\": libiwarp or the path of a profile was expected", argument);
    device->is_stack = strcmp(word, STACK_NAME) == 0;
    if (device->is_stack) {
        if (equals == NULL)
            (void)snprintf(device->name, sizeof(device->name), "%s", STACK_NAME);
        return defects_parse(device, &at, error);
    }
    for (; word != NULL; word = strtok_r(NULL, ",", &at))
        if (profile_add(device, word, catalogue, error) != 0)
            return -1;
    word = (char *)(uintptr_t)device->instances[0].profile.name;
    return device->name[0] != '\0' ? 0 : name_parse(device, word, strlen(word), error);
}

/* ---- the reference stack's processes ----------------------------------------------------------------------------- */

static bool ended(void *context, struct iwarp_sentence *why)
{
    struct interop_instance *instance = context;
    int status;

    if (instance->process == 0 && instance->end.text[0] == '\0')
        return false;
    if (instance->process != 0) {
        if (waitpid(instance->process, &status, WNOHANG) != instance->process)
            return false;
        instance->process = 0;
        (void)iwarp_sentence_set(&instance->end, "%s: its process ended (%s %d)", instance->device->name,
                                 WIFSIGNALED(status) ? "signal" : "exit status",
                                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    *why = instance->end;
    return true;
}

/* In the child. Does not return. */
_Noreturn static void become_stack(const struct interop_device *device, const char *program, pid_t parent, int out)
{
    const char *arguments[2 * INTEROP_DEFECTS_MOST + 8] = {program, "peer", "--control", "0"};
    size_t count = 4;

    for (size_t i = 0; i < device->defect_count; i++) {
        arguments[count++] = "--defect";
        arguments[count++] = device->defects[i];
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(out, STDOUT_FILENO) < 0)
        _exit(127);
    (void)setpgid(0, 0); /* Ctrl-C in a terminal is for the command, which ends the stack when it has what it needs */
    execv(program, (char *const *)arguments);
    _exit(127);
}

/* Reads "READY ... control=PORT". */
static int ready_wait(struct interop_instance *instance, int from, struct iwarp_sentence *error)
{
    char text[512] = "";
    size_t used = 0;
    struct pollfd wait = {.fd = from, .events = POLLIN};

    while (strchr(text, '\n') == NULL && used + 1 < sizeof(text) && poll(&wait, 1, READY_MS) == 1) {
        ssize_t got = read(from, text + used, sizeof(text) - 1 - used);

        if (got <= 0)
            break;
        used += (size_t)got;
        text[used] = '\0';
    }
    const char *control = strstr(text, "control=");
    unsigned long port = control != NULL ? strtoul(control + strlen("control="), NULL, 10) : 0;
    if (port == 0 || port > UINT16_MAX)
        return iwarp_sentence_set(error, "%s: the reference stack did not start", instance->device->name);
    instance->port = (uint16_t)port;
    return 0;
}

static int stack_start(struct interop_instance *instance, struct iwarp_sentence *error)
{
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    pid_t parent = getpid();
    int ends[2], rc;

    if (length <= 0 || pipe2(ends, O_CLOEXEC) != 0)
        return iwarp_sentence_set(error, "cannot start the reference stack: %s", strerror(errno));
    program[length] = '\0';
    (void)fflush(NULL);
    instance->process = fork();
    if (instance->process == 0)
        become_stack(instance->device, program, parent, ends[1]);
    close(ends[1]);
    if (instance->process < 0) {
        instance->process = 0;
        close(ends[0]);
        return iwarp_sentence_set(error, "cannot start the reference stack: %s", strerror(errno));
    }
    rc = ready_wait(instance, ends[0], error);
    close(ends[0]);
    return rc;
}

int interop_device_start(struct interop_device *device, struct iwarp_sentence *error)
{
    for (size_t i = 0; device->is_stack && i < device->count; i++)
        if (stack_start(&device->instances[i], error) != 0)
            return -1;
    return 0;
}

/* ---- upper testers ----------------------------------------------------------------------------------------------- */

static int instance_connect(struct interop_instance *instance, struct iwarp_sentence *error)
{
    struct control_config config = {.address = instance->profile.place.control,
                                    .port = instance->profile.place.control_port,
                                    .token = &instance->profile.token,
                                    .ended = ended,
                                    .context = instance};
    struct iwarp_sentence why = {{0}};
    json_t *request = json_pack("{s:s}", "verb", "capabilities");

    if (instance->device->is_stack) {
        (void)net_address_parse(&config.address, "127.0.0.1");
        config.port = instance->port;
        config.token = NULL;
    }
    instance->upper.events = json_array();
    instance->upper.control = instance->upper.events != NULL ? control_new(&config, &why) : NULL;
    if (instance->upper.control != NULL)
        instance->abilities = upper_side_call(&instance->upper, request, &why);
    json_decref(request);
    if (instance->abilities != NULL)
        return 0;
    return iwarp_sentence_set(error, "%s: %.400s", instance->device->name, why.text);
}

int interop_device_connect(struct interop_device *device, struct iwarp_sentence *error)
{
    for (size_t i = 0; i < device->count; i++)
        if (instance_connect(&device->instances[i], error) != 0)
            return -1;
    return 0;
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

const char *interop_interface(const struct interop_device *device)
{
    return device->is_stack ? NULL : device->instances[0].profile.interface;
}

/* Of this host's addresses the one that is used towards that device. No packet is sent. */
static int own_address(const struct net_address *towards, char text[64], struct iwarp_sentence *error)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } place;
    socklen_t octets = sizeof(place);
    int family = towards->family == LOOPBACK_FAMILY ? AF_INET : AF_INET6, handle, number = 0;
    char target[64];

    memset(&place, 0, sizeof(place));
    (void)net_address_format(towards, target, sizeof(target));
    place.any.sa_family = (sa_family_t)family;
    (void)inet_pton(family, target, family == AF_INET ? (void *)&place.v4.sin_addr : (void *)&place.v6.sin6_addr);
    if (family == AF_INET)
        place.v4.sin_port = htons(9);
    else
        place.v6.sin6_port = htons(9);
    handle = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (handle < 0 || connect(handle, &place.any, octets) != 0 || getsockname(handle, &place.any, &octets) != 0)
        number = errno;
    if (handle >= 0)
        (void)close(handle);
    if (number != 0)
        return iwarp_sentence_set(error, "%s cannot be reached from this host: %s", target, strerror(number));
    (void)inet_ntop(family, family == AF_INET ? (void *)&place.v4.sin_addr : (void *)&place.v6.sin6_addr, text, 64);
    return 0;
}

int interop_address(const struct interop_instance *target, const struct interop_instance *from, char text[64],
                    struct iwarp_sentence *error)
{
    if (!target->device->is_stack)
        (void)net_address_format(&target->profile.address, text, 64);
    else if (from->device->is_stack)
        (void)snprintf(text, 64, "127.0.0.1");
    else
        return own_address(&from->profile.address, text, error);
    return 0;
}

static void instance_free(struct interop_instance *instance)
{
    control_free(instance->upper.control);
    if (instance->process > 0) {
        (void)kill(instance->process, SIGKILL);
        (void)waitpid(instance->process, NULL, 0);
    }
    json_decref(instance->upper.events);
    json_decref(instance->abilities);
    profile_free(&instance->profile);
}

void interop_device_free(struct interop_device *device)
{
    for (size_t i = 0; i < INTEROP_INSTANCES; i++)
        instance_free(&device->instances[i]);
    free(device->words);
    memset(device, 0, sizeof(*device));
}
