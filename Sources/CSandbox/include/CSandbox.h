/// What Swift cannot say to the Linux kernel: descriptors over sockets, sealed memory, child processes, and the walls of a sandbox.
///
/// Functions give 0 or a number from 0 on where they succeed, and a negative `errno` where they do not. No policy about pictures
/// is in here. On other systems than Linux each function is -ENOSYS.
#ifndef DARKROOM_CSANDBOX_H
#define DARKROOM_CSANDBOX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// descriptors.c

/// A file of `size` bytes that lies in memory only, closed on exec. Gives its descriptor.
int darkroom_memory_file(size_t size);
/// From now on nobody, whoever holds a descriptor of it, can change the memory file or its size.
int darkroom_seal(int file);
/// Whether all those seals are on the file.
int darkroom_is_sealed(int file);
/// Two sockets that are connected with each other, for whole messages (SOCK_SEQPACKET), closed on exec.
int darkroom_socket_pair(int sockets[2]);
/// Sends one message, and a descriptor with it unless that is negative. Never waits, never raises SIGPIPE.
int darkroom_send(int socket, const void *bytes, size_t count, int descriptor);
/// Takes one message and gives its length; 0 = the other side is gone. `descriptor` is that which came with it, or -1.
/// A message that does not fit, or has several descriptors, is -EBADMSG.
ssize_t darkroom_receive(int socket, void *bytes, size_t capacity, int *descriptor);

// process.c

/// Starts `path` with nothing but `socket`, which becomes descriptor 3: standard streams are /dev/null, all else is closed. The
/// child leads a process group of its own, and no signal is blocked or ignored in it. Gives its process id.
int darkroom_spawn(const char *path, char *const arguments[], char *const environment[], int socket);
/// A descriptor that is readable once the process has ended.
int darkroom_process_descriptor(pid_t process);
/// Processor time that the process has taken, in milliseconds.
int64_t darkroom_processor_milliseconds(pid_t process);

// walls.c

/// Neither this process nor its children gain privileges by what they execute, nobody may look into it, and it is killed when the
/// thread that started it ends. -ESRCH where its parent is not `parent` any more.
int darkroom_bind_to_parent(pid_t parent);
/// Limits that hold for the rest of the process's life, and no core file.
/// `memory` is what it may map on top of `mapped` bytes, `file` the size of a file in bytes, `processor` is seconds.
int darkroom_limit(uint64_t mapped, uint64_t memory, uint64_t file, uint64_t processor, uint64_t descriptors);

/// A Landlock ruleset under which the file system, TCP, abstract sockets and foreign processes are out of reach, as far as this
/// kernel has it. Gives its descriptor; -ENOSYS or -EOPNOTSUPP where the kernel has no Landlock.
int darkroom_ruleset(void);
/// Allows reading below `path`; -ENOENT where there is no such path.
int darkroom_allow_reading(int ruleset, const char *path);
/// Puts the ruleset, which it closes, into force for this thread and those that it starts.
int darkroom_enforce(int ruleset);

// calls.c

/// Of all system calls only those that computing takes are left, for all threads: files only where Landlock allows them,
/// messages only on descriptor 3, threads but no processes. Everything else is EPERM.
int darkroom_allow_few_calls(void);

// attempts.c

/// Tries what a sandboxed process must not be able to do, one attempt a number from 0 on. Gives the attempt's name, or NULL after
/// the last, and the `errno` of its failure, or 0 where it succeeded.
const char *darkroom_attempt(int number, int *failure);

#endif
