#ifndef __linux__
#include "CSandbox.h"

#include <errno.h>

int darkroom_socket_pair(int sockets[2], int bytes) { return -ENOSYS; }
int darkroom_send(
    int socket, const void *head, size_t head_count, const void *body, size_t body_count, int descriptor) {
    return -ENOSYS;
}
ssize_t darkroom_receive(int socket, void *bytes, size_t capacity, int *descriptor) { return -ENOSYS; }
int darkroom_spawn(const char *path, char *const arguments[], char *const environment[], int socket) { return -ENOSYS; }
int darkroom_fork(int socket, int ruleset, const char *name) { return -ENOSYS; }
int darkroom_process_descriptor(pid_t process) { return -ENOSYS; }
int64_t darkroom_processor_milliseconds(pid_t process) { return -ENOSYS; }
int darkroom_run_when_idle(pid_t process) { return -ENOSYS; }
int darkroom_bind_to_parent(pid_t parent, const char *name) { return -ENOSYS; }
int darkroom_limit(uint64_t mapped, uint64_t memory, uint64_t file, uint64_t processor, uint64_t descriptors) {
    return -ENOSYS;
}
int darkroom_ruleset(void) { return -ENOSYS; }
int darkroom_allow_reading(int ruleset, const char *path) { return -ENOSYS; }
int darkroom_enforce(int ruleset) { return -ENOSYS; }
int darkroom_restrict_system_calls(void) { return -ENOSYS; }
const char *darkroom_probe(int number, int *failure) { return 0; }
#endif
