/* SPDX-License-Identifier: BSD-2-Clause */
/* Overrides functions of the C library and of nng to work around defects of nng. */
#include "transport/nng_repairs.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <nng/nng.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transport/transit.h"

#define EXPORTED __attribute__((visibility("default")))

typedef void (*stream_function)(nng_stream *stream, nng_aio *operation);

/* nng's own functions. */
static struct {
    pthread_once_t once;
    stream_function send, receive;
} nng = {.once = PTHREAD_ONCE_INIT};

/* Bound below which a new connection's descriptor must be. */
static atomic_int descriptor_bound = INT_MAX;

void nng_repairs_bound_descriptors(int bound) {
    atomic_store(&descriptor_bound, bound);
}

EXPORTED ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
    long count = syscall(SYS_sendmsg, descriptor, message, flags);
    if (NNG_STOPS_LISTENING && count < 0 && errno == EPIPE) {
        errno = ECONNRESET;
    }
    int code = errno;
    transit_was_sent(descriptor, message, count);
    errno = code;
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

static stream_function find(const char *name) {
    stream_function function;
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(&function, &symbol, sizeof function);
    return function;
}

static void find_nng(void) {
    nng.send = find("nng_stream_send");
    nng.receive = find("nng_stream_recv");
}

/* Completes an operation that nng refused: nng only marks it with NNG_ECANCELED. nng cancels the operations of a
 * connection with NNG_ECLOSED. */
static void complete_refused(nng_aio *operation) {
    if (NNG_WAITS_FOR_REFUSED && nng_aio_result(operation) == NNG_ECANCELED) {
        nng_aio_finish(operation, NNG_ECLOSED);
    }
}

EXPORTED void nng_stream_send(nng_stream *stream, nng_aio *operation) {
    pthread_once(&nng.once, find_nng);
    nng.send(stream, operation);
    complete_refused(operation);
}

EXPORTED void nng_stream_recv(nng_stream *stream, nng_aio *operation) {
    pthread_once(&nng.once, find_nng);
    nng.receive(stream, operation);
    complete_refused(operation);
}
