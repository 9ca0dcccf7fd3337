/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tests/e2e/confinement.sh sees a confined process call, on each suite of Debian, is allowed below; so is what
 * belongs to it on other architectures, and what the C library calls in less common cases. All else is refused.
 */
#define _GNU_SOURCE /* pipe2 */
#include "reference-stack/program/confine_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reference-stack/program/confine_files.h"

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* clang-format off */
const struct confine_calls confine_calls[] = {
    {CONFINE_ALLOWED, 0, "memory: the C library's allocator, Lua, buffers, files that are mapped",
     "brk mmap mmap2 munmap mremap mprotect madvise mincore msync membarrier memfd_create map_shadow_stack mseal"},
    {CONFINE_ALLOWED, 0, "reading files: captures, scripts, results, the C library's tables of characters and time zones",
     "open openat openat2 close close_range read readv pread64 preadv preadv2 lseek _llseek readahead posix_fadvise "
     "fadvise64 fadvise64_64 arm_fadvise64_64"},
    {CONFINE_ALLOWED, 0, "looking at files and folders",
     "stat lstat fstat stat64 lstat64 fstat64 fstatat64 newfstatat statx access faccessat faccessat2 readlink readlinkat "
     "getdents getdents64 getcwd chdir fchdir statfs fstatfs statfs64 fstatfs64 umask ioctl fcntl fcntl64 flock"},
    {CONFINE_ALLOWED, 0, "writing files: results, reports, evidence; Landlock decides where",
     "creat write writev pwrite64 pwritev pwritev2 ftruncate ftruncate64 truncate truncate64 fallocate fsync fdatasync "
     "sync_file_range sync_file_range2 rename renameat renameat2 unlink unlinkat mkdir mkdirat rmdir link linkat symlink "
     "symlinkat chmod fchmod fchmodat fchmodat2 utime utimes futimesat utimensat utimensat_time64 copy_file_range"},
    {CONFINE_ALLOWED, 0, "descriptors: pipes to the processes that run checks or judge files",
     "dup dup2 dup3 pipe pipe2 eventfd eventfd2 sendfile sendfile64 splice tee"},
    {CONFINE_ALLOWED, 0, "waiting: libuv's loop, libpcap, the tester's own",
     "poll ppoll ppoll_time64 select _newselect pselect6 pselect6_time64 epoll_create epoll_create1 epoll_ctl epoll_wait "
     "epoll_pwait epoll_pwait2 timerfd_create timerfd_settime timerfd_gettime timerfd_settime64 timerfd_gettime64"},
    {CONFINE_ALLOWED, 0, "time, and limits of processor time",
     "clock_gettime clock_gettime64 clock_getres clock_getres_time64 clock_nanosleep clock_nanosleep_time64 nanosleep "
     "gettimeofday time times setitimer getitimer alarm timer_create timer_settime timer_gettime timer_delete "
     "timer_settime64 timer_gettime64 getrusage"},
    {CONFINE_ALLOWED, 0, "signals: handlers, abort(), the end of an own child (Landlock keeps them from other processes)",
     "rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 "
     "rt_sigqueueinfo rt_tgsigqueueinfo sigaction sigprocmask sigreturn sigsuspend signal sigaltstack kill tkill tgkill pause "
     "restart_syscall signalfd signalfd4 pidfd_open pidfd_send_signal"},
    {CONFINE_ALLOWED, 0, "children that run checks or judge files, and threads (clone() without namespaces, below)",
     "clone fork vfork wait4 waitid waitpid exit exit_group futex futex_time64 futex_waitv futex_wake futex_wait "
     "futex_requeue set_robust_list get_robust_list set_tid_address set_thread_area get_thread_area arch_prctl rseq "
     "sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_getscheduler sched_get_priority_max "
     "sched_get_priority_min getcpu"},
    {CONFINE_ALLOWED, 0, "what a process is, and what it may use",
     "getpid getppid gettid getpgid getpgrp setpgid getsid setsid getuid geteuid getgid getegid getuid32 geteuid32 getgid32 "
     "getegid32 getresuid getresgid getresuid32 getresgid32 getgroups getgroups32 getpriority setpriority getrlimit "
     "ugetrlimit setrlimit prlimit64 sysinfo uname capget"},
    {CONFINE_ALLOWED, 0, "random numbers: seeds of hash tables, names of temporary files", "getrandom"},
    {CONFINE_ALLOWED, 0, "sockets that are open: octets in and out, options",
     "sendto send sendmsg sendmmsg recvfrom recv recvmsg recvmmsg recvmmsg_time64 getsockname getpeername getsockopt "
     "setsockopt shutdown"},
    {CONFINE_ALLOWED, CONFINE_CONNECTIONS, "connections: to the upper tester, of the stack (families of sockets, below)",
     "socket socketpair connect bind listen accept accept4"},
    {CONFINE_ALLOWED, 0, "to be confined once more, to less: the processes of audit -j",
     "prctl seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self"},
    {CONFINE_ALLOWED, 0, "the C library's own, on some processors",
     "riscv_flush_icache riscv_hwprobe cacheflush set_tls get_tls s390_runtime_instr swapcontext"},

    {CONFINE_ABSENT, 0, "libuv: its loop goes back to epoll_ctl(). The ring's operations would pass by these filters",
     "io_uring_setup io_uring_enter io_uring_register"},
    {CONFINE_ABSENT, 0, "the C library goes back to clone(), whose flags a filter can read", "clone3"},

    {CONFINE_FORBIDDEN, 0, "other programs and processes: none is executed, watched or read",
     "execve execveat ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp uselib "
     "personality"},
    {CONFINE_FORBIDDEN, 0, "namespaces and mounts are made before, or never",
     "unshare setns mount umount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick "
     "mount_setattr quotactl quotactl_fd swapon swapoff"},
    {CONFINE_FORBIDDEN, 0, "other users: privileges are dropped before, for good",
     "setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid setuid32 setgid32 setreuid32 setregid32 "
     "setresuid32 setresgid32 setgroups32 setfsuid32 setfsgid32 capset chown fchown lchown fchownat chown32 fchown32 lchown32 "
     "lsm_set_self_attr"},
    {CONFINE_FORBIDDEN, 0, "files by other ways than their paths, which Landlock knows",
     "open_by_handle_at name_to_handle_at mknod mknodat fanotify_init"},
    {CONFINE_FORBIDDEN, 0, "the kernel: its modules, its memory, its keys, its counters",
     "init_module finit_module delete_module create_module kexec_load kexec_file_load reboot acct syslog bpf perf_event_open "
     "userfaultfd lookup_dcookie nfsservctl vhangup iopl ioperm modify_ldt vm86 vm86old sethostname setdomainname add_key "
     "request_key keyctl migrate_pages move_pages"},
    {CONFINE_FORBIDDEN, 0, "the clock of the system", "settimeofday clock_settime clock_settime64 clock_adjtime "
     "clock_adjtime64 adjtimex stime"},
};
/* clang-format on */
const size_t confine_calls_count = sizeof(confine_calls) / sizeof(confine_calls[0]);

