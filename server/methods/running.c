/* SPDX-License-Identifier: BSD-2-Clause */
/* Long requests and jobs that wait for a thread or run on one: their list, and their cancellation. */
#include "methods/running.h"

#include <stddef.h>

void running_calls_init(running_calls *calls) {
    pthread_mutex_init(&calls->mutex, NULL);
    calls->first = NULL;
}

void running_calls_free(running_calls *calls) {
    pthread_mutex_destroy(&calls->mutex);
}

void running_call_init(running_call *r, const running_name *name, uint64_t progress) {
    r->name = *name;
    r->progress = progress;
    r->is_listed = false;
    atomic_store_explicit(&r->is_cancelled, false, memory_order_relaxed);
    atomic_store_explicit(&r->fraction, 0, memory_order_relaxed);
    atomic_store_explicit(&r->last_report, 0, memory_order_relaxed);
    atomic_store_explicit(&r->reports, 0, memory_order_relaxed);
}

static bool is_same_client(const running_name *a, const running_name *b) {
    return transport_identity_equal(&a->peer, &b->peer) && a->client == b->client;
}

/* Returns whether a listed request of another client has the progress number of this request. Called with the mutex
 * held. */
static bool is_number_in_use(const running_calls *calls, const running_call *wanted) {
    const running_call *r = wanted->progress != 0 ? calls->first : NULL;
    while (r && (r->progress != wanted->progress || is_same_client(&r->name, &wanted->name))) {
        r = r->next;
    }
    return r != NULL;
}

bool running_calls_add(running_calls *calls, running_call *r) {
    pthread_mutex_lock(&calls->mutex);
    r->is_listed = !is_number_in_use(calls, r);
    if (r->is_listed) {
        r->previous = NULL;
        r->next = calls->first;
        if (r->next) {
            r->next->previous = r;
        }
        calls->first = r;
    }
    pthread_mutex_unlock(&calls->mutex);
    return r->is_listed;
}

void running_calls_remove(running_calls *calls, running_call *r) {
    if (!r->is_listed) {
        return;
    }
    pthread_mutex_lock(&calls->mutex);
    if (r->previous) {
        r->previous->next = r->next;
    } else {
        calls->first = r->next;
    }
    if (r->next) {
        r->next->previous = r->previous;
    }
    r->is_listed = false;
    pthread_mutex_unlock(&calls->mutex);
}

bool running_calls_cancel(running_calls *calls, const running_name *name) {
    bool found = false;
    pthread_mutex_lock(&calls->mutex);
    for (running_call *r = calls->first; r; r = r->next) {
        if (r->name.id == name->id && is_same_client(&r->name, name)) {
            atomic_store(&r->is_cancelled, true);
            found = true;
        }
    }
    pthread_mutex_unlock(&calls->mutex);
    return found;
}

void running_calls_cancel_all(running_calls *calls) {
    pthread_mutex_lock(&calls->mutex);
    for (running_call *r = calls->first; r; r = r->next) {
        atomic_store(&r->is_cancelled, true);
    }
    pthread_mutex_unlock(&calls->mutex);
}
