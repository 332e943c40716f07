#ifdef __linux__
#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long read_a_file(void) { return open("/etc/passwd", O_RDONLY); }
static long read_its_memory(void) { return open("/proc/self/mem", O_RDONLY); }
static long list_a_folder(void) { return open("/", O_RDONLY | O_DIRECTORY); }
static long write_a_file(void) { return open("/tmp/darkroom-probe", O_WRONLY | O_CREAT, 0600); }
static long open_an_internet_socket(void) { return socket(AF_INET, SOCK_STREAM, 0); }
static long open_a_unix_socket(void) { return socket(AF_UNIX, SOCK_STREAM, 0); }

static long connect_its_socket(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = 80, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return connect(3, (struct sockaddr *)&address, sizeof address);
}

static long send_elsewhere(void) {
    struct msghdr message = {0};
    return sendmsg(0, &message, 0);
}

static long start_a_process(void) {
    long process = fork();
    if (process == 0) _exit(0);
    return process;
}

static long start_a_process_anew(void) {
    long process = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (process == 0) _exit(0);
    return process;
}

static long execute(void) {
    char *const none[] = {0};
    return execve("/bin/true", none, none);
}

static long trace_its_parent(void) { return ptrace(PTRACE_SEIZE, getppid(), 0, 0); }
static long signal_its_parent(void) { return kill(getppid(), 0); }
static long signal_another_group(void) { return syscall(SYS_tgkill, 1, 1, 0); }

static long read_anothers_memory(void) {
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)read_a_file, 1};
    return process_vm_readv(getppid(), &here, 1, &there, 1, 0);
}

static long raise_a_limit(void) {
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    return setrlimit(RLIMIT_AS, &limit);
}

static long be_dumpable(void) { return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }
static long outlive_its_parent(void) { return prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0); }

static long map_a_terabyte(void) {
    return mmap(0, 1ul << 40, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED ? -1 : 0;
}

static long make_a_large_file(void) {
    int file = memfd_create("probe", MFD_CLOEXEC);
    return file < 0 ? -1 : ftruncate(file, 1l << 40);
}

static long open_many_descriptors(void) {
    for (int count = 0; count < 1024; count++) {
        if (dup(0) < 0 && memfd_create("probe", MFD_CLOEXEC) < 0) return -1;
    }
    return 0;
}

/// An inherited descriptor would be open here.
static long find_a_descriptor(void) {
    for (int descriptor = 4; descriptor < 64; descriptor++) {
        if (fcntl(descriptor, F_GETFD) >= 0) return descriptor;
    }
    errno = EBADF;
    return -1;
}

static const struct {
    const char *name;
    long (*run)(void);
} probes[] = {
    {"find a descriptor", find_a_descriptor},
    {"read a file", read_a_file},
    {"read its memory", read_its_memory},
    {"list a folder", list_a_folder},
    {"write a file", write_a_file},
    {"open an internet socket", open_an_internet_socket},
    {"open a unix socket", open_a_unix_socket},
    {"connect its socket", connect_its_socket},
    {"send elsewhere", send_elsewhere},
    {"start a process", start_a_process},
    {"start a process anew", start_a_process_anew},
    {"execute", execute},
    {"trace its parent", trace_its_parent},
    {"signal its parent", signal_its_parent},
    {"signal another group", signal_another_group},
    {"read another's memory", read_anothers_memory},
    {"raise a limit", raise_a_limit},
    {"be dumpable", be_dumpable},
    {"outlive its parent", outlive_its_parent},
    {"map a terabyte", map_a_terabyte},
    {"make a large file", make_a_large_file},
    {"open many descriptors", open_many_descriptors},
};

const char *darkroom_probe(int number, int *failure) {
    if (number < 0 || (size_t)number >= sizeof probes / sizeof *probes) return NULL;
    errno = 0;
    *failure = probes[number].run() < 0 ? errno : 0;
    return probes[number].name;
}
#endif
