/* Keeping a model that was built in the daemon's store. */
#include "methods/keep.h"

/* Ends the call where the store did not take the model. */
static void fail_insertion(call *c, model_insertion result, const model_entry *entry, const model_entry *present) {
    if (result == MODEL_NAME_TAKEN) {
        call_blame(c, "name");
        call_fail(c, DYNAMICS__V1__CODE__CODE_ALREADY_EXISTS,
                  "another model is named \"%s\" already (%.19s...); choose another name, or set replace", entry->name,
                  present ? present->digest : "");
    } else {
        call_fail(c, DYNAMICS__V1__CODE__CODE_RESOURCE_EXHAUSTED,
                  "the store holds %zu models, the limit (limits.models); unload one first",
                  model_store_count(c->service->store));
    }
}

model_entry *keep_model(call *c, bool replace, bool *was_present) {
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
