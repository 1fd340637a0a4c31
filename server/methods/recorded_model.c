/* SPDX-License-Identifier: BSD-2-Clause */
/* Models of recordings and snapshots: describes a model for a file, and builds it from the file again. */
#include "methods/recorded_model.h"

#include <string.h>

#include "methods/description.h"

void recorded_model_begin(recorded_model *m, const live_options *o) {
    static const method reading = {.name = "recording"};
    memset(m, 0, sizeof *m);
    m->service.store = o->store;
    m->service.limits = o->limits;
    m->service.counters = o->counters;
    m->service.budget = o->budget;
    m->service.log = o->log;
    m->call.service = &m->service;
    m->call.method = &reading;
    arena_init(&m->call.memory);
    arena_reset(&m->call.memory, SIZE_MAX);
}

void recorded_model_describe(recorded_model *m, const live_options *o, const dyn_model *model, uint64_t most) {
    recorded_model_begin(m, o);
    m->description = description_write(&m->call, model);
    size_t size = m->description ? dynamics__v1__model_description__get_packed_size(m->description) : 0;
    if (size > MOST_DESCRIPTION_BYTES || size > most) {
        m->description = NULL;
    }
}

void recorded_model_free(recorded_model *m) {
    arena_free(&m->call.memory);
}

static bool refuse_damaged(refusal *why, const char *message) {
    return refuse(why, REASON_DAMAGED_FILE, "", "the file's description of its model is damaged: %s", message);
}

model_entry *recorded_model_build(const live_options *o, const char *name, const char *digest,
                                  const Dynamics__V1__ModelDescription *from, refusal *why) {
    recorded_model m;
    dyn_builder *builder = NULL;
    model_entry *entry = NULL;
    dyn_error error;
    model_options options = {.base = DYN_BASE_FIXED, .mimic = DYN_MIMIC_POLICY_COUPLED};
    recorded_model_begin(&m, o);
    if (!description_read_base(&m.call, "description.base_type", from->base_type, &options.base) ||
        !description_read_mimic(&m.call, "description.mimic", from->mimic, &options.mimic) ||
        !description_read(&m.call, from, &builder)) {
        refuse_damaged(why, m.call.message);
    } else if (model_entry_build(builder, NULL, name, "", &options, atomic_load(&o->limits->links), &error, &entry) !=
               DYN_OK) {
        entry = NULL;
        refuse_damaged(why, error.message);
    } else if (strcmp(entry->digest, digest) != 0) {
        refuse_damaged(why, "it has another digest than the model that was simulated");
        model_entry_release(entry);
        entry = NULL;
    }
    dyn_builder_free(builder);
    recorded_model_free(&m);
    return entry;
}

model_entry *recorded_model_find(const live_options *o, const char *name, const char *digest,
                                 const Dynamics__V1__ModelDescription *description, refusal *why) {
    model_entry *entry = model_store_find(o->store, digest);
    if (entry || description) {
        return entry ? entry : recorded_model_build(o, name, digest, description, why);
    }
    refuse(why, REASON_MODEL_NOT_FOUND, "",
           "the model is not loaded, and the file does not describe it: load \"%.128s\" with the digest %.80s "
           "(dynamicsctl describe prints it), then ask again",
           name, digest);
    return NULL;
}
