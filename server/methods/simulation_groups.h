/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of simulations that are watched together: those whose names begin with one text. The states of all members
 * that advance in a tick leave in one message. A group exists while its endpoint is open.
 *
 * All functions may be called from any thread, also with the mutex of a simulation locked, except groups_init and
 * groups_free.
 */
#ifndef SERVER_METHODS_SIMULATION_GROUPS_H
#define SERVER_METHODS_SIMULATION_GROUPS_H

#include <pthread.h>
#include <stdatomic.h>

#include "dynamics/v1/event.pb-c.h"
#include "methods/limits.h"
#include "methods/topic.h"
#include "simulations/simulation.h"

typedef struct simulation_group {
    char beginning[SIMULATION_NAME_SIZE]; /* of the names of its members */
    watched_topics topics;
    unsigned users; /* calls that use the group without the mutex */
    /* States that wait to be sent: TOPIC_HEAD_SIZE free bytes, then `size` bytes of a GroupStateEvent. */
    uint8_t *bytes;
    size_t size, capacity;
    uint64_t since; /* time of the first of them, ns */
    struct simulation_group *next;
} simulation_group;

typedef struct simulation_groups {
    pthread_mutex_t mutex; /* guards the groups; locked after a simulation's mutex */
    atomic_uint count;
    simulation_group *first;
    service_limits *limits;
    uint64_t instance; /* of the daemon */
} simulation_groups;

void groups_init(simulation_groups *g, service_limits *limits, uint64_t instance);

/* Frees the groups, whose endpoints are detached. */
void groups_free(simulation_groups *g);

/* Returns the group of simulations whose names begin with this text, and creates it if there is none. The caller passes
 * it to groups_release. Returns NULL when out of memory. */
simulation_group *groups_hold(simulation_groups *g, const char *beginning);
void groups_release(simulation_groups *g, simulation_group *group);

/* Returns whether there is a group. */
bool groups_exist(const simulation_groups *g);

/* Adds states of a simulation, which is locked, to the messages of its groups. They wait for groups_send while the
 * simulation runs with the clock, and are sent at once otherwise. */
void groups_add_states(simulation_groups *g, simulation *s, watched_topics *scratch,
                       Dynamics__V1__SimulationStateEvent *states);

/* Sends an event of a simulation, which is locked, to the watchers of its groups. Waiting states precede it, unless the
 * simulation runs with the clock. */
void groups_send_event(simulation_groups *g, const simulation *s, Dynamics__V1__Event *event);

/* Sends the states that wait: all of them if the tick has ended, otherwise those that have waited for long. */
void groups_send(simulation_groups *g, bool has_tick_ended);

/* Detaches and returns the endpoint of a group that had no subscriber for TOPIC_LINGER, or, at the end of the daemon,
 * of any group. Frees groups without an endpoint. Returns NULL if there is no such endpoint. */
transport_topic *groups_detach(simulation_groups *g, uint64_t now, bool is_end);

#endif
