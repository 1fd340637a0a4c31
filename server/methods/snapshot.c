/* SPDX-License-Identifier: BSD-2-Clause */
/* Persistence of simulations over restarts of the daemon: saves and restores snapshots. Methods SaveSimulations and
 * RestoreSimulations. */
#include "methods/snapshot.h"

#include <dynamics/text.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/regular_file.h"
#include "methods/field_check.h"
#include "methods/live_messages.h"
#include "methods/methods.h"
#include "methods/recorded_model.h"
#include "methods/simulation_plan.h"
#include "methods/state_version.h"
#include "observe/clock.h"

/* ---- saving ------------------------------------------------------------------------------------------------------ */

/* Time between two attempts to write a snapshot after one has failed, ns. */
#define RETRY_INTERVAL (2 * NANOSECONDS)

/* Length of a journal, in bytes, beyond which a snapshot replaces it. */
#define LONG_JOURNAL (UINT64_C(8) << 20)

/* Snapshot that is being written, and the models that it describes. */
typedef struct saving {
    live *live;
    generations_writer writer;
    char (*digests)[DIGEST_SIZE]; /* digests of the models that the snapshot describes */
    size_t digest_count;
} saving;

/* Packs a record, in memory that the caller frees. Returns NULL when out of memory. */
static uint8_t *pack_record(const Dynamics__V1__StateRecord *record, size_t *size) {
    *size = dynamics__v1__state_record__get_packed_size(record);
    uint8_t *bytes = malloc(*size);
    if (bytes) {
        dynamics__v1__state_record__pack(record, bytes);
    }
    return bytes;
}

/* Packs the record of a simulation like pack_record. */
static uint8_t *pack(Dynamics__V1__SimulationSnapshot *snapshot, size_t *size) {
    Dynamics__V1__StateRecord record = DYNAMICS__V1__STATE_RECORD__INIT;
    record.record_case = DYNAMICS__V1__STATE_RECORD__RECORD_SIMULATION;
    record.simulation = snapshot;
    return pack_record(&record, size);
}

/* Writes a packed record and frees it. NULL, a record without memory, fails the snapshot. */
static void write_record(saving *w, uint8_t *bytes, size_t size) {
    if (bytes) {
        generations_add(&w->writer, bytes, size);
    } else {
        w->writer.is_good = false;
        w->writer.reason = ENOMEM;
    }
    free(bytes);
}

/* Writes the version of this daemon, the first record of a snapshot. */
static void save_version(saving *w) {
    Dynamics__V1__StateRecord record = DYNAMICS__V1__STATE_RECORD__INIT;
    Dynamics__V1__StateVersion version;
    size_t size;
    state_version_fill(&version);
    record.record_case = DYNAMICS__V1__STATE_RECORD__RECORD_VERSION;
    record.version = &version;
    uint8_t *bytes = pack_record(&record, &size);
    write_record(w, bytes, size);
}

/* Adds the digest of a model to those that the snapshot describes. Returns true if it was not among them. */
static bool is_new_model(saving *w, const char *digest) {
    for (size_t i = 0; i < w->digest_count; i++) {
        if (strcmp(w->digests[i], digest) == 0) {
            return false;
        }
    }
    strcpy(w->digests[w->digest_count++], digest);
    return true;
}

/* Saves one simulation. The simulation is locked while its record is packed, and runs while the record is written. */
static void save_one(saving *w, simulation *s) {
    message_snapshot_parts parts;
    recorded_model model = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool is_new = is_new_model(w, s->entry->digest);
    if (is_new) {
        recorded_model_describe(&model, &w->live->options, s->entry->model, UINT64_MAX);
    }
    simulation_lock(s);
    Dynamics__V1__SimulationSnapshot *snapshot = message_snapshot(s, &parts);
    if (snapshot) {
        snapshot->description = model.description;
        snapshot->is_unloaded = state_journal_is_unloaded(&w->live->journal, s);
        bytes = pack(snapshot, &size);
    }
    simulation_unlock(s);
    message_snapshot_free(&parts);
    if (is_new) {
        recorded_model_free(&model);
    }
    write_record(w, bytes, size);
}

