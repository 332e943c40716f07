#define _GNU_SOURCE
#include "CMemory.h"

#include <errno.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

/// Whether reads of this thread by `darkroom_pread` do not wait.
static _Thread_local int waits_not;

void darkroom_wait_for_devices(int waits) { waits_not = !waits; }

#ifdef __linux__
#include <fcntl.h>
#include <sys/syscall.h>

// From linux/openat2.h, which old headers lack.
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#define RESOLVE_CACHED 0x20
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

struct how {
    uint64_t flags, mode, resolve;
};

int darkroom_open_cached(const char *path, int flags) {
    struct how how = {(uint64_t)flags, 0, RESOLVE_CACHED};
    int file = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    return file < 0 ? -errno : file;
}

ssize_t darkroom_read_cached(int file, void *bytes, size_t count, off_t offset) {
    struct iovec vector = {bytes, count};
    return preadv2(file, &vector, 1, offset, RWF_NOWAIT);
}
#else
int darkroom_open_cached(const char *path, int flags) { return -ENOSYS; }

ssize_t darkroom_read_cached(int file, void *bytes, size_t count, off_t offset) {
    errno = ENOSYS;
    return -1;
}
#endif

ssize_t darkroom_pread(int file, void *bytes, size_t count, off_t offset) {
    if (!waits_not) return pread(file, bytes, count, offset);
    ssize_t got = darkroom_read_cached(file, bytes, count, offset);
    // Linux 5.9 and 5.10 also return 0 for bytes that are not in memory (preadv2(2), "Bugs").
    if (got != 0 || count == 0) return got;
    errno = EAGAIN;
    return -1;
}
