/* SPDX-License-Identifier: BSD-2-Clause */
/* Entering a model into the daemon's store, and onto its disk. */
#include "methods/keep.h"

#include <stdio.h>
#include <string.h>

#include "methods/kept_models.h"

/* Ends the call where the store did not take the model. */
static void fail_insertion(call *c, model_insertion result, const model_entry *entry, const model_entry *present) {
    if (result == MODEL_NAME_TAKEN) {
        call_blame(c, "name");
        call_fail(c, REASON_NAME_TAKEN,
                  "another model is named \"%s\" already (%.19s...); choose another name, or set replace", entry->name,
                  present ? present->digest : "");
    } else {
        call_fail(c, REASON_TOO_MANY_MODELS, "the store holds %zu models, the limit (limits.models); unload one first",
                  model_store_count(c->service->store));
        call_tell_limit(c, atomic_load(&c->service->limits->models), model_store_count(c->service->store) + 1);
    }
}

/* Returns whether the name is free for the model that was built, or may be taken. */
static bool may_enter(const model_entry *entry, const model_entry *present, bool replace) {
    return !present || replace || strcmp(present->digest, entry->digest) == 0;
}

/* Writes the model where that is wanted. False: the call has ended. */
static bool write_kept(call *c, const keep_options *options, bool *is_written) {
    refusal why = {0};
    live *l = c->service->live;
    bool by_default = atomic_load(&c->service->limits->keep_models) && l->state_directory[0];
    *is_written = (options->keep || by_default) && kept_models_write(l, c->built, options->request, &why);
    if (!*is_written && options->keep) {
        call_refuse(c, &why);
        return false;
    }
    if (!*is_written && by_default) {
        log_warning(c->service->log, "model %s is not kept: %s", c->built->name, why.message);
    }
    return true;
}

/* Brings the disk to what the store is about to be: the model is written, or one that it replaces is removed. False:
 * the call has ended, and nothing has changed. */
static bool keep_on_disk(call *c, const keep_options *options, model_entry *present) {
    refusal why = {0};
    model_entry *entry = c->built;
    bool is_same = present && strcmp(present->digest, entry->digest) == 0, is_written;
    bool was_kept = present && atomic_load(&present->is_kept);
    if (is_same && was_kept) {
        return true;
    }
    if (!write_kept(c, options, &is_written)) {
        return false;
    }
    if (!is_written && was_kept && !kept_models_remove(c->service->live, entry->name, &why)) {
        call_refuse(c, &why);
        return false;
    }
    atomic_store(&entry->is_kept, is_written);
    if (is_same) {
        atomic_store(&present->is_kept, is_written);
    }
    return true;
}

/* Enters the model into the store. */
static model_entry *enter(call *c, bool replace, bool *was_present) {
    model_entry *entry = c->built, *present = NULL;
    model_insertion result = model_store_insert(c->service->store, entry, replace, &present);
    *was_present = result == MODEL_PRESENT;
    if (result == MODEL_INSERTED) {
        log_info(c->service->log, "model %s loaded by %s: nq %d, nv %d", entry->name, c->transport->peer,
                 dyn_model_nq(entry->model), dyn_model_nv(entry->model));
    }
    if (result == MODEL_INSERTED || result == MODEL_PRESENT) {
        /* Another thread may have taken the model out of the store again. */
        return present ? present : model_entry_retain(entry);
    }
    fail_insertion(c, result, entry, present);
    model_entry_release(present);
    return NULL;
}

model_entry *keep_model(call *c, const keep_options *options, bool *was_present) {
    model_entry *entry = c->built, *present = model_store_find(c->service->store, entry->name);
    refusal why = {0};
    snprintf(entry->loaded_by, sizeof entry->loaded_by, "%s", c->transport->peer);
    bool is_good = !may_enter(entry, present, options->replace) || keep_on_disk(c, options, present);
    model_entry_release(present);
    model_entry *entered = is_good ? enter(c, options->replace, was_present) : NULL;
    if (is_good && !entered && atomic_load(&entry->is_kept)) {
        kept_models_remove(c->service->live, entry->name, &why); /* the store was full */
    }
    return entered;
}

bool keep_remove(call *c, const model_entry *entry) {
    refusal why = {0};
    if (atomic_load(&entry->is_kept) && !kept_models_remove(c->service->live, entry->name, &why)) {
        call_refuse(c, &why);
        return false;
    }
    model_entry *removed = model_store_remove(c->service->store, entry->name);
    if (removed) {
        log_info(c->service->log, "model %s unloaded by %s", removed->name, c->transport->peer);
    }
    model_entry_release(removed);
    return true;
}
