/* Three system calls as nng calls them, with what it gets wrong put right. */
#include "transport/system_calls.h"

#include <errno.h>
#include <stdatomic.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* Number that a new connection's descriptor must stay below. */
static atomic_int descriptor_bound = INT_MAX;

void system_calls_bound_descriptors(int bound) {
    atomic_store(&descriptor_bound, bound);
}

EXPORTED ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
    long count = syscall(SYS_sendmsg, descriptor, message, flags);
    if (count < 0 && errno == EPIPE) {
        errno = ECONNRESET;
    }
    return count;
}

EXPORTED int listen(int descriptor, int backlog) {
    (void)backlog;
    return (int)syscall(SYS_listen, descriptor, SOMAXCONN);
}

EXPORTED int accept(int descriptor, __SOCKADDR_ARG address, socklen_t *restrict size) {
    int connection = accept4(descriptor, address, size, SOCK_CLOEXEC);
    if (connection >= atomic_load(&descriptor_bound)) {
        close(connection);
        errno = ECONNABORTED;
        return -1;
    }
    return connection;
}
