#ifdef __linux__
#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
/// Continues with the next instruction if the loaded value is `value`, else skips `others` instructions.
#define UNLESS(value, others) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, others)

// Both architectures are little endian: the low half of an argument comes first.
#define ARGUMENT(index) (offsetof(struct seccomp_data, args) + 8 * (index))
#define NUMBER offsetof(struct seccomp_data, nr)

#define REFUSED (SECCOMP_RET_ERRNO | EPERM)
#define ABSENT (SECCOMP_RET_ERRNO | ENOSYS)
#define ALLOW(call) UNLESS(call, 1), RETURN(SECCOMP_RET_ALLOW)
/// Allows the call if the low half of the argument is `value`. Other values fail, so the call number need not be
/// reloaded.
#define ALLOW_IF(call, index, value) \
    UNLESS(call, 4), LOAD(ARGUMENT(index)), UNLESS(value, 1), RETURN(SECCOMP_RET_ALLOW), RETURN(REFUSED)

/// The flags with which glibc and musl start a thread. CLONE_THREAD is required, and other flags are refused.
#define THREAD_FLAGS                                                                                           \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS          \
     | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_DETACHED)

#define CONTROL(command) UNLESS(command, 1), RETURN(SECCOMP_RET_ALLOW)

int darkroom_restrict_system_calls(void) {
    struct sock_filter filter[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(NUMBER),
        // Locks and time, the most frequent calls.
        ALLOW(SYS_futex), ALLOW(SYS_clock_gettime), ALLOW(SYS_sched_yield),
        // Memory.
        ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_mremap), ALLOW(SYS_mprotect), ALLOW(SYS_madvise), ALLOW(SYS_brk),
        ALLOW(SYS_membarrier), ALLOW(SYS_memfd_create), ALLOW(SYS_ftruncate),
        // Open descriptors, and files as far as Landlock allows.
        ALLOW(SYS_read), ALLOW(SYS_pread64), ALLOW(SYS_readv), ALLOW(SYS_write), ALLOW(SYS_pwrite64),
        ALLOW(SYS_writev), ALLOW(SYS_lseek), ALLOW(SYS_close), ALLOW(SYS_openat), ALLOW(SYS_fstat),
        ALLOW(SYS_newfstatat), ALLOW(SYS_statx), ALLOW(SYS_fstatfs), ALLOW(SYS_statfs), ALLOW(SYS_readlinkat),
        ALLOW(SYS_faccessat), ALLOW(SYS_getdents64), ALLOW(SYS_getcwd), ALLOW(SYS_fadvise64), ALLOW(SYS_ppoll),
        ALLOW(SYS_eventfd2),
#ifdef __x86_64__
        ALLOW(SYS_open), ALLOW(SYS_stat), ALLOW(SYS_lstat), ALLOW(SYS_access), ALLOW(SYS_readlink), ALLOW(SYS_poll),
#endif
        // The socket to the server only.
        ALLOW_IF(SYS_sendmsg, 0, 3), ALLOW_IF(SYS_recvmsg, 0, 3),
        // Threads. The flags of clone3 are in memory that filters cannot read; libraries fall back to clone.
        ALLOW(SYS_set_robust_list), ALLOW(SYS_rseq), ALLOW(SYS_gettid), ALLOW(SYS_getpid), ALLOW(SYS_exit),
        ALLOW(SYS_exit_group), ALLOW(SYS_sched_getaffinity), ALLOW(SYS_getcpu), ALLOW(SYS_nanosleep),
        ALLOW(SYS_clock_nanosleep), ALLOW(SYS_clock_getres), ALLOW(SYS_gettimeofday), ALLOW(SYS_restart_syscall),
        UNLESS(SYS_clone3, 1), RETURN(ABSENT),
        UNLESS(SYS_clone, 7), LOAD(ARGUMENT(0)), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~(uint32_t)THREAD_FLAGS),
        UNLESS(0, 3), LOAD(ARGUMENT(0)), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
        RETURN(SECCOMP_RET_ALLOW), RETURN(REFUSED),
        // Signals to itself, with which libraries abort.
        ALLOW(SYS_rt_sigaction), ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_rt_sigreturn), ALLOW(SYS_sigaltstack),
        ALLOW_IF(SYS_tgkill, 0, (uint32_t)getpid()),
        // Information about the process and the machine.
        ALLOW(SYS_getrandom), ALLOW(SYS_getrusage), ALLOW(SYS_sysinfo), ALLOW(SYS_uname), ALLOW(SYS_getuid),
        ALLOW(SYS_geteuid), ALLOW(SYS_getgid), ALLOW(SYS_getegid),
        // Reading limits: the pointer to a new limit must be null, in both halves.
        UNLESS(SYS_prlimit64, 6), LOAD(ARGUMENT(2)), UNLESS(0, 3), LOAD(ARGUMENT(2) + 4), UNLESS(0, 1),
        RETURN(SECCOMP_RET_ALLOW), RETURN(REFUSED),
        ALLOW_IF(SYS_prctl, 0, PR_SET_NAME),
        UNLESS(SYS_fcntl, 12), LOAD(ARGUMENT(1)), CONTROL(F_GETFD), CONTROL(F_SETFD), CONTROL(F_GETFL),
        CONTROL(F_ADD_SEALS), CONTROL(F_GET_SEALS), RETURN(REFUSED),
        RETURN(REFUSED),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    // A positive result is the id of a thread that could not be synchronized.
    return result < 0 ? -errno : result > 0 ? -EBUSY : 0;
}

#else

int darkroom_restrict_system_calls(void) { return -ENOSYS; }

#endif
#endif
