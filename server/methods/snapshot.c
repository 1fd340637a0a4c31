/* All simulations in one file, and recorded runs computed once more. */
#include "methods/snapshot.h"

#include <dynamics/text.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/regular_file.h"
#include "methods/live_messages.h"
#include "methods/methods.h"
#include "methods/recorded_model.h"
#include "methods/simulation_plan.h"

static const char FILE_NAME[] = "simulations", SUFFIX[] = ".snapshot";

/* Most bytes of a snapshot. */
#define MOST_BYTES (UINT64_C(1) << 32)

/* ---- saving ------------------------------------------------------------------------------------------------------ */

static bool save_one(simulation *s, Dynamics__V1__ModelDescription *description, recording *file) {
    message_snapshot_parts parts;
    simulation_lock(s);
    Dynamics__V1__SimulationSnapshot *snapshot = message_snapshot(s, &parts);
    parts.snapshot.description = description;
    bool is_good = snapshot && recording_append(file, &snapshot->base) && recording_flush(file);
    simulation_unlock(s);
    message_snapshot_free(&parts);
    return is_good;
}

/* Whether the model of simulation i is that of one before it, which describes it. */
static bool is_described(void *const *all, size_t i) {
    const model_entry *entry = ((const simulation *)all[i])->entry;
    for (size_t k = 0; k < i; k++) {
        const model_entry *other = ((const simulation *)all[k])->entry;
        if (other == entry || strcmp(other->digest, entry->digest) == 0) {
            return true;
        }
    }
    return false;
}

static bool save_described(live *l, simulation *s, recording *file) {
    recorded_model model;
    recorded_model_describe(&model, l, s->entry->model, UINT64_MAX);
    bool is_good = save_one(s, model.description, file);
    recorded_model_free(&model);
    return is_good;
}

static bool save_all(live *l, recording *file, size_t *count) {
    void **all;
    bool is_good = name_table_list(&l->simulations, &all, count);
    for (size_t i = 0; is_good && i < *count; i++) {
        is_good = is_described(all, i) ? save_one(all[i], NULL, file) : save_described(l, all[i], file);
    }
    if (all) {
        name_table_release_list(&l->simulations, all, *count);
    }
    return is_good;
}

bool snapshot_save(live *l, char path[PATH_MAX], size_t *count, refusal *why) {
    char fresh[PATH_MAX];
    if (!live_path(l, "", FILE_NAME, SUFFIX, path, why) || !live_path(l, "", FILE_NAME, ".new", fresh, why)) {
        return false;
    }
    unlink(fresh);
    recording *file = recording_create(fresh, FILE_NAME, MOST_BYTES);
    bool is_good = file && save_all(l, file, count);
    is_good = file && recording_close(file) && is_good && rename(fresh, path) == 0;
    return is_good || refuse(why, DYNAMICS__V1__CODE__CODE_FAILED_PRECONDITION, "", "cannot write %.256s: %s", fresh,
                             strerror(errno));
}

void method_save_simulations(call *c) {
    Dynamics__V1__SaveSimulationsReply *reply = call_allocate(c, 1, sizeof *reply);
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
    dynamics__v1__save_simulations_reply__init(reply);
    reply->simulations = (uint32_t)count;
    reply->file = call_string(c, path);
    c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_SAVE_SIMULATIONS;
    c->reply.save_simulations = reply;
}

/* ---- restoring --------------------------------------------------------------------------------------------------- */

/* Enters a model that the file described, under another name where its own is taken. */
static bool enter_model(live *l, model_entry *entry, refusal *why) {
    char own[MODEL_NAME_SIZE];
    snprintf(own, sizeof own, "%s", entry->name);
    model_entry *present = model_store_find(l->options.store, entry->digest);
    model_entry_release(present);
    if (present) {
        return true;
    }
    model_insertion result = model_store_insert(l->options.store, entry, false, NULL);
    if (result == MODEL_NAME_TAKEN) {
        char cut[113];
        dyn_text_print(own, cut, sizeof cut);
        snprintf(entry->name, sizeof entry->name, "%s-%.8s", cut, entry->digest + strlen("sha256:"));
        result = model_store_insert(l->options.store, entry, false, NULL);
    }
    if (result == MODEL_NAME_TAKEN) {
        return refuse(why, DYNAMICS__V1__CODE__CODE_ALREADY_EXISTS, "",
                      "other models have both names of its model, \"%s\" and \"%s\": unload one of them", own,
                      entry->name);
    }
    return result == MODEL_INSERTED || result == MODEL_PRESENT ||
           refuse(why, DYNAMICS__V1__CODE__CODE_RESOURCE_EXHAUSTED, "",
                  "its model \"%s\" has no place in the store: too many models (limits.models)", entry->name);
}