/* clone()'s flags for namespaces, and where they stand; clone3() hides them in memory. */
static const uint64_t namespaces[] = {0x00020000, 0x02000000, 0x04000000, 0x08000000,
                                      0x10000000, 0x20000000, 0x40000000};
#ifdef __s390__
enum { CLONE_FLAGS = 1 };
#else
enum { CLONE_FLAGS = 0 };
#endif

/* ioctl()s that put words into a terminal's mouth: TIOCSTI, TIOCLINUX. */
static const uint64_t terminal_requests[] = {0x5412, 0x541C};

enum { FAMILY_LOCAL = 1, FAMILY_IPV4 = 2, FAMILY_IPV6 = 10 };

/* ---- filters ----------------------------------------------------------------------------------------------------- */

/*
 * Two, of which the kernel obeys the stricter one for each call: libseccomp cannot say in one filter that a call is
 * allowed but for some arguments.
 *
 * libseccomp crashes, goes on for ever, or makes another program without a word when an allocation fails in it. So a
 * child makes each filter twice, in limited time, and gives both programs through a pipe: they have to be the same.
 */
enum { FILTER_INSTRUCTIONS = 4096 /* the most that a kernel takes */, FILTER_SECONDS = 2, NAME_OCTETS = 40 };

struct made_filter {
    struct sock_filter instructions[2 * FILTER_INSTRUCTIONS];
    size_t count;
};

