/* SPDX-License-Identifier: BSD-2-Clause */
/* Inserts built models into the daemon's store and removes models, in memory and on the disk. */
#include "methods/model_insertion.h"

#include <stdio.h>
#include <string.h>

#include "methods/persistent_models.h"
#include "methods/shared_models.h"
#include "methods/text.h"

const char *insertion_replaced(bool replace, const char *expected_digest) {
    return !replace ? NULL : expected_digest[0] ? expected_digest : MODEL_ANY;
}

bool insertion_check(call *c, bool replace, const char *expected_digest) {
    char quoted[TEXT_QUOTE_SIZE];
    if (expected_digest[0] == '\0' || (replace && digest_is_one(expected_digest))) {
        return true;
    }
    call_blame(c, "expected_digest");
    if (replace) {
        call_fail(c, REASON_INVALID_VALUE, "%s is no digest; pass \"sha256:\" and 64 digits, as DescribeModel does",
                  text_quote(expected_digest, quoted));
    } else {
        call_fail(c, REASON_UNUSED_FIELD,
                  "a digest is expected, but replace is not set; set it, or leave the digest out");
    }
    return false;
}

void insertion_fail_name(call *c, const dyn_error *error) {
    bool is_long = error->status == DYN_RESOURCE_EXHAUSTED;
    call_blame(c, "name");
    call_fail(c, is_long ? REASON_TEXT_TOO_LONG : reason_of_error(error), "%s", error->message);
    if (is_long) {
        call_set_limit(c, BOUND_MODEL_NAME_BYTES, MODEL_NAME_SIZE - 1, 0);
    }
}

/* Ends the call because the store did not accept the model, for the reason `result`. `present` is the model of the same
 * name in the store, or NULL. */
static void fail_insertion(call *c, model_insertion result, const model_entry *entry, const model_entry *present) {
    if (result == MODEL_NOT_EXPECTED) {
        call_blame(c, "expected_digest");
        call_fail(c, REASON_MODEL_CHANGED, "%s \"%s\"%s%.19s%s, not the expected one; describe it, and decide again",
                  present ? "the model" : "there is no model", entry->name, present ? " has the digest " : "",
                  present ? present->digest : "", present ? "..." : "");
    } else if (result == MODEL_NAME_TAKEN) {
        call_blame(c, "name");
        call_fail(c, REASON_NAME_TAKEN,
                  "another model is named \"%s\" already (%.19s...); choose another name, or set replace", entry->name,
                  present ? present->digest : "");
    } else if (result == MODEL_NO_MEMORY) {
        call_fail_memory(c);
    } else {
        call_fail(c, REASON_TOO_MANY_MODELS, "the store holds %zu models, the limit (limits.models); unload one first",
                  model_store_count(c->service->store));
        call_set_limit(c, BOUND_MODELS, atomic_load(&c->service->limits->models),
                       model_store_count(c->service->store) + 1);
    }
}

/* Returns whether the store would accept the model now, apart from its limit. `present` is the model of the same name
 * in the store, or NULL. The insertion checks it again, under the store's lock. */
static bool may_insert(const model_entry *entry, const model_entry *present, const char *replaced) {
    const char *digest = present ? present->digest : "";
    return strcmp(digest, entry->digest) == 0 || (replaced ? !replaced[0] || strcmp(digest, replaced) == 0 : !present);
}

/* Writes the model to the disk if the request or the configuration asks for it, and sets `is_written`. Returns false,
 * and the call has ended, if the request asked and the model was not written. */
static bool write_persistent(call *c, const insertion_options *options, bool *is_written) {
    refusal why = {0};
    live *l = c->service->live;
    bool by_default = atomic_load(&c->service->limits->persist_models) && l->state_directory[0];
    *is_written = (options->on_disk || by_default) && persistent_models_write(l, c->built, options->request, &why);
    if (!*is_written && options->on_disk) {
        call_refuse(c, &why);
        return false;
    }
    if (!*is_written && by_default) {
        log_warning(c->service->log, "model %s is not kept: %s", c->built->name, why.message);
    }
    return true;
}

/* Updates the disk before the store: writes the model, or removes the file of a model that it replaces. Returns false
 * when the call has ended; then nothing has changed. */
static bool update_disk(call *c, const insertion_options *options, model_entry *present) {
    refusal why = {0};
    model_entry *entry = c->built;
    bool is_same = present && strcmp(present->digest, entry->digest) == 0, is_written;
    bool was_persistent = present && atomic_load(&present->is_persistent);
    if (is_same && was_persistent) {
        return true;
    }
    if (!write_persistent(c, options, &is_written)) {
        return false;
    }
    if (!is_written && was_persistent && !persistent_models_remove(c->service->live, entry->name, &why)) {
        call_refuse(c, &why);
        return false;
    }
    atomic_store(&entry->is_persistent, is_written);
    if (is_same) {
        atomic_store(&present->is_persistent, is_written);
    }
    return true;
}

/* Inserts the model of the call into the store. Returns a reference to the model in the store, or NULL when the call
 * has ended. */
static model_entry *insert_into_store(call *c, const char *replaced, bool *was_present) {
    model_entry *entry = c->built, *present = NULL;
    model_insertion result = model_store_insert(c->service->store, entry, replaced, &present);
    *was_present = result == MODEL_PRESENT;
    if (result == MODEL_PRESENT) {
        c->outcome = "present";
    }
    if (result == MODEL_INSERTED || result == MODEL_PRESENT) {
        /* Returns the built model if another thread has removed it from the store again. */
        return present ? present : model_entry_retain(entry);
    }
    fail_insertion(c, result, entry, present);
    model_entry_release(present);
    return NULL;
}

