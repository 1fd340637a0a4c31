/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work on many samples, split into blocks over the threads that are free.
 *
 * The calling thread works too, and never waits for a thread that has not begun: a full pool makes it slower, not
 * stuck.
 */
#ifndef SERVER_METHODS_BLOCKS_H
#define SERVER_METHODS_BLOCKS_H

#include <dynamics/status.h>
#include <stddef.h>
#include <stdint.h>

#include "methods/service.h"

/* Most samples of a block. Between two blocks each thread looks at the deadline. */
enum { BLOCK_SAMPLES = 256 };

/* Computes samples first .. first + count - 1. `worker` numbers the threads at work, from 0, the calling one. */
typedef dyn_status (*block_step)(void *context, unsigned worker, size_t first, size_t count, dyn_error *error);

typedef struct blocks {
    size_t n;          /* samples */
    size_t size;       /* samples of a block, 1 to BLOCK_SAMPLES; 0: BLOCK_SAMPLES */
    unsigned workers;  /* most threads, at least 1 */
    uint64_t deadline; /* ns, CLOCK_MONOTONIC; no block is begun after it */
    block_step step;
    void *context;
    bool (*proceed)(void *context); /* asked before each block but the first; false ends the work. NULL is allowed */
    service_submit submit;          /* where further threads come from */
    void *pool;
} blocks;

/* BLOCKS_ENDED: `proceed` said so. */
typedef enum blocks_result { BLOCKS_DONE, BLOCKS_FAILED, BLOCKS_LATE, BLOCKS_ENDED } blocks_result;

/* Runs the step over all samples. After BLOCKS_FAILED, `status`, `error` and `first` tell of the failed block with the
 * lowest number: the same one however many threads there were. */
blocks_result blocks_run(const blocks *b, dyn_status *status, dyn_error *error, size_t *first);

#endif