/* Writes the simulations that the start could not restore, unchanged, each with its model. */
static void save_left_out(saving *w) {
    state_journal *j = &w->live->journal;
    pthread_mutex_lock(&j->changes);
    for (size_t i = 0; i < j->left_out_count; i++) {
        size_t size;
        uint8_t *bytes = pack(j->left_out[i], &size);
        write_record(w, bytes, size);
    }
    pthread_mutex_unlock(&j->changes);
}

/* Begins a generation of files and lists its simulations, which the caller releases. The journal of a generation
 * describes every model that the snapshot does not describe, because the records of the previous generation are
 * deleted. Returns false on failure. */
static bool begin_generation(live *l, void ***all, size_t *count) {
    state_journal *j = &l->journal;
    pthread_mutex_lock(&j->changes);
    bool is_good = generations_rotate(&j->files);
    bool is_listed = name_table_list(&l->simulations, all, count);
    if (is_good && is_listed) {
        state_journal_forget_models(j);
        for (size_t i = 0; i < *count; i++) {
            state_journal_describe(j, ((simulation *)(*all)[i])->entry->digest);
        }
    }
    pthread_mutex_unlock(&j->changes);
    if (!is_good && is_listed) {
        name_table_release_list(&l->simulations, *all, *count);
    }
    return is_good && is_listed;
}

/* Begins a generation and writes its snapshot. Returns false on failure. Called with the mutex `saving` held. */
static bool save_all(live *l, char path[PATH_MAX], size_t *count) {
    void **all;
    saving w = {.live = l};
    state_journal *j = &l->journal;
    if (!begin_generation(l, &all, count)) {
        return false;
    }
    w.digests = malloc((*count + 1) * sizeof *w.digests);
    generations_begin(&j->files, &w.writer);
    save_version(&w);
    for (size_t i = 0; w.digests && i < *count; i++) {
        save_one(&w, all[i]);
    }
    name_table_release_list(&l->simulations, all, *count);
    save_left_out(&w);
    if (!w.digests) {
        w.writer.is_good = false;
        w.writer.reason = ENOMEM;
    }
    bool is_good = generations_commit(&j->files, &w.writer, path);
    free(w.digests);
    generations_reserve(&j->files);
    return is_good;
}

bool snapshot_save(live *l, char path[PATH_MAX], size_t *count, refusal *why) {
    char problem[GENERATIONS_PROBLEM_SIZE];
    state_journal *j = &l->journal;
    *count = 0;
    if (!live_path(l, "", "", "", path, why)) {
        return false;
    }
    pthread_mutex_lock(&j->saving);
    bool is_good = !j->is_unreadable && save_all(l, path, count);
    if (!is_good) {
        generations_problem(&j->files, problem);
        refuse(why, REASON_FILE_FAILED, "", "%s", problem[0] ? problem : "out of memory");
    }
    atomic_store(&j->last_save, clock_now());
    pthread_mutex_unlock(&j->saving);
    pthread_mutex_lock(&j->changes);
    j->is_open = j->has_directory && !j->is_unreadable;
    pthread_mutex_unlock(&j->changes);
    return is_good;
}

static bool is_due(live *l, double interval) {
    state_journal *j = &l->journal;
    uint64_t age = clock_now() - atomic_load(&j->last_save), bytes = generations_journal_bytes(&j->files);
    if (generations_must_save(&j->files)) {
        return age > RETRY_INTERVAL;
    }
    bool has_news = bytes > 0 || name_table_count(&l->simulations) > 0;
    return bytes > LONG_JOURNAL || (interval > 0 && has_news && age > clock_duration(interval));
}

bool snapshot_needs_tending(live *l, double interval) {
    state_journal *j = &l->journal;
    return j->has_directory && !j->is_unreadable && (is_due(l, interval) || generations_reserve_is_short(&j->files));
}

void snapshot_tend(live *l, double interval) {
    state_journal *j = &l->journal;
    char path[PATH_MAX];
    refusal why = {0};
    size_t count;
    if (is_due(l, interval)) {
        snapshot_save(l, path, &count, &why);
    }
    pthread_mutex_lock(&j->saving);
    generations_reserve(&j->files);
    pthread_mutex_unlock(&j->saving);
}