/* Sets to whom the model belongs: to the caller, or as before if the store has the very same one. Ends the call and
 * returns false if the caller may not replace the model `present` of that name. */
static bool claim_name(call *c, model_entry *entry, const model_entry *present) {
    char object[MODEL_NAME_SIZE + sizeof "model \"\""];
    bool is_same = present && strcmp(present->digest, entry->digest) == 0;
    const char *belongs_to = is_same ? present->belongs_to : c->caller.name;
    snprintf(entry->belongs_to, sizeof entry->belongs_to, "%s", belongs_to);
    snprintf(object, sizeof object, "model \"%s\"", entry->name);
    call_blame(c, "name");
    return !present || is_same || call_may_change(c, object, present->belongs_to);
}

/* Returns whether the user of the model may have a further one, unless `present` belongs to it already. Otherwise ends
 * the call. All changes of models run one after another. */
static bool has_share(call *c, const model_entry *entry, const model_entry *present) {
    uint64_t share = call_share(c, atomic_load(&c->service->limits->user_models));
    size_t count = model_store_count_of(c->service->store, entry->belongs_to);
    if (count < share || (present && strcmp(present->belongs_to, entry->belongs_to) == 0)) {
        return true;
    }
    c->field[0] = '\0';
    call_fail(c, REASON_TOO_MANY_MODELS,
              "%s has %zu models, the limit of one user (limits.user_models); unload one first", entry->belongs_to,
              count);
    call_set_limit(c, BOUND_USER_MODELS, share, count + 1);
    return false;
}

/* Shares the model of the call with other daemons. Returns false when the call has ended. */
static bool share(call *c) {
    refusal why = {0};
    bool is_shared = shared_models_put(c->service->shared, c->built, call_is_over_nats(c), &why);
    if (!is_shared) {
        call_refuse(c, &why);
    }
    return is_shared;
}

/* Removes from the disk, and from other daemons if it was not `present`, a model that is not in the store after all. */
static void withdraw(call *c, const model_entry *entry, bool was_shared, const model_entry *present) {
    refusal why = {0};
    if (atomic_load(&entry->is_persistent)) {
        persistent_models_remove(c->service->live, entry->name, &why);
    }
    if (was_shared && !present) {
        shared_models_remove(c->service->shared, entry->name, false, &why);
    }
}

/* Records for the simulations of a model that it is in the store no more, and waits for the disk. A name whose record
 * cannot be written comes back after a crash, unless a snapshot was written before. */
static void note_unloaded(call *c, const model_entry *entry) {
    live *l = c->service->live;
    pthread_mutex_lock(&l->journal.changes);
    uint64_t record = state_journal_unloaded(&l->journal, entry->digest);
    pthread_mutex_unlock(&l->journal.changes);
    state_journal_sync(&l->journal, record);
}

model_entry *insert_built_model(call *c, const insertion_options *options, bool *was_present) {
    model_entry *entry = c->built;
    shared_models_begin_change(c->service->shared, entry->name);
    model_entry *present = model_store_find(c->service->store, entry->name);
    snprintf(entry->loaded_by, sizeof entry->loaded_by, "%s", c->transport->peer);
    call_set_object(c, entry->name);
    c->outcome = present ? "replaced" : "loaded";
    bool may = may_insert(entry, present, options->replaced);
    bool is_on_disk =
        may && claim_name(c, entry, present) && has_share(c, entry, present) && update_disk(c, options, present);
    bool is_shared = is_on_disk && share(c);
    model_entry *entered = is_shared || !may ? insert_into_store(c, options->replaced, was_present) : NULL;
    if (is_on_disk && !entered) {
        withdraw(c, entry, is_shared, present);
    }
    if (entered && present && strcmp(present->digest, entered->digest) != 0) {
        note_unloaded(c, present);
    }
    model_entry_release(present);
    shared_models_end_change(c->service->shared);
    return entered;
}

/* Returns whether the store has the model under its name. Ends the call if it has not: the caller named the digest of
 * an earlier version. */
static bool check_current(call *c, const model_entry *entry) {
    model_entry *current = model_store_find(c->service->store, entry->name);
    bool is_current = current && strcmp(current->digest, entry->digest) == 0;
    if (!is_current) {
        call_blame(c, "model");
        call_fail(c, REASON_MODEL_CHANGED, "the digest is that of an earlier version of \"%s\"; unload the name",
                  entry->name);
    }
    model_entry_release(current);
    return is_current;
}

/* Removes the model from the disk, from other daemons and from the store. Returns false when the call has ended. */
static bool remove_everywhere(call *c, const model_entry *entry) {
    refusal why = {0};
    if ((atomic_load(&entry->is_persistent) && !persistent_models_remove(c->service->live, entry->name, &why)) ||
        !shared_models_remove(c->service->shared, entry->name, call_is_over_nats(c), &why)) {
        call_refuse(c, &why);
        return false;
    }
    model_entry *removed = model_store_remove(c->service->store, entry->name);
    c->outcome = "unloaded";
    model_entry_release(removed);
    note_unloaded(c, entry);
    return true;
}

bool remove_model(call *c, const model_entry *entry) {
    char object[MODEL_NAME_SIZE + sizeof "model \"\""];
    snprintf(object, sizeof object, "model \"%s\"", entry->name);
    call_set_object(c, entry->name);
    if (!call_may_change(c, object, entry->belongs_to)) {
        return false;
    }
    shared_models_begin_change(c->service->shared, entry->name);
    bool is_removed = check_current(c, entry) && remove_everywhere(c, entry);
    shared_models_end_change(c->service->shared);
    return is_removed;
}
