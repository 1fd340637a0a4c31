/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Overrides of C library functions through which transit.c observes the bytes that nng reads, and the descriptor of a
 * connection. nng calls these functions through the dynamic linker; the daemon's definitions override them. Neither nng
 * 1.5.2 nor nng 1.10 has an interface for it.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <nng/nng.h>

#include "transport/transit.h"

#define EXPORTED __attribute__((visibility("default")))

/* Descriptor of this thread's last query to the system. */
static _Thread_local int queried = -1;

/* Bytes that nng reads from one connection before others have their turn. A socket may hold several mebibytes, and nng
 * reads from all connections with few threads. */
enum { SLICE_BYTES = 256 << 10 };

EXPORTED ssize_t readv(int descriptor, const struct iovec *parts, int count) {
    size_t wanted = 0;
    for (int i = 0; i < count; i++) {
        wanted += parts[i].iov_len;
    }
    if (transit_is_secure(descriptor)) {
        return syscall(SYS_readv, descriptor, parts, count);
    }
    if (!transit_may_read(descriptor, wanted)) {
        return 0;
    }
    bool is_sliced = count == 1 && wanted > SLICE_BYTES;
    struct iovec slice = {.iov_base = count == 1 ? parts->iov_base : NULL, .iov_len = SLICE_BYTES};
    long result = syscall(SYS_readv, descriptor, is_sliced ? &slice : parts, count);
    int code = errno;
    transit_was_read(descriptor, wanted, result);
    errno = code;
    return result;
}

EXPORTED int getpeername(int descriptor, __SOCKADDR_ARG address, socklen_t *restrict size) {
    queried = descriptor;
    return (int)syscall(SYS_getpeername, descriptor, address.__sockaddr__, size);
}

EXPORTED int getsockopt(int descriptor, int level, int name, void *restrict value, socklen_t *restrict size) {
    queried = descriptor;
    return (int)syscall(SYS_getsockopt, descriptor, level, name, value, size);
}

/* Queries options that nng answers by a query to the system about the connection's descriptor, one option for each kind
 * of socket. */
int transit_descriptor(nng_pipe pipe) {
    nng_sockaddr address;
    uint64_t process;
    queried = -1;
    if (nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_PID, &process) != 0) {
        nng_pipe_get_addr(pipe, NNG_OPT_REMADDR, &address);
    }
    return queried;
}