bool snapshot_problem(live *l, char text[GENERATIONS_PROBLEM_SIZE]) {
    return generations_problem(&l->journal.files, text);
}

void method_save_simulations(call *c) {
    Dynamics__V1__SaveSimulationsReply *reply = create_save_simulations_reply(c);
    char path[PATH_MAX];
    size_t count;
    refusal why = {0};
    if (!reply) {
        return;
    }
    if (!snapshot_save(c->service->live, path, &count, &why)) {
        call_refuse(c, &why);
        return;
    }
    reply->simulations = (uint32_t)count;
    reply->file = call_string(c, path);
}

/* ---- restoring --------------------------------------------------------------------------------------------------- */

/* Inserts a model that the file describes into the store, under another name if another model has its own. Does nothing
 * if the store has the model. */
static bool enter_model(live *l, model_entry *entry, refusal *why) {
    char own[MODEL_NAME_SIZE];
    snprintf(own, sizeof own, "%s", entry->name);
    model_entry *present = model_store_find(l->options.store, entry->digest);
    model_entry_release(present);
    if (present) {
        return true;
    }
    model_insertion result = model_store_insert(l->options.store, entry, NULL, NULL);
    if (result == MODEL_NAME_TAKEN) {
        char cut[113];
        dyn_text_print(own, cut, sizeof cut);
        snprintf(entry->name, sizeof entry->name, "%s-%.8s", cut, entry->digest + strlen("sha256:"));
        result = model_store_insert(l->options.store, entry, NULL, NULL);
    }
    if (result == MODEL_NAME_TAKEN) {
        return refuse(why, REASON_NAME_TAKEN, "",
                      "other models have both names of its model, \"%s\" and \"%s\": unload one of them", own,
                      entry->name);
    }
    if (result == MODEL_NO_MEMORY) {
        return refuse_memory(why);
    }
    return result == MODEL_INSERTED || result == MODEL_PRESENT ||
           refuse_limit(why, REASON_TOO_MANY_MODELS, (excess){BOUND_MODELS, atomic_load(&l->options.limits->models), 0},
                        "", "its model \"%s\" has no place in the store: too many models (limits.models)", entry->name);
}

/* Reports a simulation whose code of computation has changed. Generic code of an older release counts as unchanged. */
static void report_change(const simulation *s, const Dynamics__V1__SimulationSnapshot *snapshot,
                          const snapshot_report *report) {
    char text[2 * COMPUTED_WITH_SIZE + 64], before[COMPUTED_WITH_SIZE];
    if (snapshot->computed_with[0] != '\0' && strcmp(snapshot->computed_with, s->computed_with) != 0) {
        /* Makes the text printable, since a damaged file may have any characters. */
        dyn_text_print(snapshot->computed_with, before, sizeof before);
        snprintf(text, sizeof text, "it was computed with %s, and goes on with %s", before, s->computed_with);
        report->changed(report->context, s->name, text);
    }
}

static bool restore_one(live *l, const Dynamics__V1__SimulationSnapshot *snapshot,
                        const Dynamics__V1__ModelDescription *description, const snapshot_report *report,
                        refusal *why) {
    model_entry *entry = plan_restored_model(l, snapshot, description, why);
    /* A model with constraints of the simulation's request, or without its rotors, is that of the simulation alone, as
     * an unloaded one is. */
    const Dynamics__V1__Query *query = entry ? snapshot->options->query : NULL;
    bool is_own = query && (snapshot->is_unloaded || query->n_constraints > 0 || query->without_rotors);
    bool has_model = entry && (is_own || enter_model(l, entry, why));
    simulation *s = has_model ? plan_restored(l, snapshot, entry, why) : NULL;
    model_entry_release(entry);
    if (!s) {
        return false;
    }
    s->token = snapshot->token;
    /* Makes the owner's name printable, since a damaged file may have any characters. */
    dyn_text_print(snapshot->owner, s->owner, sizeof s->owner);
    dyn_text_print(snapshot->belongs_to, s->belongs_to, sizeof s->belongs_to);
    simulation_renew(s);
    bool runs = snapshot->condition == DYNAMICS__V1__SIMULATION_CONDITION__SIMULATION_CONDITION_RUNNING;
    uint64_t record;
    bool is_good = live_add_simulation(l, s, UINT64_MAX, runs, &record, why);
    if (is_good) {
        report_change(s, snapshot, report);
    }
    if (is_good && runs) {
        simulation_resume(s);
    }
    simulation_release(s);
    return is_good;
}

