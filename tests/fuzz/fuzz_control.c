/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client of an upper tester that may say anything: a line, parts of lines, too much, nothing, JSON of any kind;
 * whose connection is refused, cut, late, or takes a few octets at a time. What the client calls of the C library is
 * played by the input: octets of it say how a call ends, the rest is what the upper tester sends. The clock is the
 * input's as well, so that nothing is waited for.
 *
 * A call gives a line without a newline, or a sentence; an answer becomes a value of Lua and JSON again; a client
 * that has called its upper tester gone stays with that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <lauxlib.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "conformance/engine/device/control.h"
#include "conformance/engine/sandbox/lua_json.h"
#include "conformance/engine/rig/rig.h"
#include "conformance/engine/rig/upper_tester.h"
#include "tests/fuzz/fuzz.h"

enum { SOCKET = 1000000, CALLS = 6, WAIT_MS = 200, SECOND_NS = 1000000000 };

static struct world {
    bool played; /* the calls below are for the client */
    const uint8_t *how, *how_end;
    const uint8_t *said, *said_end;
    int open; /* sockets */
    uint64_t now_ns;
} world;

static uint8_t next(void)
{
    return world.how < world.how_end ? *world.how++ : 0;
}

static void pass(uint64_t milliseconds)
{
    world.now_ns += milliseconds * 1000000;
}

/*
 * ---- the C library, as the input has it ---------------------------------------------------------------------------
 */

int socket(int domain, int type, int protocol)
{
    FUZZ_HOLDS(world.played);
    (void)domain;
    (void)type;
    (void)protocol;
    if (next() == 0xFF) {
        errno = EMFILE;
        return -1;
    }
    world.open++;
    return SOCKET;
}

int connect(int descriptor, const struct sockaddr *address, socklen_t octets)
{
    static const int ends[8] = {0, 0, 0, EINPROGRESS, EINPROGRESS, ECONNREFUSED, ENETUNREACH, ETIMEDOUT};

    FUZZ_HOLDS(world.played && descriptor == SOCKET && address != NULL && octets != 0);
    errno = ends[next() % 8];
    return errno == 0 ? 0 : -1;
}

int getsockopt(int descriptor, int level, int name, void *value, socklen_t *octets)
{
    FUZZ_HOLDS(world.played && descriptor == SOCKET && level == SOL_SOCKET && name == SO_ERROR);
    FUZZ_HOLDS(*octets == sizeof(int));
    *(int *)value = next() & 1 ? ECONNREFUSED : 0;
    return 0;
}

int poll(struct pollfd *waits, nfds_t count, int milliseconds)
{
    uint8_t how = next();

    FUZZ_HOLDS(world.played && count == 1 && waits[0].fd == SOCKET && milliseconds >= 0);
    if (how == 0xFF || (world.how == world.how_end && world.said == world.said_end)) {
        pass((uint64_t)milliseconds);
        return 0;
    }
    pass(1);
    waits[0].revents = waits[0].events;
    return 1;
}

ssize_t send(int descriptor, const void *octets, size_t count, int flags)
{
    uint8_t how = next();

    FUZZ_HOLDS(world.played && descriptor == SOCKET && octets != NULL && count != 0 && flags & MSG_NOSIGNAL);
    if (how >= 0xF0) {
        errno = how == 0xFF ? EPIPE : EAGAIN;
        return -1;
    }
    return (ssize_t)(how != 0 && how < count ? how : count);
}

ssize_t recv(int descriptor, void *octets, size_t room, int flags)
{
    size_t left = (size_t)(world.said_end - world.said), count;
    uint8_t how = next();

    FUZZ_HOLDS(world.played && descriptor == SOCKET && octets != NULL && room != 0 && flags == 0);
    if (how >= 0xF8) {
        errno = how & 1 ? ECONNRESET : EAGAIN;
        return how == 0xF8 ? 0 : -1;
    }
    count = how == 0 || how > left ? left : how;
    if (count > room)
        count = room;
    memcpy(octets, world.said, count);
    world.said += count;
    return (ssize_t)count;
}

