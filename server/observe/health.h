/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Health of the daemon's components. The components are added at start; after that all functions may be called from any
 * thread.
 */
#ifndef SERVER_OBSERVE_HEALTH_H
#define SERVER_OBSERVE_HEALTH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEALTH_COMPONENTS = 24, HEALTH_NAME_SIZE = 272, HEALTH_MESSAGE_SIZE = 1024 };

/* States, numbered as in the protocol. From HEALTH_SERVING on, each is worse than the one before. */
typedef enum health_state { HEALTH_UNKNOWN, HEALTH_SERVING, HEALTH_DEGRADED, HEALTH_NOT_SERVING } health_state;

typedef struct health_component {
    char name[HEALTH_NAME_SIZE];
    health_state state;
    char message[HEALTH_MESSAGE_SIZE]; /* empty when serving */
} health_component;

typedef struct health {
    pthread_mutex_t mutex;
    size_t count;
    health_component components[HEALTH_COMPONENTS];
    size_t loop;               /* index of the event loop's component */
    atomic_uint_fast64_t beat; /* ns; the loop's last heartbeat */
} health;

/* Initializes the structure, with the component "loop". */
void health_init(health *h);
void health_free(health *h);

/* Adds a component in state unknown. Returns its index; when the table is full, that of the last component, which is
 * renamed. Must be called before the health is shared. */
size_t health_enter(health *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets a component's state, with a sentence for every state but serving. The sentence is made printable
 * (dynamics/text.h). */
void health_set(health *h, size_t component, health_state state, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Records a heartbeat of the loop. */
void health_beat(health *h);

/* Copies a component to `result`. The component "loop" is not serving if its last heartbeat is older than two
 * seconds. */
void health_read(health *h, size_t component, health_component *result);

#endif
