#ifdef __linux__
#define _GNU_SOURCE
#include "CSandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static int file_actions(posix_spawn_file_actions_t *actions, int socket) {
    int failure = 0;
    for (int stream = 0; stream < 3 && !failure; stream++) {
        failure = posix_spawn_file_actions_addopen(actions, stream, "/dev/null", O_RDWR, 0);
    }
    if (!failure) failure = posix_spawn_file_actions_adddup2(actions, socket, 3);
    if (!failure) failure = posix_spawn_file_actions_addclosefrom_np(actions, 4);
    return failure;
}

static int attributes(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setpgroup(attributes, 0);
    return posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

int darkroom_spawn(const char *path, char *const arguments[], char *const environment[], int socket) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t spawn_attributes;
    pid_t process = 0;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure) return -failure;
    failure = posix_spawnattr_init(&spawn_attributes);
    if (!failure) {
        failure = file_actions(&actions, socket);
        if (!failure) failure = attributes(&spawn_attributes);
        if (!failure) failure = posix_spawn(&process, path, &actions, &spawn_attributes, arguments, environment);
        posix_spawnattr_destroy(&spawn_attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failure ? -failure : process;
}

/// /proc/self/task has one folder for each thread, and each folder counts as a link.
static int has_one_thread(void) {
    struct stat status;
    return stat("/proc/self/task", &status) == 0 && status.st_nlink == 3;
}

/// Like fork(2), but the child becomes a child of the caller's parent, which can thus wait for it and whose exit ends
/// it.
static long fork_sibling(void) {
    // Where libc keeps the thread's id: the kernel stores the child's id there, as it does for fork.
    pid_t *thread = NULL;
    unsigned long flags = CLONE_PARENT | SIGCHLD;
    if (prctl(PR_GET_TID_ADDRESS, &thread, 0, 0, 0) == 0 && thread) flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
#ifdef __x86_64__
    return syscall(SYS_clone, flags, 0, 0, thread, 0);
#else
    return syscall(SYS_clone, flags, 0, 0, 0, thread);
#endif
}

/// Waits at most a second: the kernel counts a thread for a moment after it was joined.
static int becomes_single_threaded(void) {
    const struct timespec millisecond = {.tv_nsec = 1000000};
    for (int tries = 0; tries < 1000; tries++) {
        if (has_one_thread()) return 1;
        nanosleep(&millisecond, NULL);
    }
    return 0;
}

int darkroom_fork(int socket, int ruleset, const char *name) {
    if (!becomes_single_threaded()) return -EBUSY;
    // The child inherits its name, so that it never has another.
    char own_name[16] = "";
    prctl(PR_GET_NAME, own_name, 0, 0, 0);
    prctl(PR_SET_NAME, name, 0, 0, 0);
    long process = fork_sibling();
    int failure = errno;
    if (process != 0) prctl(PR_SET_NAME, own_name, 0, 0, 0);
    if (process < 0) return -failure;
    if (process > 0) return (int)process;
    // The lower one first: neither number may be closed before it is copied.
    if (dup2(socket, 3) < 0 || (ruleset >= 0 && dup2(ruleset, 4) < 0)) _exit(1);
    closefrom(ruleset >= 0 ? 5 : 4);
    setpgid(0, 0);
    return 0;
}

int darkroom_process_descriptor(pid_t process) {
    long descriptor = syscall(SYS_pidfd_open, process, 0);
    return descriptor < 0 ? -errno : (int)descriptor;
}

int64_t darkroom_processor_milliseconds(pid_t process) {
    clockid_t clock;
    struct timespec time;
    int failure = clock_getcpuclockid(process, &clock);
    if (failure) return -failure;
    if (clock_gettime(clock, &time) < 0) return -errno;
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int darkroom_run_when_idle(pid_t process) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *threads = opendir(path);
    if (!threads) return -errno;
    struct dirent *thread;
    struct sched_param parameter = {0};
    int failure = 0;
    while ((thread = readdir(threads))) {
        pid_t number = (pid_t)strtol(thread->d_name, NULL, 10);
        if (number > 0 && sched_setscheduler(number, SCHED_IDLE, &parameter) < 0) failure = -errno;
    }
    closedir(threads);
    return failure;
}
#endif
