/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks: splits the work on many samples over the idle threads. The calling thread works too, and never waits for a
 * thread that has not begun: while all other threads are busy the work is slower, but not blocked.
 */
#ifndef SERVER_METHODS_BLOCKS_H
#define SERVER_METHODS_BLOCKS_H

#include <dynamics/status.h>
#include <stddef.h>
#include <stdint.h>

#include "methods/service.h"

/* Largest number of samples of a block. Between two blocks each thread checks the deadline. */
enum { BLOCK_SAMPLES = 256 };

/* Computes samples first .. first + count - 1. `worker` is the index of the working thread, from 0, the calling one
 * included. */
typedef dyn_status (*block_step)(void *context, unsigned worker, size_t first, size_t count, dyn_error *error);

/* Work to do, and the threads and limits for it. */
typedef struct blocks {
    size_t n;          /* samples */
    size_t size;       /* samples of a block, 1 to BLOCK_SAMPLES; 0: BLOCK_SAMPLES */
    unsigned workers;  /* largest number of threads, at least 1 */
    uint64_t deadline; /* ns, CLOCK_MONOTONIC; no block begins after it, except the first of a single thread */
    block_step step;
    void *context;
    /* Called before each block, except the first of a single thread. False ends the work. May be NULL. */
    bool (*proceed)(void *context);
    service_submit submit; /* submits work to further threads of `pool` */
    /* Called around the wait for these threads; NULL: nothing is. */
    void (*pause)(void *pool);
    void (*resume)(void *pool);
    void *pool;
} blocks;

/* Result of blocks_run. BLOCKS_FAILED: a step returned an error, or memory is short. BLOCKS_LATE: the deadline passed
 * before all blocks were done. BLOCKS_ENDED: `proceed` returned false. */
typedef enum blocks_result { BLOCKS_DONE, BLOCKS_FAILED, BLOCKS_LATE, BLOCKS_ENDED } blocks_result;

/* Runs the step over all samples. After BLOCKS_FAILED, `status`, `error` and `first` describe the failed block with the
 * lowest number, independently of the number of threads; or a lack of memory, with `first` 0. */
blocks_result blocks_run(const blocks *b, dyn_status *status, dyn_error *error, size_t *first);

#endif
