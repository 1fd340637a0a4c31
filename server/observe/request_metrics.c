/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts requests by relaxed atomic additions. */
#include "observe/request_metrics.h"

enum { UNKNOWN_CODE = 2 };

const uint64_t request_metrics_bounds[REQUEST_METRICS_RANGES - 1] = {
    1000,      2000,      5000,       10000,      20000,      50000,       100000,   200000,
    500000,    1000000,   2000000,    5000000,    10000000,   20000000,    50000000, 100000000,
    200000000, 500000000, 1000000000, 2000000000, 5000000000, 10000000000,
};

static void add(atomic_uint_fast64_t *number, uint64_t amount) {
    atomic_fetch_add_explicit(number, amount, memory_order_relaxed);
}

/* Returns the index of the range that contains a time. */
static size_t find_range(uint64_t time) {
    size_t i = 0;
    while (i < REQUEST_METRICS_RANGES - 1 && time > request_metrics_bounds[i]) {
        i++;
    }
    return i;
}

void request_metrics_count(request_metrics *m, const request_outcome *outcome) {
    add(&m->codes[outcome->code < REQUEST_METRICS_CODES ? outcome->code : UNKNOWN_CODE], 1);
    add(&m->ranges[find_range(outcome->time)], 1);
    add(&m->time, outcome->time);
    add(&m->bytes_in, outcome->bytes_in);
    add(&m->bytes_out, outcome->bytes_out);
    if (outcome->samples > 0) {
        add(&m->samples, outcome->samples);
    }
}

uint64_t request_metrics_total(const request_metrics *m) {
    uint64_t total = 0;
    for (size_t i = 0; i < REQUEST_METRICS_CODES; i++) {
        total += atomic_load_explicit(&m->codes[i], memory_order_relaxed);
    }
    return total;
}
