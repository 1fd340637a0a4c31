/* SPDX-License-Identifier: BSD-2-Clause */
/* Holds the last requests that took long, in a ring. */
#include "observe/slow_log.h"

#include <string.h>

#include "observe/clock.h"

void slow_log_init(slow_log *s) {
    memset(s, 0, sizeof *s);
    atomic_store(&s->bound, UINT64_MAX);
    pthread_mutex_init(&s->mutex, NULL);
}

void slow_log_free(slow_log *s) {
    pthread_mutex_destroy(&s->mutex);
}

void slow_log_set_bound(slow_log *s, double seconds) {
    atomic_store(&s->bound, seconds > 0 ? clock_duration(seconds) : UINT64_MAX);
}

void slow_log_add(slow_log *s, const slow_request *request) {
    pthread_mutex_lock(&s->mutex);
    slow_request *entry = &s->entries[s->count++ % SLOW_LOG_ENTRIES];
    *entry = *request;
    entry->number = s->count;
    entry->stamp_ns = clock_wall();
    pthread_mutex_unlock(&s->mutex);
}

size_t slow_log_read(slow_log *s, size_t most, slow_request *requests, uint64_t *total) {
    pthread_mutex_lock(&s->mutex);
    size_t held = s->count < SLOW_LOG_ENTRIES ? (size_t)s->count : SLOW_LOG_ENTRIES;
    size_t count = held < most ? held : most;
    for (size_t i = 0; i < count; i++) {
        requests[i] = s->entries[(s->count - 1 - i) % SLOW_LOG_ENTRIES];
    }
    *total = s->count;
    pthread_mutex_unlock(&s->mutex);
    return count;
}