/* Contents of the files that are being read: the simulations in the order of their records, and their models. */
typedef struct collection {
    const snapshot_report *report;
    Dynamics__V1__SimulationSnapshot **simulations;
    size_t count, capacity;
    Dynamics__V1__SimulationSnapshot **models; /* replaced or deleted simulations whose records describe a model */
    size_t model_count, model_capacity;
    bool is_short;                    /* out of memory */
    char unknown[UNKNOWN_FIELD_SIZE]; /* first field of a later daemon; empty: none */
} collection;

static bool add_snapshot(collection *c, Dynamics__V1__SimulationSnapshot *snapshot,
                         Dynamics__V1__SimulationSnapshot ***list, size_t *count, size_t *capacity) {
    if (*count == *capacity) {
        size_t larger = *capacity ? 2 * *capacity : 64;
        Dynamics__V1__SimulationSnapshot **grown = realloc(*list, larger * sizeof(Dynamics__V1__SimulationSnapshot *));
        if (!grown) {
            c->is_short = true;
            dynamics__v1__simulation_snapshot__free_unpacked(snapshot, NULL);
            return false;
        }
        *list = grown;
        *capacity = larger;
    }
    (*list)[(*count)++] = snapshot;
    return true;
}

/* Returns the index of the simulation of that name, or c->count if there is none. */
static size_t index_of(const collection *c, const char *name) {
    size_t i = c->count;
    while (i > 0 && strcmp(c->simulations[i - 1]->options->name, name) != 0) {
        i--;
    }
    return i > 0 ? i - 1 : c->count;
}

/* Removes a simulation. Retains its record if that describes a model, since other simulations may need the
 * description. */
static void remove_simulation(collection *c, const char *name) {
    size_t i = index_of(c, name);
    if (i == c->count) {
        return;
    }
    Dynamics__V1__SimulationSnapshot *removed = c->simulations[i];
    memmove(c->simulations + i, c->simulations + i + 1, (--c->count - i) * sizeof(Dynamics__V1__SimulationSnapshot *));
    if (removed->description) {
        add_snapshot(c, removed, &c->models, &c->model_count, &c->model_capacity);
    } else {
        dynamics__v1__simulation_snapshot__free_unpacked(removed, NULL);
    }
}

/* Replaces a text of a message by a copy of another one. Returns false when out of memory. */
static bool replace_text(char **text, const char *by) {
    char *copy = strdup(by);
    if (copy && *text != protobuf_c_empty_string) {
        free(*text);
    }
    *text = copy ? copy : *text;
    return copy != NULL;
}

/* Applies a change of the owner to a simulation. A simulation without an owner is paused. */
static void change_owner(collection *c, const Dynamics__V1__SimulationOwner *change) {
    size_t i = index_of(c, change->simulation);
    if (i == c->count) {
        return;
    }
    Dynamics__V1__SimulationSnapshot *s = c->simulations[i];
    if (!replace_text(&s->owner, change->owner) || !replace_text(&s->belongs_to, change->belongs_to)) {
        c->is_short = true;
        return;
    }
    s->token = change->token;
    s->options->lease = change->lease;
    if (s->token == 0) {
        s->condition = DYNAMICS__V1__SIMULATION_CONDITION__SIMULATION_CONDITION_PAUSED;
    }
}

/* Notes that a model was unloaded, in the simulations that have it. */
static void note_unloaded(collection *c, const char *digest) {
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->simulations[i]->digest, digest) == 0) {
            c->simulations[i]->is_unloaded = true;
        }
    }
}

