/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repairs of defects of nng.
 *
 * A peer that closes a connection before it is greeted makes the greeting fail with EPIPE. nng takes that for the
 * closing of its own dialer, which then never dials again (observed with 1.5.2). With ECONNRESET, which has the same
 * meaning, it does.
 *
 * A connection that is closed between two parts of a message refuses the second part. Before nng 1.9 the operation
 * never completes. The thread of nng that frees connections then waits for it without end, and so does the thread that
 * closes a socket: dyn_client_close while a long reply arrives. The functions below complete such an operation with an
 * error. nng 1.9 and later refuse the operation as well, but do not wait for it (observed with 1.10.1: six refused
 * operations of clients that close in the middle of a reply, and every close ended). There the functions only call
 * nng's own.
 *
 * The linker replaces nng's own calls of three functions by those of this file (--wrap). nng is linked from its
 * archive, so that neither nng nor the replacements are visible to the program that uses the library.
 */
#include <errno.h>
#include <stdio.h>

#include <nng/nng.h>

/* The linker's option --wrap prescribes these names: __real_X is nng's own function X, and __wrap_X is its
 * replacement. */
int __real_nni_plat_errno(int code);
int __wrap_nni_plat_errno(int code);
void __real_nng_stream_send(nng_stream *stream, nng_aio *operation);
void __real_nng_stream_recv(nng_stream *stream, nng_aio *operation);
void __wrap_nng_stream_send(nng_stream *stream, nng_aio *operation);
void __wrap_nng_stream_recv(nng_stream *stream, nng_aio *operation);

/* nng's archive is compiled for programs. A shared library cannot contain its direct references to these variables of
 * the C library, so the linker replaces them as well. nng prints a panic there and nothing else. */
extern FILE *__real_stdout, *__real_stderr;
FILE *__wrap_stdout, *__wrap_stderr;

/* The first priority that programs may use: constructors of a program that is linked with this file read the streams,
 * as libFuzzer's do. */
__attribute__((constructor(101))) static void copy_streams(void) {
    __wrap_stdout = __real_stdout;
    __wrap_stderr = __real_stderr;
}

/* nng translates errors of the system with this function. */
int __wrap_nni_plat_errno(int code) {
    return __real_nni_plat_errno(code == EPIPE ? ECONNRESET : code);
}

/* Completes an operation that nng has refused and marked as cancelled. The error is NNG_ECLOSED, which nng reports for
 * operations of a closed connection. */
static void complete_refused(nng_aio *operation) {
    if (NNG_WAITS_FOR_REFUSED && nng_aio_result(operation) == NNG_ECANCELED) {
        nng_aio_finish(operation, NNG_ECLOSED);
    }
}

void __wrap_nng_stream_send(nng_stream *stream, nng_aio *operation) {
    __real_nng_stream_send(stream, operation);
    complete_refused(operation);
}

void __wrap_nng_stream_recv(nng_stream *stream, nng_aio *operation) {
    __real_nng_stream_recv(stream, operation);
    complete_refused(operation);
}