/* Adds a rule, which some architectures have no call for. False: memory is short. */
#define ADDED(...) (seccomp_rule_add(__VA_ARGS__) != -ENOMEM)

/* The number of the first of `names`; afterwards `names` stands behind it. False: there is none. */
static bool next_call(const char **names, int *number)
{
    size_t length = strcspn(*names, " ");
    char name[NAME_OCTETS];

    if (length == 0)
        return false;
    (void)snprintf(name, sizeof(name), "%.*s", (int)length, *names);
    *names += length + ((*names)[length] == ' ');
    *number = seccomp_syscall_resolve_name(name);
    return true;
}

/* Names that a library or a kernel lacks are left out. */
static bool answer(scmp_filter_ctx filter, const char *names, uint32_t action)
{
    bool whole = true;
    int number;

    while (next_call(&names, &number))
        if (number != __NR_SCMP_ERROR)
            whole = ADDED(filter, action, number, 0) && whole;
    return whole;
}

static uint32_t action_of(const struct confine_calls *row, unsigned needs)
{
    if (row->answer == CONFINE_ABSENT)
        return SCMP_ACT_ERRNO(ENOSYS);
    return row->answer == CONFINE_ALLOWED && (row->needs == 0 || (row->needs & needs) != 0) ? SCMP_ACT_ALLOW
                                                                                            : SCMP_ACT_ERRNO(EPERM);
}

/* Fills in a filter; false: memory is short. `otherwise`: what it answers to calls that it has no rule for. */
struct filter_kind {
    uint32_t otherwise;
    bool (*fill)(scmp_filter_ctx filter, unsigned needs);
};

static bool by_name(scmp_filter_ctx filter, unsigned needs)
{
    bool whole = true;

    for (size_t i = 0; i < confine_calls_count; i++)
        if (confine_calls[i].answer != CONFINE_ABSENT) /* as all others */
            whole = answer(filter, confine_calls[i].names, action_of(&confine_calls[i], needs)) && whole;
    return whole;
}

/* Sockets of the Internet's families and of Unix's, and of no others: neither packets nor the kernel's own. */
static bool refuse_families(scmp_filter_ctx filter)
{
    bool whole = ADDED(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_GT, FAMILY_IPV6, 0));

    for (scmp_datum_t family = 0; family < FAMILY_IPV6; family++)
        if (family != FAMILY_LOCAL && family != FAMILY_IPV4)
            whole = ADDED(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, family, 0)) && whole;
    return whole;
}

static bool by_argument(scmp_filter_ctx filter, unsigned needs)
{
    bool whole = refuse_families(filter);

    (void)needs;
    for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++)
        whole = ADDED(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                      SCMP_CMP(CLONE_FLAGS, SCMP_CMP_MASKED_EQ, namespaces[i], namespaces[i])) &&
                whole;
    for (size_t i = 0; i < sizeof(terminal_requests) / sizeof(terminal_requests[0]); i++)
        whole = ADDED(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                      SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, terminal_requests[i])) &&
                whole;
    return whole;
}

static bool of_the_absent(scmp_filter_ctx filter, unsigned needs)
{
    bool whole = true;

    (void)needs;
    for (size_t i = 0; i < confine_calls_count; i++)
        if (confine_calls[i].answer == CONFINE_ABSENT)
            whole = answer(filter, confine_calls[i].names, SCMP_ACT_ERRNO(ENOSYS)) && whole;
    return whole;
}