/* Tells of a simulation that other code computes than before; generic code of an older release is as it was. */
static void tell_change(const simulation *s, const Dynamics__V1__SimulationSnapshot *snapshot,
                        const snapshot_report *report) {
    char text[2 * COMPUTED_WITH_SIZE + 64], before[COMPUTED_WITH_SIZE];
    if (snapshot->computed_with[0] != '\0' && strcmp(snapshot->computed_with, s->computed_with) != 0) {
        dyn_text_print(snapshot->computed_with, before, sizeof before); /* a damaged file may hold anything */
        snprintf(text, sizeof text, "it was computed with %s, and goes on with %s", before, s->computed_with);
        report->changed(report->context, s->name, text);
    }
}

/* The model is entered even where its simulation is bad: later ones may be of it, and only the first describes it. */
static bool restore_one(live *l, const Dynamics__V1__SimulationSnapshot *snapshot, const snapshot_report *report,
                        refusal *why) {
    model_entry *entry = plan_restored_model(l, snapshot, snapshot->description, why);
    bool has_model = entry && enter_model(l, entry, why);
    simulation *s = has_model ? plan_restored(l, snapshot, entry, why) : NULL;
    model_entry_release(entry);
    if (!s) {
        return false;
    }
    s->token = snapshot->token;
    dyn_text_print(snapshot->owner, s->owner, sizeof s->owner); /* a damaged file may hold anything */
    simulation_renew(s);
    bool is_good = live_add_simulation(l, s, why);
    if (is_good) {
        tell_change(s, snapshot, report);
    }
    if (is_good && snapshot->condition == DYNAMICS__V1__SIMULATION_CONDITION__SIMULATION_CONDITION_RUNNING) {
        simulation_resume(s);
    }
    simulation_release(s);
    return is_good;
}

bool snapshot_restore(live *l, const snapshot_report *report, size_t *count, refusal *why) {
    char path[PATH_MAX];
    recording_reader reader;
    *count = 0;
    if (!live_path(l, "", FILE_NAME, SUFFIX, path, why)) {
        return false;
    }
    if (!recording_reader_open(&reader, path)) {
        return errno == ENOENT || refuse(why, DYNAMICS__V1__CODE__CODE_FAILED_PRECONDITION, "",
                                         "cannot read %.256s: %s", path, regular_file_error(errno));
    }
    for (;;) {
        Dynamics__V1__SimulationSnapshot *snapshot = (Dynamics__V1__SimulationSnapshot *)recording_reader_next(
            &reader, &dynamics__v1__simulation_snapshot__descriptor, NULL);
        if (!snapshot) {
            break;
        }
        refusal reason = {0};
        if (restore_one(l, snapshot, report, &reason)) {
            ++*count;
        } else {
            report->left_out(report->context, snapshot->options ? snapshot->options->name : "", reason.message);
        }
        dynamics__v1__simulation_snapshot__free_unpacked(snapshot, NULL);
    }
    if (reader.at < reader.size) {
        report->left_out(report->context, "the rest of the file", "it is damaged");
    }
    recording_reader_close(&reader);
    return true;
}

/* The lists of a reply as they grow. */
typedef struct restore_lists {
    call *call;
    Dynamics__V1__RestoreSimulationsReply *reply;
    size_t left_out_capacity, changed_capacity;
} restore_lists;

/* Adds "name: words" to a list. */
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
    Dynamics__V1__RestoreSimulationsReply *reply = call_allocate(c, 1, sizeof *reply);
    restore_lists lists = {.call = c, .reply = reply};
    const snapshot_report report = {list_left_out, list_changed, &lists};
    size_t count;
    refusal why = {0};
    if (!reply) {
        return;
    }
    dynamics__v1__restore_simulations_reply__init(reply);
    if (!snapshot_restore(c->service->live, &report, &count, &why)) {
        call_refuse(c, &why);
    } else if (!call_has_ended(c)) {
        reply->simulations = (uint32_t)count;
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_RESTORE_SIMULATIONS;
        c->reply.restore_simulations = reply;
    }
}
