/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stores the states of one request.
 */
#include "state_batch.h"

#include <stdlib.h>
#include <string.h>

const char *const STATE_ARRAY_NAMES[STATE_ARRAYS] = {"q", "v", "a", "tau", "dq", "dv", "da", "dtau"};

bool state_batch_create(const layout *robot, size_t capacity, state_batch *created) {
    *created = (state_batch){.robot = robot, .capacity = capacity};
    created->line = calloc(capacity, sizeof *created->line);
    bool complete = created->line != NULL;
    for (int i = 0; i < STATE_ARRAYS; i++) {
        created->width[i] = i == STATE_Q ? robot->nq : robot->nv;
        created->values[i] = calloc(capacity * created->width[i] + 1, sizeof(double));
        complete &= created->values[i] != NULL;
    }
    return complete;
}

void state_batch_free(state_batch *freed) {
    for (int i = 0; i < STATE_ARRAYS; i++) {
        free(freed->values[i]);
    }
    for (size_t i = 0; i < freed->force_count; i++) {
        free(freed->forces[i].link);
        free(freed->forces[i].force);
        free(freed->forces[i].torque);
    }
    free(freed->forces);
    free(freed->line);
    *freed = (state_batch){0};
}

void state_batch_clear(state_batch *cleared) {
    for (int i = 0; i < STATE_ARRAYS; i++) {
        memset(cleared->values[i], 0, cleared->count * cleared->width[i] * sizeof(double));
    }
    for (size_t i = 0; i < cleared->force_count; i++) {
        memset(cleared->forces[i].force, 0, 3 * cleared->count * sizeof(double));
        memset(cleared->forces[i].torque, 0, 3 * cleared->count * sizeof(double));
    }
    cleared->count = 0;
}

double *state_batch_row(const state_batch *batch, state_array array) {
    return batch->values[array] + batch->count * batch->width[array];
}

/* Returns the entry of a link and reference frame, and creates it if there is none. Returns NULL when out of memory. */
static batch_force *find_force(state_batch *batch, const char *link, dyn_client_reference_frame frame) {
    for (size_t i = 0; i < batch->force_count; i++) {
        if (batch->forces[i].frame == frame && strcmp(batch->forces[i].link, link) == 0) {
            return &batch->forces[i];
        }
    }
    batch_force *grown = realloc(batch->forces, (batch->force_count + 1) * sizeof *grown);
    if (!grown) {
        return NULL;
    }
    batch->forces = grown;
    batch_force *added = &grown[batch->force_count];
    *added = (batch_force){.link = strdup(link),
                           .frame = frame,
                           .force = calloc(3 * batch->capacity, sizeof(double)),
                           .torque = calloc(3 * batch->capacity, sizeof(double))};
    batch->force_count++;
    return added->link && added->force && added->torque ? added : NULL;
}

bool state_batch_add_force(state_batch *batch, const char *link, dyn_client_reference_frame frame,
                           const double force[3], const double torque[3]) {
    batch_force *entry = find_force(batch, link, frame);
    if (!entry) {
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        entry->force[3 * batch->count + i] += force[i];
        entry->torque[3 * batch->count + i] += torque[i];
    }
    return true;
}