static const struct filter_kind names_allowed = {SCMP_ACT_ERRNO(ENOSYS), by_name};
static const struct filter_kind arguments_refused = {SCMP_ACT_ALLOW, by_argument};
static const struct filter_kind names_absent = {SCMP_ACT_ALLOW, of_the_absent};

/*
 * ---- the child that makes one --------------------------------------------------------------------------------------
 */

/* The process ends: nothing is given back. */
static bool write_once(const struct filter_kind *kind, unsigned needs, int file)
{
    scmp_filter_ctx filter = seccomp_init(kind->otherwise);

    return filter != NULL && kind->fill(filter, needs) && seccomp_export_bpf(filter, file) == 0;
}

static _Noreturn void write_filter(const struct filter_kind *kind, unsigned needs, int file)
{
    const struct rlimit time = {FILTER_SECONDS, FILTER_SECONDS}, none = {0, 0};

    (void)setrlimit(RLIMIT_CPU, &time);
    (void)setrlimit(RLIMIT_CORE, &none);
    for (int turn = 0; turn < 2; turn++)
        if (!write_once(kind, needs, file))
            _exit(1);
    _exit(0);
}

/* What comes through the pipe, until its other end is closed. False: it cannot be read, or is too much. */
static bool read_filter(int file, struct made_filter *made)
{
    uint8_t *to = (uint8_t *)made->instructions;
    size_t have = 0;
    ssize_t got;

    while ((got = read(file, to + have, sizeof(made->instructions) - have)) != 0) {
        if (got < 0 && errno != EINTR)
            return false;
        have += got > 0 ? (size_t)got : 0;
        if (have == sizeof(made->instructions))
            return false;
    }
    made->count = have / 2 / sizeof(made->instructions[0]);
    return made->count != 0 && have == 2 * made->count * sizeof(made->instructions[0]) &&
           memcmp(to, to + have / 2, have / 2) == 0;
}

static bool has_ended_well(pid_t child)
{
    int status = 0;
    pid_t ended;

    while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
        continue;
    return ended < 0 || status == 0; /* < 0: the process ignores SIGCHLD, and gets no status */
}

static bool make(const struct filter_kind *kind, unsigned needs, struct made_filter *made)
{
    bool whole;
    pid_t child;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        write_filter(kind, needs, ends[1]);
    }
    (void)close(ends[1]);
    whole = child > 0 && read_filter(ends[0], made);
    (void)close(ends[0]);
    return child > 0 && has_ended_well(child) && whole;
}

/*
 * ---- loading --------------------------------------------------------------------------------------------------------
 */

/* All of the filters, or none. A kernel without seccomp has no filter, and that is no error. */
static int load(const struct filter_kind *const *kinds, size_t count, unsigned needs, struct iwarp_sentence *error)
{
    struct made_filter *made = malloc(count * sizeof(*made));
    size_t whole = 0;

    while (made != NULL && whole < count && make(kinds[whole], needs, &made[whole]))
        whole++;
    for (size_t i = 0; whole == count && i < count; i++) {
        struct sock_fprog program = {(unsigned short)made[i].count, made[i].instructions};

        (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    }
    free(made);
    return whole == count
               ? 0
               : iwarp_sentence_set(error, "the filter of system calls cannot be made: memory or processes are short");
}

bool confine_calls_filtered(void)
{
    return !CONFINE_SANITISED && !confine_under_valgrind();
}

int confine_calls_filter(unsigned needs, struct iwarp_sentence *error)
{
    const struct filter_kind *const kinds[] = {&arguments_refused, &names_allowed};

    return confine_calls_filtered() ? load(kinds, sizeof(kinds) / sizeof(kinds[0]), needs, error) : 0;
}

int confine_calls_absent(struct iwarp_sentence *error)
{
    const struct filter_kind *const kinds[] = {&names_absent};

    return confine_calls_filtered() ? load(kinds, 1, 0, error) : 0;
}
