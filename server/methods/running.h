/*
 * Long requests that wait for a worker or run on one, so that another request can end them and the world can see how
 * far they are.
 */
#ifndef SERVER_METHODS_RUNNING_H
#define SERVER_METHODS_RUNNING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A request under way, by the numbers that its client gave it. */
typedef struct running_call {
    uint64_t client, id;
    atomic_bool is_cancelled;
    _Atomic uint64_t last_report; /* ns; of its progress */
    _Atomic uint64_t reports;     /* so far */
    bool is_listed;
    struct running_call *next, *previous;
} running_call;

typedef struct running_calls {
    pthread_mutex_t mutex; /* guards the list */
    running_call *first;
} running_calls;

void running_calls_init(running_calls *calls);
void running_calls_free(running_calls *calls);

/* Lists a request, which stays where it is until it is removed. All functions: any thread. */
void running_calls_add(running_calls *calls, running_call *r, uint64_t client, uint64_t id);

/* Takes it off the list, if it is on it. */
void running_calls_remove(running_calls *calls, running_call *r);

/* Tells all requests of these numbers to end. False when there is none. */
bool running_calls_cancel(running_calls *calls, uint64_t client, uint64_t id);

#endif
