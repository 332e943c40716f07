/// Linux system calls that Swift cannot express: descriptors over sockets, child processes and sandbox layers.
///
/// Functions return 0 or a non-negative number on success and a negative `errno` on failure. They hold no policy about
/// images. On systems other than Linux every function returns -ENOSYS.
#ifndef DARKROOM_CSANDBOX_H
#define DARKROOM_CSANDBOX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// descriptors.c

/// Creates two connected sockets for whole messages (SOCK_SEQPACKET) of up to about `bytes`, closed on exec.
int darkroom_socket_pair(int sockets[2], int bytes);
/// Sends one message of two parts, and `descriptor` with it unless negative. Never blocks, never raises SIGPIPE.
int darkroom_send(
    int socket, const void *head, size_t head_count, const void *body, size_t body_count, int descriptor);
/// Receives one message and returns its length; 0 if the peer has closed the socket. Sets `descriptor` to the one
/// received, or -1. Returns -EBADMSG for a message that does not fit or carries several descriptors.
ssize_t darkroom_receive(int socket, void *bytes, size_t capacity, int *descriptor);

// process.c

/// Starts `path` with `socket` as descriptor 3 and /dev/null as standard streams; all other descriptors are closed. The
/// child leads its own process group, and no signal is blocked or ignored in it. Returns its process id.
int darkroom_spawn(const char *path, char *const arguments[], char *const environment[], int socket);
/// Forks a process that becomes a child of the caller's parent, with `socket` as descriptor 3 and, unless negative,
/// `ruleset` as descriptor 4; beyond these it has only the standard streams. It leads its own process group. Returns
/// its process id to the caller and 0 to the child. Refuses with -EBUSY if the caller has more than one thread: the
/// child would have one only, and wait forever for the others. The child's name in /proc is `name` from its first step
/// on.
int darkroom_fork(int socket, int ruleset, const char *name);
/// Returns a descriptor that is readable once the process has exited (pidfd_open(2)).
int darkroom_process_descriptor(pid_t process);
/// Returns the CPU time of the process in milliseconds.
int64_t darkroom_processor_milliseconds(pid_t process);
/// Lets the process run only while a processor would be idle otherwise (SCHED_IDLE, sched(7)): all of its threads, and
/// threads that they start later. Without privileges, this cannot be undone.
int darkroom_run_when_idle(pid_t process);

// isolation.c

/// Names the process, forbids gaining privileges by execution, forbids tracing, and has the process killed when the
/// parent's thread that started it exits. Returns -ESRCH if the parent is no longer `parent`.
int darkroom_bind_to_parent(pid_t parent, const char *name);
/// Sets resource limits that cannot be raised again, and turns core files off. `memory` is the address space in bytes
/// beyond `mapped`, `file` the maximum file size in bytes, `processor` CPU seconds.
int darkroom_limit(uint64_t mapped, uint64_t memory, uint64_t file, uint64_t processor, uint64_t descriptors);

/// Creates a Landlock ruleset that denies the file system, TCP, abstract sockets and signals to other processes, as far
/// as this kernel supports it. Returns its descriptor; -ENOSYS or -EOPNOTSUPP without Landlock.
int darkroom_ruleset(void);
/// Allows reading below `path`; -ENOENT if the path does not exist.
int darkroom_allow_reading(int ruleset, const char *path);
/// Enforces the ruleset for this thread and threads that it starts later, and closes it.
int darkroom_enforce(int ruleset);

// seccomp.c

/// Restricts all threads to the system calls that computation needs: files as far as Landlock allows, messages on
/// descriptor 3 only, threads but no processes. Every other call fails with EPERM.
int darkroom_restrict_system_calls(void);

// probes.c

/// Tries an operation that the sandbox must forbid; probes are numbered from 0. Returns the name of the probe, or NULL
/// after the last one, and sets `failure` to its `errno`, or 0 if it succeeded.
const char *darkroom_probe(int number, int *failure);

#endif
