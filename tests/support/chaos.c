/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes one call of a program go wrong, at a moment that is counted and not timed. To be preloaded (LD_PRELOAD); the
 * environment says what happens:
 *
 *   CHAOS_CLASS   which calls are counted, with commas between them: open, write, sync, rename, close, remove, make,
 * memory, clock, fork; "files": all but the last three   CHAOS_AT      what happens does so at this call, from 1; 0 or
 * nothing: calls are counted, and that is all   CHAOS_DO      fail (with CHAOS_ERRNO, 28 is ENOSPC), full (this call
 * and all later ones fail), kill, term (SIGKILL                 and SIGTERM, to the program itself), twice (two
 * SIGTERM, when a call that opens a file has done so),                 orphan (CHAOS_SIGNAL, 9 is SIGKILL, to the
 * living child that was started last), step (CHAOS_STEP seconds are added to the wall                 clock from then
 * on, to the time of captured frames, too), short (a write(2) does half of what it was                 asked for)
 * CHAOS_WHO     main: the program that was started; forks: its children that are not other programs; programs: other
 * programs that it has started   CHAOS_FROM    memory: only what shared objects with this in their path ask for
 * themselves   CHAOS_COUNT   a file to which the number of calls is added when the program ends, a line a process
 * CHAOS_SITES   a file to which the number of each call is added whose stack is none that was before   CHAOS_TRACE   a
 * file to which the stack is added of the call that something happens to
 *
 * A stream counts where it is flushed or closed with something in it; it fails as a full device does, by its
 * descriptor.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum class { OPEN, WRITE, SYNC, RENAME, CLOSE, REMOVE, MAKE, MEMORY, CLOCK, FORK, CLASSES };
enum deed { NOTHING, FAIL, FULL, KILL, TERM, TWICE, ORPHAN, STEP, SHORT };

static const char *const class_names[CLASSES] = {"open",   "write", "sync",   "rename", "close",
                                                 "remove", "make",  "memory", "clock",  "fork"};
static const char *const deed_names[] = {"", "fail", "full", "kill", "term", "twice", "orphan", "step", "short"};

void *__libc_malloc(size_t octets);
void *__libc_calloc(size_t count, size_t octets);
void *__libc_realloc(void *old, size_t octets);
void *__libc_memalign(size_t alignment, size_t octets);

enum { CHILDREN = 64 };

static struct {
    bool ready, forks, happened;
    unsigned classes; /* 1 << class */
    enum deed deed;
    long at, calls;
    int number, step;        /* errno; seconds */
    int signal;              /* CHAOS_SIGNAL */
    int count, trace, sites; /* descriptors; -1: none */
    const char *from;        /* CHAOS_FROM */
    pid_t owner, children[CHILDREN];
    int child_count; /* of the newest of them */
} chaos;

enum { DEPTH = 12, SITES = 1 << 16 };
static uint64_t sites[SITES];

/* ---- where a call comes from ------------------------------------------------------------------------------------- */

static uint64_t hash_of(void *const *frames, int count)
{
    uint64_t hash = 14695981039346656037U;

    for (int i = 0; i < count; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)frames[i]) * 1099511628211U;
    return hash | 1;
}

/* The number of a call whose stack is new goes to the file of CHAOS_SITES. */
static void note_site(void)
{
    void *frames[DEPTH];
    uint64_t hash = hash_of(frames, backtrace(frames, DEPTH));
    char line[24];

    for (size_t i = hash % SITES;; i = (i + 1) % SITES) {
        if (sites[i] == hash)
            return;
        if (sites[i] != 0)
            continue;
        sites[i] = hash;
        (void)!syscall(SYS_write, chaos.sites, line, (size_t)snprintf(line, sizeof(line), "%ld\n", chaos.calls));
        return;
    }
}

/* The stack of the call that something happens to goes to the file of CHAOS_TRACE. */
static void note_stack(void)
{
    void *frames[4 * DEPTH];

    backtrace_symbols_fd(frames, backtrace(frames, 4 * DEPTH), chaos.trace);
}

