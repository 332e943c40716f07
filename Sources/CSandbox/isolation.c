#ifdef __linux__
#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

int darkroom_bind_to_parent(pid_t parent, const char *name) {
    // The name in /proc and top, which would otherwise be "exe".
    prctl(PR_SET_NAME, name, 0, 0, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
        return -errno;
    // The parent may have exited before PR_SET_PDEATHSIG took effect.
    return getppid() == parent ? 0 : -ESRCH;
}

/// Lowers a limit; a lower one stays.
static int lower(int resource, uint64_t value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit)) return -errno;
    if (limit.rlim_max < value) value = limit.rlim_max;
    limit.rlim_cur = limit.rlim_max = value;
    return setrlimit(resource, &limit) ? -errno : 0;
}

/// RLIMIT_NPROC counts all threads of the user: allow somewhat more than the whole system has now.
static uint64_t thread_limit(void) {
    struct sysinfo info;
    return (sysinfo(&info) ? 0 : info.procs) + 1024;
}

int darkroom_limit(uint64_t mapped, uint64_t memory, uint64_t file, uint64_t processor, uint64_t descriptors) {
    // Writing beyond the limit then fails with EFBIG instead of a signal.
    signal(SIGXFSZ, SIG_IGN);
    int failure = lower(RLIMIT_AS, mapped + memory);
    if (!failure) failure = lower(RLIMIT_FSIZE, file);
    if (!failure) failure = lower(RLIMIT_CPU, processor);
    if (!failure) failure = lower(RLIMIT_NOFILE, descriptors);
    if (!failure) failure = lower(RLIMIT_NPROC, thread_limit());
    if (!failure) failure = lower(RLIMIT_CORE, 0);
    return failure;
}

// Landlock ABI 1 to 7, declared here because headers of older distributions lack parts of it.

#define SYS_LANDLOCK_CREATE_RULESET 444
#define SYS_LANDLOCK_ADD_RULE 445
#define SYS_LANDLOCK_RESTRICT_SELF 446
#define CREATE_RULESET_VERSION 1
#define RULE_PATH_BENEATH 1
#define READ_FILE (1ull << 2)
#define READ_DIR (1ull << 3)

struct ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scoped;
};

struct path_rule {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

int darkroom_ruleset(void) {
    long version = syscall(SYS_LANDLOCK_CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);
    if (version < 0) return -errno;
    // Each version adds access rights for files.
    int ways = version == 1 ? 13 : version == 2 ? 14 : version <= 4 ? 15 : 16;
    struct ruleset rules = {.files = (1ull << ways) - 1};
    size_t size = sizeof rules.files;
    if (version >= 4) {
        rules.network = 3;
        size = offsetof(struct ruleset, scoped);
    }
    if (version >= 6) {
        rules.scoped = 3;
        size = sizeof rules;
    }
    long ruleset = syscall(SYS_LANDLOCK_CREATE_RULESET, &rules, size, 0);
    return ruleset < 0 ? -errno : (int)ruleset;
}

int darkroom_allow_reading(int ruleset, const char *path) {
    struct stat status;
    int parent = open(path, O_PATH | O_CLOEXEC);
    if (parent < 0) return -errno;
    int failed = fstat(parent, &status);
    if (!failed) {
        struct path_rule rule = {S_ISDIR(status.st_mode) ? READ_FILE | READ_DIR : READ_FILE, parent};
        failed = syscall(SYS_LANDLOCK_ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0) < 0;
    }
    int failure = failed ? -errno : 0;
    close(parent);
    return failure;
}

int darkroom_enforce(int ruleset) {
    int failure = syscall(SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0) < 0 ? -errno : 0;
    close(ruleset);
    return failure;
}
#endif
