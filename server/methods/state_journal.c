/* SPDX-License-Identifier: BSD-2-Clause */
/* Journal of the simulations on the disk: records their creation, deletion and claims. */
#include "methods/state_journal.h"

#include <stdlib.h>
#include <string.h>

#include "methods/live_messages.h"
#include "methods/recorded_model.h"

void state_journal_init(state_journal *j, const live_options *options) {
    j->options = options;
    generations_open(&j->files, options->state_directory);
    pthread_mutex_init(&j->saving, NULL);
    pthread_mutex_init(&j->changes, NULL);
    j->has_directory = options->state_directory[0] != '\0';
}

void state_journal_free(state_journal *j) {
    for (size_t i = 0; i < j->left_out_count; i++) {
        dynamics__v1__simulation_snapshot__free_unpacked(j->left_out[i], NULL);
    }
    free(j->left_out);
    free(j->described);
    pthread_mutex_destroy(&j->changes);
    pthread_mutex_destroy(&j->saving);
    generations_close(&j->files);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

void state_journal_forget_models(state_journal *j) {
    j->described_count = 0;
}

static bool is_described(const state_journal *j, const char *digest) {
    for (size_t i = 0; i < j->described_count; i++) {
        if (strcmp(j->described[i], digest) == 0) {
            return true;
        }
    }
    return false;
}

bool state_journal_is_unloaded(const state_journal *j, const simulation *s) {
    model_entry *present = model_store_find(j->options->store, s->entry->digest);
    model_entry_release(present);
    return !present;
}

bool state_journal_describe(state_journal *j, const char *digest) {
    if (is_described(j, digest)) {
        return false;
    }
    if (j->described_count == j->described_capacity) {
        size_t capacity = j->described_capacity ? 2 * j->described_capacity : 16;
        char(*grown)[DIGEST_SIZE] = realloc(j->described, capacity * sizeof *grown);
        if (!grown) {
            return true; /* without memory the model is described once more */
        }
        j->described = grown;
        j->described_capacity = capacity;
    }
    strcpy(j->described[j->described_count++], digest);
    return true;
}

/* ---- left out ---------------------------------------------------------------------------------------------------- */

bool state_journal_leave_out(state_journal *j, Dynamics__V1__SimulationSnapshot *snapshot) {
    if (j->left_out_count == j->left_out_capacity) {
        size_t capacity = j->left_out_capacity ? 2 * j->left_out_capacity : 16;
        Dynamics__V1__SimulationSnapshot **grown = realloc(j->left_out, capacity * sizeof *grown);
        if (!grown) {
            dynamics__v1__simulation_snapshot__free_unpacked(snapshot, NULL);
            return false;
        }
        j->left_out = grown;
        j->left_out_capacity = capacity;
    }
    j->left_out[j->left_out_count++] = snapshot;
    return true;
}

void state_journal_drop_left_out(state_journal *j, const char *name) {
    for (size_t i = 0; i < j->left_out_count; i++) {
        if (strcmp(j->left_out[i]->options->name, name) == 0) {
            dynamics__v1__simulation_snapshot__free_unpacked(j->left_out[i], NULL);
            j->left_out[i] = j->left_out[--j->left_out_count];
            return;
        }
    }
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static uint64_t append(state_journal *j, const Dynamics__V1__StateRecord *record) {
    size_t size = dynamics__v1__state_record__get_packed_size(record);
    uint8_t *bytes = malloc(size);
    uint64_t number = 0;
    if (bytes) {
        dynamics__v1__state_record__pack(record, bytes);
        number = generations_append(&j->files, bytes, size);
        free(bytes);
    }
    return number;
}

uint64_t state_journal_created(state_journal *j, simulation *s, bool runs) {
    Dynamics__V1__StateRecord record = DYNAMICS__V1__STATE_RECORD__INIT;
    message_snapshot_parts parts;
    recorded_model model = {0};
    uint64_t number = 0;
    state_journal_drop_left_out(j, s->name);
    if (!j->is_open) {
        return 0;
    }
    bool is_new = state_journal_describe(j, s->entry->digest);
    if (is_new) {
        recorded_model_describe(&model, j->options, s->entry->model, UINT64_MAX);
    }
    simulation_lock(s);
    record.record_case = DYNAMICS__V1__STATE_RECORD__RECORD_SIMULATION;
    record.simulation = message_snapshot(s, &parts);
    if (record.simulation) {
        parts.snapshot.description = model.description;
        parts.snapshot.is_unloaded = state_journal_is_unloaded(j, s);
        if (runs) {
            parts.snapshot.condition = DYNAMICS__V1__SIMULATION_CONDITION__SIMULATION_CONDITION_RUNNING;
        }
        number = append(j, &record);
    }
    simulation_unlock(s);
    message_snapshot_free(&parts);
    if (is_new) {
        recorded_model_free(&model);
        j->described_count -= number == 0 && j->described_count > 0;
    }
    return number;
}

uint64_t state_journal_deleted(state_journal *j, const char *name) {
    Dynamics__V1__StateRecord record = DYNAMICS__V1__STATE_RECORD__INIT;
    record.record_case = DYNAMICS__V1__STATE_RECORD__RECORD_DELETED;
    record.deleted = (char *)name;
    return j->is_open ? append(j, &record) : 0;
}

uint64_t state_journal_owned(state_journal *j, const simulation *s) {
    Dynamics__V1__StateRecord record = DYNAMICS__V1__STATE_RECORD__INIT;
    Dynamics__V1__SimulationOwner owner = DYNAMICS__V1__SIMULATION_OWNER__INIT;
    record.record_case = DYNAMICS__V1__STATE_RECORD__RECORD_OWNER;
    record.owner = &owner;
    owner.simulation = (char *)s->name;
    owner.token = s->token;
    owner.owner = (char *)s->owner;
    owner.lease = s->lease;
    owner.belongs_to = (char *)s->belongs_to;
    return j->is_open ? append(j, &record) : 0;
}

uint64_t state_journal_unloaded(state_journal *j, const char *digest) {
    Dynamics__V1__StateRecord record = DYNAMICS__V1__STATE_RECORD__INIT;
    record.record_case = DYNAMICS__V1__STATE_RECORD__RECORD_UNLOADED;
    record.unloaded = (char *)(uintptr_t)digest;
    return j->is_open && is_described(j, digest) ? append(j, &record) : 0;
}

bool state_journal_sync(state_journal *j, uint64_t record) {
    return record > 0 && generations_sync(&j->files, record);
}