static bool is_counted(enum class class)
{
    if (!chaos.ready || (chaos.classes >> class & 1) == 0)
        return false;
    return (getpid() == chaos.owner) != chaos.forks;
}

/* True: this call is to fail. Keeps errno otherwise. */
static bool happens(enum class class)
{
    if (!is_counted(class))
        return false;
    chaos.calls++;
    if (chaos.sites >= 0)
        note_site();
    if (chaos.at == 0 || chaos.calls < chaos.at || (chaos.calls > chaos.at && chaos.deed != FULL))
        return false;
    chaos.happened = true;
    if (chaos.trace >= 0)
        note_stack();
    switch (chaos.deed) {
    case KILL: (void)kill(getpid(), SIGKILL); break;
    case TERM: (void)kill(getpid(), SIGTERM); break;
    case ORPHAN:
        /* What was started after it and has ended, such as a child that makes a filter, is no process any more. */
        while (chaos.child_count > 0 && kill(chaos.children[--chaos.child_count], chaos.signal) != 0)
            ;
        break;
    case FAIL:
    case FULL: errno = class == MEMORY ? ENOMEM : chaos.number; return true;
    default: break;
    }
    return false;
}

static int twice(int opened)
{
    for (int i = 0; i < 2 && chaos.deed == TWICE && is_counted(OPEN) && chaos.calls == chaos.at; i++)
        (void)kill(getpid(), SIGTERM);
    return opened;
}

/* ---- set-up ------------------------------------------------------------------------------------------------------ */

static void after_fork(void)
{
    chaos.calls = 0;
    chaos.child_count = 0;
}

static long number_of(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text != NULL && *text != '\0' ? strtol(text, NULL, 10) : otherwise;
}

/* Opened before the program confines itself, and far from the descriptors that it gets. -1: the variable is not set. */
static int open_high(const char *name)
{
    const char *path = getenv(name);
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    int file = path != NULL && *path != '\0' ? (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0666) : -1;
    int high = file >= 0 ? fcntl(file, F_DUPFD_CLOEXEC, 900) : -1;

    if (file >= 0)
        (void)syscall(SYS_close, file);
    return high;
}

__attribute__((constructor)) static void begin(void)
{
    const char *classes = getenv("CHAOS_CLASS"), *deed = getenv("CHAOS_DO"), *who = getenv("CHAOS_WHO");
    bool within = getenv("CHAOS_OWNER") != NULL;
    void *frame;

    if (classes == NULL)
        return;
    (void)setenv("CHAOS_OWNER", "", 0);
    if (within != (who != NULL && strcmp(who, "programs") == 0))
        return;
    (void)backtrace(&frame, 1); /* the first one loads a library */
    for (int i = 0; i < CLASSES; i++)
        if (strstr(classes, class_names[i]) != NULL || (i < MEMORY && strstr(classes, "files") != NULL))
            chaos.classes |= 1U << i;
    for (int i = FAIL; i <= SHORT; i++)
        if (deed != NULL && strcmp(deed, deed_names[i]) == 0)
            chaos.deed = (enum deed)i;
    chaos.at = number_of("CHAOS_AT", 0);
    chaos.number = (int)number_of("CHAOS_ERRNO", ENOSPC);
    chaos.step = (int)number_of("CHAOS_STEP", 0);
    chaos.signal = (int)number_of("CHAOS_SIGNAL", SIGKILL);
    chaos.from = getenv("CHAOS_FROM");
    chaos.count = open_high("CHAOS_COUNT");
    chaos.trace = open_high("CHAOS_TRACE");
    chaos.sites = open_high("CHAOS_SITES");
    chaos.forks = who != NULL && strcmp(who, "forks") == 0;
    chaos.owner = getpid();
    (void)pthread_atfork(NULL, NULL, after_fork);
    chaos.ready = true;
}

