/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A defect of nng before 1.9, put right from outside.
 *
 * A connection that is closed between two parts of a message refuses the second part without ever completing the
 * operation. nng's thread that frees connections then waits for it for good, and so does whoever closes a socket:
 * dyn_client_close while a long reply arrives. nng calls these two functions of its own through the dynamic linker,
 * which finds the ones below first. They complete such an operation with an error.
 *
 * nng 1.9 and later refuse it as well, but do not wait for it (observed with 1.10.1: six refused operations of clients
 * that close in the middle of a reply, and every close ended). There the functions below only call nng's own.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include <nng/nng.h>

#define EXPORTED __attribute__((visibility("default")))

typedef void (*stream_function)(nng_stream *stream, nng_aio *operation);

/* nng's own functions. */
static struct {
    pthread_once_t once;
    stream_function send, receive;
} nng = {.once = PTHREAD_ONCE_INIT};

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

/* A refused operation is marked as cancelled and left at that. nng cancels those of a connection with NNG_ECLOSED. */
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
