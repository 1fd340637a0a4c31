/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects the states of simulations that are watched together, and sends them in one message a tick. */
#include "methods/simulation_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/clock.h"

/* Bytes of the states in one message: far below the 1 MiB that a NATS server carries by default. */
enum { MESSAGE_BYTES = 256 << 10 };

/* Longest wait of states for those of other threads in ns, where these are late. */
#define LONGEST_WAIT (NANOSECONDS / 1000)

void groups_init(simulation_groups *g, service_limits *limits, uint64_t instance) {
    pthread_mutex_init(&g->mutex, NULL);
    atomic_init(&g->count, 0);
    g->limits = limits;
    g->instance = instance;
}

static void free_group(simulation_group *group) {
    topics_free(&group->topics);
    free(group->bytes);
    free(group);
}

void groups_free(simulation_groups *g) {
    while (g->first) {
        simulation_group *group = g->first;
        g->first = group->next;
        free_group(group);
    }
    pthread_mutex_destroy(&g->mutex);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* Creates a group. The names of its topics contain an underscore in place of the star: a star is a wildcard in subjects
 * of NATS and in subscriptions of the client. */
static simulation_group *create(simulation_groups *g, const char *beginning) {
    char name[SIMULATION_NAME_SIZE + 1];
    simulation_group *group = calloc(1, sizeof *group);
    if (group) {
        snprintf(group->beginning, sizeof group->beginning, "%s", beginning);
        snprintf(name, sizeof name, "%s_", group->beginning);
        topics_name(&group->topics, g->instance, "simulations", name, "state");
        group->next = g->first;
        g->first = group;
        atomic_fetch_add(&g->count, 1);
    }
    return group;
}

simulation_group *groups_hold(simulation_groups *g, const char *beginning) {
    pthread_mutex_lock(&g->mutex);
    simulation_group *group = g->first;
    while (group && strcmp(group->beginning, beginning) != 0) {
        group = group->next;
    }
    group = group ? group : create(g, beginning);
    if (group) {
        group->users++;
    }
    pthread_mutex_unlock(&g->mutex);
    return group;
}

void groups_release(simulation_groups *g, simulation_group *group) {
    pthread_mutex_lock(&g->mutex);
    group->users--;
    pthread_mutex_unlock(&g->mutex);
}

bool groups_exist(const simulation_groups *g) {
    return atomic_load_explicit(&g->count, memory_order_relaxed) > 0;
}

transport_topic *groups_detach(simulation_groups *g, uint64_t now, bool is_end) {
    transport_topic *endpoint = NULL;
    pthread_mutex_lock(&g->mutex);
    for (simulation_group **place = &g->first; *place && !endpoint;) {
        simulation_group *group = *place;
        if (is_end) {
            endpoint = group->topics.endpoint;
            group->topics.endpoint = NULL;
        } else {
            endpoint = topics_detach_unused(&group->topics, now);
        }
        if (!group->topics.endpoint && group->users == 0) {
            *place = group->next;
            atomic_fetch_sub(&g->count, 1);
            free_group(group);
        } else {
            place = &group->next;
        }
    }
    pthread_mutex_unlock(&g->mutex);
    return endpoint;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Returns whether a simulation belongs to a group that has subscribers. */
static bool is_watched_in(const simulation *s, const simulation_group *group) {
    return strncmp(s->name, group->beginning, strlen(group->beginning)) == 0 && topics_have_subscribers(&group->topics);
}

static void send_waiting(simulation_group *group) {
    if (group->size > 0) {
        topics_send_serialized(&group->topics, DYNAMICS__V1__EVENT__EVENT_GROUP_STATE, group->bytes, group->size);
        group->size = 0;
    }
}

/* Reserves room for `size` more bytes of states. Returns false when out of memory. */
static bool reserve(simulation_group *group, size_t size) {
    size_t needed = TOPIC_HEAD_SIZE + group->size + size;
    if (needed <= group->capacity) {
        return true;
    }
    uint8_t *bytes = realloc(group->bytes, 2 * needed);
    if (bytes) {
        group->bytes = bytes;
        group->capacity = 2 * needed;
    }
    return bytes != NULL;
}

/* Appends a serialized GroupStateEvent, after sending what waits if both are too long for one message: serialized
 * messages one after the other are one message with the repeated members of both. */
static void append(simulation_group *group, size_t most, const uint8_t *bytes, size_t size) {
    if (group->size + size > most) {
        send_waiting(group);
    }
    if (!reserve(group, size)) {
        topics_skip_data(&group->topics);
        return;
    }
    if (group->size == 0) {
        group->since = clock_now();
    }
    memcpy(group->bytes + TOPIC_HEAD_SIZE + group->size, bytes, size);
    group->size += size;
}

void groups_add_states(simulation_groups *g, simulation *s, watched_topics *scratch,
                       Dynamics__V1__SimulationStateEvent *states) {
    Dynamics__V1__GroupStateEvent event = DYNAMICS__V1__GROUP_STATE_EVENT__INIT;
    const uint64_t limit = atomic_load(&g->limits->reply_bytes);
    const size_t most = limit < MESSAGE_BYTES ? (size_t)limit : MESSAGE_BYTES;
    size_t size;
    event.n_simulations = 1;
    event.simulations = &states;
    const uint8_t *bytes = topics_pack(scratch, &event.base, &size);
    pthread_mutex_lock(&g->mutex);
    for (simulation_group *group = g->first; group; group = group->next) {
        if (!is_watched_in(s, group)) {
            continue;
        }
        if (bytes) {
            append(group, most, bytes, size);
        } else {
            topics_skip_data(&group->topics);
        }
        if (s->condition != SIMULATION_RUNNING) {
            send_waiting(group);
        }
    }
    pthread_mutex_unlock(&g->mutex);
}

void groups_send_event(simulation_groups *g, const simulation *s, Dynamics__V1__Event *event) {
    pthread_mutex_lock(&g->mutex);
    for (simulation_group *group = g->first; group; group = group->next) {
        if (!is_watched_in(s, group)) {
            continue;
        }
        if (s->condition != SIMULATION_RUNNING) {
            send_waiting(group);
        }
        topics_send_event(&group->topics, event);
    }
    pthread_mutex_unlock(&g->mutex);
}

void groups_send(simulation_groups *g, bool has_tick_ended) {
    if (!groups_exist(g)) {
        return;
    }
    pthread_mutex_lock(&g->mutex);
    const uint64_t now = clock_now();
    for (simulation_group *group = g->first; group; group = group->next) {
        if (has_tick_ended || now > group->since + LONGEST_WAIT) {
            send_waiting(group);
        }
    }
    pthread_mutex_unlock(&g->mutex);
}