__attribute__((destructor)) static void end(void)
{
    char line[64];
    int length;

    if (!chaos.ready || chaos.count < 0 || (getpid() == chaos.owner) == chaos.forks)
        return;
    chaos.ready = false;
    length = snprintf(line, sizeof(line), "%ld%s\n", chaos.calls, chaos.happened ? " happened" : "");
    (void)!syscall(SYS_write, chaos.count, line, (size_t)length);
}

/* The C library's own function of that name. */
#define NEXT(name)                                                                                                     \
    static __typeof__(&name) next;                                                                                     \
    if (next == NULL)                                                                                                  \
    next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* ---- files ------------------------------------------------------------------------------------------------------- */

#define OPENS(name)                                                                                                    \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list more;                                                                                                  \
        mode_t mode;                                                                                                   \
        NEXT(name);                                                                                                    \
        va_start(more, flags);                                                                                         \
        mode = va_arg(more, mode_t);                                                                                   \
        va_end(more);                                                                                                  \
        return happens(OPEN) ? -1 : twice(next(path, flags, mode));                                                    \
    }
#define OPENS_AT(name)                                                                                                 \
    int name(int folder, const char *path, int flags, ...)                                                             \
    {                                                                                                                  \
        va_list more;                                                                                                  \
        mode_t mode;                                                                                                   \
        NEXT(name);                                                                                                    \
        va_start(more, flags);                                                                                         \
        mode = va_arg(more, mode_t);                                                                                   \
        va_end(more);                                                                                                  \
        return happens(OPEN) ? -1 : twice(next(folder, path, flags, mode));                                            \
    }
OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)

/* Each name stands beside that of offsets of 64 bits. */
#define OPENS_STREAM(name, parameters, arguments)                                                                      \
    FILE *name parameters                                                                                              \
    {                                                                                                                  \
        NEXT(name);                                                                                                    \
        return happens(OPEN) ? NULL : next arguments;                                                                  \
    }
OPENS_STREAM(fopen, (const char *path, const char *mode), (path, mode))
OPENS_STREAM(fopen64, (const char *path, const char *mode), (path, mode))
OPENS_STREAM(tmpfile, (void), ())
OPENS_STREAM(tmpfile64, (void), ())

/* How much of a write is done: half of it when this is the call that is to fall short. */
static size_t done_of(long before, size_t count)
{
    return chaos.deed == SHORT && chaos.calls != before && chaos.calls == chaos.at && count > 1 ? count / 2 : count;
}

ssize_t write(int file, const void *octets, size_t count)
{
    long before = chaos.calls;

    NEXT(write);
    return happens(WRITE) ? -1 : next(file, octets, done_of(before, count));
}

#define WRITES_AT(name, offset_type)                                                                                   \
    ssize_t name(int file, const void *octets, size_t count, offset_type offset)                                       \
    {                                                                                                                  \
        long before = chaos.calls;                                                                                     \
                                                                                                                       \
        NEXT(name);                                                                                                    \
        return happens(WRITE) ? -1 : next(file, octets, done_of(before, count), offset);                               \
    }
WRITES_AT(pwrite, off_t)
WRITES_AT(pwrite64, off64_t)

ssize_t writev(int file, const struct iovec *pieces, int count)
{
    NEXT(writev);
    return happens(WRITE) ? -1 : next(file, pieces, count);
}

/* What the stream holds cannot leave it any more. */
static void fill_device(FILE *stream)
{
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

    if (full >= 0 && fileno(stream) >= 0)
        (void)dup2(full, fileno(stream));
    if (full >= 0)
        (void)close(full);
}

static bool leaves_something(FILE *stream)
{
    return stream != NULL && __fwriting(stream) && __fpending(stream) != 0 && fileno(stream) >= 0;
}

int fflush(FILE *stream)
{
    NEXT(fflush);
    if (leaves_something(stream) && happens(WRITE))
        fill_device(stream);
    return next(stream);
}

int fclose(FILE *stream)
{
    NEXT(fclose);
    if (leaves_something(stream) && happens(WRITE))
        fill_device(stream);
    if (fileno(stream) >= 0 && happens(CLOSE)) {
        int number = errno;

        (void)next(stream);
        errno = number;
        return EOF;
    }
    return next(stream);
}