int close(int descriptor)
{
    if (descriptor != SOCKET)
        return (int)syscall(SYS_close, descriptor);
    FUZZ_HOLDS(world.played && --world.open >= 0);
    return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!world.played)
        return (int)syscall(SYS_nanosleep, time, left);
    world.now_ns += (uint64_t)time->tv_sec * SECOND_NS + (uint64_t)time->tv_nsec;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!world.played || clock != CLOCK_MONOTONIC) /* libFuzzer's alarm asks for the other one */
        return (int)syscall(SYS_clock_gettime, clock, now);
    now->tv_sec = (time_t)(world.now_ns / SECOND_NS);
    now->tv_nsec = (long)(world.now_ns % SECOND_NS);
    return 0;
}

/*
 * ---- the client ---------------------------------------------------------------------------------------------------
 */

struct fuzz_rig {
    struct rig rig;
    struct control *control;
};

static char *command(struct rig *rig, const char *request, struct iwarp_sentence *error)
{
    struct control *control = ((struct fuzz_rig *)rig)->control;
    unsigned before = control_losses(control);
    bool gone = control_gone(control) != NULL;
    char *line = control_call(control, request, error);

    FUZZ_HOLDS(line != NULL ? strchr(line, '\n') == NULL && !gone : error->text[0] != '\0');
    FUZZ_HOLDS(line != NULL ? control_losses(control) == before : gone || control_losses(control) == before + 1);
    FUZZ_HOLDS(!gone || control_gone(control) != NULL);
    return line;
}

static bool ended(void *context, struct iwarp_sentence *why)
{
    (void)context;
    if (next() != 0xFE)
        return false;
    (void)iwarp_sentence_set(why, "the device's process has ended");
    return true;
}

static int into_lua(lua_State *lua)
{
    json_t *again;

    lua_json_push_new(lua, lua_touserdata(lua, 1));
    again = lua_json_from(lua, -1);
    json_decref(again);
    return 0;
}

/* What scripts get to see of an answer, whose reference is taken. */
static void show(lua_State *lua, json_t *answer)
{
    lua_settop(lua, 0);
    lua_pushcfunction(lua, into_lua);
    lua_pushlightuserdata(lua, answer);
    (void)lua_pcall(lua, 1, 0, 0);
    lua_settop(lua, 0);
}

static void talk(struct fuzz_rig *rig, lua_State *lua)
{
    static const struct rig_ops ops = {.command = command};
    json_t *request = json_pack("{s:s}", "verb", "poll");

    rig->rig.ops = &ops;
    rig->rig.upper_tester = true;
    for (unsigned i = 0; i < CALLS; i++) {
        struct iwarp_sentence error = {""};
        json_t *answer;

        if (i == 1 && upper_tester_listen(&rig->rig, 9999, &error) != 0)
            FUZZ_HOLDS(error.text[0] != '\0');
        answer = upper_tester_call(&rig->rig, request, &error);
        FUZZ_HOLDS(answer != NULL ? json_is_object(answer) : error.text[0] != '\0');
        if (answer != NULL)
            show(lua, answer);
    }
    json_decref(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lua_State *lua = luaL_newstate();
    struct control_config config = {
        .address = {.family = 4}, .port = 7471, .connect_ms = WAIT_MS, .answer_ms = WAIT_MS};
    struct iwarp_sentence error = {""};
    struct fuzz_rig rig = {.control = NULL};
    size_t calls = size != 0 ? data[0] & 0x7F : 0;

    FUZZ_HOLDS(lua != NULL);
    if (calls > size - (size != 0))
        calls = size - (size != 0);
    world = (struct world){.played = true, .how = data + (size != 0), .said_end = data + size, .now_ns = SECOND_NS};
    world.said = world.how_end = world.how + calls;
    config.ended = size != 0 && data[0] & 0x80 ? ended : NULL;
    rig.control = control_new(&config, &error);
    FUZZ_HOLDS(rig.control != NULL || error.text[0] != '\0');
    if (rig.control != NULL)
        talk(&rig, lua);
    lua_close(lua);
    control_free(rig.control);
    FUZZ_HOLDS(world.open == 0);
    world.played = false;
    return 0;
}