static void collect_record(void *context, const uint8_t *bytes, size_t size) {
    collection *c = context;
    if (c->unknown[0] != '\0' || field_check_later(&dynamics__v1__state_record__descriptor, bytes, size, c->unknown)) {
        return;
    }
    Dynamics__V1__StateRecord *record = dynamics__v1__state_record__unpack(NULL, size, bytes);
    if (!record) {
        c->report->damaged(c->report->context, "a record", "it is no dynamics.v1.StateRecord; it is left out");
        return;
    }
    if (record->record_case == DYNAMICS__V1__STATE_RECORD__RECORD_SIMULATION && record->simulation->options) {
        Dynamics__V1__SimulationSnapshot *snapshot = record->simulation;
        record->record_case = DYNAMICS__V1__STATE_RECORD__RECORD__NOT_SET;
        remove_simulation(c, snapshot->options->name);
        add_snapshot(c, snapshot, &c->simulations, &c->count, &c->capacity);
    } else if (record->record_case == DYNAMICS__V1__STATE_RECORD__RECORD_DELETED) {
        remove_simulation(c, record->deleted);
    } else if (record->record_case == DYNAMICS__V1__STATE_RECORD__RECORD_OWNER) {
        change_owner(c, record->owner);
    } else if (record->record_case == DYNAMICS__V1__STATE_RECORD__RECORD_UNLOADED) {
        note_unloaded(c, record->unloaded);
    } else if (record->record_case == DYNAMICS__V1__STATE_RECORD__RECORD_VERSION) {
        state_version_is_later(record->version, c->unknown);
    }
    dynamics__v1__state_record__free_unpacked(record, NULL);
}

static void report_damage(void *context, const char *path, size_t at, size_t size) {
    const collection *c = context;
    char text[REFUSAL_MESSAGE_SIZE];
    snprintf(text, sizeof text,
             "the file is cut off or damaged from byte %zu of %zu on; what stands before is in force, what follows is "
             "lost (a change under way when the power failed leaves such an end)",
             at, size);
    c->report->damaged(c->report->context, path, text);
}

/* Returns the description of a simulation's model, which may be part of another record; NULL if there is none. */
static const Dynamics__V1__ModelDescription *find_description(const collection *c,
                                                              const Dynamics__V1__SimulationSnapshot *s) {
    for (size_t i = 0; i < c->count; i++) {
        if (c->simulations[i]->description && strcmp(c->simulations[i]->digest, s->digest) == 0) {
            return c->simulations[i]->description;
        }
    }
    for (size_t i = 0; i < c->model_count; i++) {
        if (strcmp(c->models[i]->digest, s->digest) == 0) {
            return c->models[i]->description;
        }
    }
    return NULL;
}

/* Copies a snapshot with the description of its model. Returns NULL when out of memory. */
static Dynamics__V1__SimulationSnapshot *copy_described(const Dynamics__V1__SimulationSnapshot *from,
                                                        const Dynamics__V1__ModelDescription *description) {
    Dynamics__V1__SimulationSnapshot whole = *from, *copy = NULL;
    whole.description = (Dynamics__V1__ModelDescription *)(uintptr_t)description;
    size_t size = dynamics__v1__simulation_snapshot__get_packed_size(&whole);
    uint8_t *bytes = malloc(size);
    if (bytes) {
        dynamics__v1__simulation_snapshot__pack(&whole, bytes);
        copy = dynamics__v1__simulation_snapshot__unpack(NULL, size, bytes);
    }
    free(bytes);
    return copy;
}

/* Copies a simulation that cannot be restored into later snapshots. Returns false when out of memory. */
static bool leave_out(live *l, const collection *c, const Dynamics__V1__SimulationSnapshot *snapshot) {
    Dynamics__V1__SimulationSnapshot *copy = copy_described(snapshot, find_description(c, snapshot));
    if (!copy) {
        return false;
    }
    pthread_mutex_lock(&l->journal.changes);
    state_journal_drop_left_out(&l->journal, copy->options->name);
    bool is_left_out = state_journal_leave_out(&l->journal, copy);
    pthread_mutex_unlock(&l->journal.changes);
    return is_left_out;
}

/* Restores the collected simulations, and returns their number. Those that cannot be restored at the start of the
 * daemon are copied into later snapshots; c->is_short reports that there is no memory for one of them. */
static size_t restore_all(live *l, collection *c, bool is_start) {
    size_t restored = 0;
    for (size_t i = 0; i < c->count; i++) {
        const Dynamics__V1__SimulationSnapshot *snapshot = c->simulations[i];
        refusal reason = {0};
        if (restore_one(l, snapshot, find_description(c, snapshot), c->report, &reason)) {
            restored++;
            continue;
        }
        c->report->left_out(c->report->context, snapshot->options->name, reason.message);
        if (is_start && !leave_out(l, c, snapshot)) {
            c->is_short = true;
        }
    }
    return restored;
}