#define CALL(class, type, name, parameters, arguments)                                                                 \
    type name parameters                                                                                               \
    {                                                                                                                  \
        NEXT(name);                                                                                                    \
        return happens(class) ? -1 : next arguments;                                                                   \
    }
CALL(SYNC, int, fsync, (int file), (file))
CALL(SYNC, int, fdatasync, (int file), (file))
CALL(SYNC, int, ftruncate, (int file, off_t octets), (file, octets))
CALL(SYNC, int, ftruncate64, (int file, off64_t octets), (file, octets))
CALL(RENAME, int, rename, (const char *from, const char *to), (from, to))
CALL(RENAME, int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
CALL(REMOVE, int, unlink, (const char *path), (path))
CALL(REMOVE, int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
CALL(MAKE, int, mkdir, (const char *path, mode_t mode), (path, mode))
CALL(MAKE, int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
CALL(FORK, int, pipe, (int ends[2]), (ends))

/* A descriptor is closed even where close(2) says otherwise. */
int close(int file)
{
    NEXT(close);
    if (happens(CLOSE)) {
        int number = errno;

        (void)next(file);
        errno = number;
        return -1;
    }
    return next(file);
}

pid_t fork(void)
{
    pid_t child;

    NEXT(fork);
    if (happens(FORK))
        return -1;
    child = next();
    if (child > 0) {
        if (chaos.child_count == CHILDREN)
            memmove(chaos.children, chaos.children + 1, sizeof(pid_t) * (size_t)--chaos.child_count);
        chaos.children[chaos.child_count++] = child;
    }
    return child;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static bool memory_fails(const void *caller)
{
    Dl_info library; /* what CHAOS_FROM names may be loaded at any time */

    if (chaos.from != NULL && (dladdr(caller, &library) == 0 || strstr(library.dli_fname, chaos.from) == NULL))
        return false;
    return happens(MEMORY);
}

#define MEMORY_FAILS memory_fails(__builtin_return_address(0))

void *malloc(size_t octets)
{
    return MEMORY_FAILS ? NULL : __libc_malloc(octets);
}

void *calloc(size_t count, size_t octets)
{
    return MEMORY_FAILS ? NULL : __libc_calloc(count, octets);
}

void *realloc(void *old, size_t octets)
{
    return MEMORY_FAILS ? NULL : __libc_realloc(old, octets);
}

void *memalign(size_t alignment, size_t octets)
{
    return MEMORY_FAILS ? NULL : __libc_memalign(alignment, octets);
}

void *aligned_alloc(size_t alignment, size_t octets)
{
    return memalign(alignment, octets);
}

int posix_memalign(void **octets, size_t alignment, size_t count)
{
    return (*octets = memalign(alignment, count)) == NULL ? ENOMEM : 0;
}

/* ---- clocks ------------------------------------------------------------------------------------------------------ */

static time_t stepped(void)
{
    return chaos.happened && chaos.deed == STEP ? chaos.step : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int status;

    NEXT(clock_gettime);
    (void)happens(CLOCK);
    status = next(clock, now);
    if (status == 0 && clock == CLOCK_REALTIME)
        now->tv_sec += stepped();
    return status;
}

time_t time(time_t *where)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (where != NULL)
        *where = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    NEXT(gettimeofday);
    (void)happens(CLOCK);
    int status = next(now, zone);

    if (status == 0)
        now->tv_sec += stepped();
    return status;
}

/* What the kernel says of a captured frame follows its wall clock. */
struct pcap;
struct frame_head {
    struct timeval time;
    unsigned captured, length;
};
int pcap_next_ex(struct pcap *pcap, struct frame_head **head, const unsigned char **octets);

int pcap_next_ex(struct pcap *pcap, struct frame_head **head, const unsigned char **octets)
{
    int got;

    NEXT(pcap_next_ex);
    got = next(pcap, head, octets);
    if (got == 1)
        (*head)->time.tv_sec += stepped();
    return got;
}
