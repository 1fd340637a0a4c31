/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control of the library failing_calls.so, which makes one call of a program fail. The program is started with the
 * library in LD_PRELOAD and the path of a file with this struct in FAILING_CALLS; the test changes the file, which both
 * map.
 *
 * Only calls from the program itself and from the project's and protobuf's libraries fail, not those of libc, libuv and
 * nng.
 */
#ifndef DYNAMICS_TESTS_FAILING_CALLS_H
#define DYNAMICS_TESTS_FAILING_CALLS_H

#include <stdatomic.h>

typedef enum failing_kind {
    FAILING_ALLOCATIONS, /* malloc, calloc, realloc, strdup: they return NULL */
    FAILING_CALLS,       /* system calls about files: they fail with the error number `error` */
    FAILING_KINDS,
} failing_kind;

typedef struct failing_control {
    atomic_int kind;
    atomic_int error;
    atomic_long countdown; /* the call that reaches 0 fails; below 1: none fails */
    atomic_long failed;    /* calls that have failed */
} failing_control;

#endif
