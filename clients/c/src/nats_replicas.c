/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributes the requests of a client over the daemons of a queue group. */
#include "nats_replicas.h"

#include <stdio.h>
#include <string.h>

/* One of so many requests goes to the group. Replies in a row that name no new daemon, for each daemon that is known,
 * until the client addresses them. */
enum { PROBE = 8, FAMILIAR = 2 };

void nats_replicas_init(nats_replicas *replicas) {
    *replicas = (nats_replicas){.count = 0};
    pthread_mutex_init(&replicas->mutex, NULL);
}

void nats_replicas_destroy(nats_replicas *replicas) {
    pthread_mutex_destroy(&replicas->mutex);
}

/* Returns the daemon of a name, or NULL. Called with the mutex held. */
static nats_known_replica *find(nats_replicas *replicas, const char *name) {
    for (size_t i = 0; i < replicas->count; i++) {
        if (strcmp(replicas->known[i].name, name) == 0) {
            return &replicas->known[i];
        }
    }
    return NULL;
}

/* Returns the daemon with the fewest requests under way; of several ones, each in its turn. Called with the mutex
 * held. */
static nats_known_replica *find_idlest(nats_replicas *replicas) {
    nats_known_replica *idlest = &replicas->known[replicas->asked % replicas->count];
    for (size_t i = 1; i < replicas->count; i++) {
        nats_known_replica *each = &replicas->known[(replicas->asked + i) % replicas->count];
        idlest = each->under_way < idlest->under_way ? each : idlest;
    }
    return idlest;
}

bool nats_replicas_begin(nats_replicas *replicas, char chosen[NATS_REPLICA_SIZE]) {
    pthread_mutex_lock(&replicas->mutex);
    bool is_alone = replicas->under_way++ == 0, is_probe = ++replicas->asked % PROBE == 0;
    bool is_chosen = !is_alone && !is_probe && replicas->count > 1 && replicas->familiar >= FAMILIAR * replicas->count;
    chosen[0] = '\0';
    if (is_chosen) {
        nats_known_replica *idlest = find_idlest(replicas);
        idlest->under_way++;
        memcpy(chosen, idlest->name, sizeof idlest->name);
    }
    pthread_mutex_unlock(&replicas->mutex);
    return is_chosen;
}

/* Adds a daemon if there is room. Called with the mutex held. */
static void add(nats_replicas *replicas, const char *name) {
    if (replicas->count < NATS_REPLICAS && strlen(name) < NATS_REPLICA_SIZE) {
        nats_known_replica *added = &replicas->known[replicas->count++];
        *added = (nats_known_replica){.under_way = 0};
        snprintf(added->name, sizeof added->name, "%s", name);
    }
}

void nats_replicas_end(nats_replicas *replicas, const char *chosen, const char *answered) {
    pthread_mutex_lock(&replicas->mutex);
    replicas->under_way--;
    nats_known_replica *asked = chosen[0] ? find(replicas, chosen) : NULL;
    if (asked && asked->under_way > 0) {
        asked->under_way--;
    }
    if (asked && (!answered || strcmp(chosen, answered) != 0)) {
        *asked = replicas->known[--replicas->count];
    }
    if (answered && find(replicas, answered)) {
        replicas->familiar++;
    } else if (answered) {
        replicas->familiar = 0;
        add(replicas, answered);
    }
    pthread_mutex_unlock(&replicas->mutex);
}
