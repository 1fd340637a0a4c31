/* Long requests under way. */
#include "methods/running.h"

#include <stddef.h>

void running_calls_init(running_calls *calls) {
    pthread_mutex_init(&calls->mutex, NULL);
    calls->first = NULL;
}

void running_calls_free(running_calls *calls) {
    pthread_mutex_destroy(&calls->mutex);
}

void running_calls_add(running_calls *calls, running_call *r, uint64_t client, uint64_t id) {
    pthread_mutex_lock(&calls->mutex);
    r->client = client;
    r->id = id;
    r->previous = NULL;
    r->next = calls->first;
    if (r->next) {
        r->next->previous = r;
    }
    calls->first = r;
    r->is_listed = true;
    pthread_mutex_unlock(&calls->mutex);
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

bool running_calls_cancel(running_calls *calls, uint64_t client, uint64_t id) {
    bool found = false;
    pthread_mutex_lock(&calls->mutex);
    for (running_call *r = calls->first; r; r = r->next) {
        if (r->client == client && r->id == id) {
            atomic_store(&r->is_cancelled, true);
            found = true;
        }
    }
    pthread_mutex_unlock(&calls->mutex);
    return found;
}