static void free_collection(collection *c) {
    for (size_t i = 0; i < c->count; i++) {
        dynamics__v1__simulation_snapshot__free_unpacked(c->simulations[i], NULL);
    }
    for (size_t i = 0; i < c->model_count; i++) {
        dynamics__v1__simulation_snapshot__free_unpacked(c->models[i], NULL);
    }
    free(c->simulations);
    free(c->models);
}

bool snapshot_restore(live *l, bool is_start, const snapshot_report *report, size_t *count, refusal *why) {
    char path[PATH_MAX];
    collection c = {.report = report};
    const generations_visitor visitor = {collect_record, report_damage, &c};
    state_journal *j = &l->journal;
    *count = 0;
    if (!live_path(l, "", "", "", path, why)) {
        return false;
    }
    pthread_mutex_lock(&j->saving);
    bool is_read = generations_read(&j->files, is_start, &visitor);
    int reason = errno;
    pthread_mutex_unlock(&j->saving);
    if (is_read && c.unknown[0] == '\0' && !c.is_short) {
        *count = restore_all(l, &c, is_start);
    }
    if (!is_read) {
        refuse(why, REASON_FILE_FAILED, "", "cannot read the simulations in %.256s: %s", l->state_directory,
               regular_file_error(reason));
    } else if (c.unknown[0] != '\0') {
        is_read = refuse(why, REASON_UNKNOWN_FIELD, "",
                         "the simulations in %.128s: %s; start that one, or move the files away to begin without them",
                         l->state_directory, c.unknown);
    } else if (c.is_short) {
        is_read = refuse(why, REASON_MEMORY_SHORT, "",
                         "the daemon is too short of memory to read the simulations in %.256s", l->state_directory);
    }
    free_collection(&c);
    if (!is_read && is_start) {
        /* Prevents snapshots, since one would replace the state that could not be read. */
        j->is_unreadable = true;
        generations_set_problem(&j->files, "%s", why->message);
    }
    return is_read;
}

/* Lists of a reply of RestoreSimulations under construction. */
typedef struct restore_lists {
    call *call;
    Dynamics__V1__RestoreSimulationsReply *reply;
    size_t left_out_capacity, changed_capacity;
} restore_lists;

/* Adds the line "name: words" to a list of the reply. */
static void add_line(call *c, const char *name, const char *words, char ***lines, size_t *count, size_t *capacity) {
    char text[REFUSAL_MESSAGE_SIZE + 80];
    if (*count == *capacity) {
        size_t larger = *capacity ? 2 * *capacity : 16;
        char **grown = call_allocate(c, larger, sizeof *grown);
        if (!grown) {
            return;
        }
        for (size_t i = 0; i < *count; i++) {
            grown[i] = (*lines)[i];
        }
        *lines = grown;
        *capacity = larger;
    }
    snprintf(text, sizeof text, "%s: %s", name, words);
    char *copy = call_string(c, text);
    if (copy) {
        (*lines)[(*count)++] = copy;
    }
}

static void list_left_out(void *context, const char *name, const char *reason) {
    restore_lists *l = context;
    add_line(l->call, name, reason, &l->reply->left_out, &l->reply->n_left_out, &l->left_out_capacity);
}

static void list_changed(void *context, const char *name, const char *change) {
    restore_lists *l = context;
    add_line(l->call, name, change, &l->reply->changed, &l->reply->n_changed, &l->changed_capacity);
}

void method_restore_simulations(call *c) {
    Dynamics__V1__RestoreSimulationsReply *reply = create_restore_simulations_reply(c);
    restore_lists lists = {.call = c, .reply = reply};
    const snapshot_report report = {list_left_out, list_left_out, list_changed, &lists};
    size_t count;
    refusal why = {0};
    if (!reply) {
        return;
    }
    if (!snapshot_restore(c->service->live, false, &report, &count, &why)) {
        call_refuse(c, &why);
    } else if (!call_has_ended(c)) {
        reply->simulations = (uint32_t)count;
    }
}
