#ifdef __linux__
#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int darkroom_socket_pair(int sockets[2], int bytes) {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) return -errno;
    // As far as the system allows: a message that does not fit is refused with EMSGSIZE.
    for (int end = 0; end < 2; end++) setsockopt(sockets[end], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    return 0;
}

int darkroom_send(
    int socket, const void *head, size_t head_count, const void *body, size_t body_count, int descriptor) {
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec parts[] = {{(void *)head, head_count}, {(void *)body, body_count}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = body_count ? 2 : 1};
    if (descriptor >= 0) {
        memset(&control, 0, sizeof control);
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(int));
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) return -errno;
    return (size_t)sent == head_count + body_count ? 0 : -EMSGSIZE;
}

ssize_t darkroom_receive(int socket, void *bytes, size_t capacity, int *descriptor) {
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {bytes, capacity};
    // The exact length: padding would leave space for a second descriptor.
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_LEN(sizeof(int))};
    *descriptor = -1;
    ssize_t count;
    do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    if (count < 0) return -errno;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS
        && header->cmsg_len == CMSG_LEN(sizeof(int))) {
        memcpy(descriptor, CMSG_DATA(header), sizeof(int));
    }
    if (!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) return count;
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
    return -EBADMSG;
}
#endif
