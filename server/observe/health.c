/* SPDX-License-Identifier: BSD-2-Clause */
/* Stores the health of the daemon's components, and derives that of the loop from its heartbeats. */
#include "observe/health.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <dynamics/text.h>

#include "observe/clock.h"

/* Age of the last heartbeat from which the loop counts as hung. */
#define LOOP_PATIENCE (2 * NANOSECONDS)

void health_init(health *h) {
    memset(h, 0, sizeof *h);
    pthread_mutex_init(&h->mutex, NULL);
    h->loop = health_enter(h, "loop");
}

void health_free(health *h) {
    pthread_mutex_destroy(&h->mutex);
}

size_t health_enter(health *h, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t index = h->count < HEALTH_COMPONENTS ? h->count++ : HEALTH_COMPONENTS - 1;
    vsnprintf(h->components[index].name, HEALTH_NAME_SIZE, format, arguments);
    va_end(arguments);
    return index;
}

void health_set(health *h, size_t component, health_state state, const char *format, ...) {
    char message[HEALTH_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&h->mutex);
    h->components[component].state = state;
    dyn_text_print(message, h->components[component].message, HEALTH_MESSAGE_SIZE);
    pthread_mutex_unlock(&h->mutex);
}

void health_beat(health *h) {
    atomic_store(&h->beat, clock_now());
}

void health_read(health *h, size_t component, health_component *result) {
    pthread_mutex_lock(&h->mutex);
    *result = h->components[component];
    pthread_mutex_unlock(&h->mutex);
    if (component != h->loop) {
        return;
    }
    uint64_t beat = atomic_load(&h->beat), now = clock_now();
    if (beat == 0) {
        return;
    }
    bool is_late = now > beat + LOOP_PATIENCE;
    result->state = is_late ? HEALTH_NOT_SERVING : HEALTH_SERVING;
    if (is_late) {
        snprintf(result->message, sizeof result->message, "no sign of life for %.1f s", (double)(now - beat) / 1e9);
    } else {
        result->message[0] = '\0';
    }
}
