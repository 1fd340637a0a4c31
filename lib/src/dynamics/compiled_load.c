/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads the compiled algorithms of a model from a shared object.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/text.h>

#include "../model/error.h"
#include "../model/normal_form.h"
#include "arguments.h"
#include "compiled.h"
#include "compiled_check.h"

/* Stores the functions of an object's table whose names are those of known algorithms. */
static void find_functions(const compiled_function_entry *entry, compiled_function_entry found[COMPILED_ALGORITHMS]) {
    for (; entry->name; entry++) {
        for (int a = 0; a < COMPILED_ALGORITHMS; a++) {
            if (strcmp(entry->name, dyn_compiled_descriptions[a].name) == 0) {
                found[a] = *entry;
            }
        }
    }
}

/* Finds the function "NAME<i>" of body i. Returns NULL if the object has none. */
static compiled_packed *find_of_body(const compiled_function_entry *entry, const char *name, int i) {
    char numbered[32];
    snprintf(numbered, sizeof numbered, "%s%d", name, i);
    while (entry->name && strcmp(entry->name, numbered) != 0) {
        entry++;
    }
    return entry->name ? entry->packed : NULL;
}

static dyn_status find_bodies(const compiled_object *object, dyn_compiled *c, dyn_error *error) {
    static const char *const names[COMPILED_BODY_ALGORITHMS] = {
        [COMPILED_POSE] = COMPILED_BODY_POSE,
        [COMPILED_JACOBIAN] = COMPILED_BODY_JACOBIAN,
        [COMPILED_MOTION] = COMPILED_BODY_MOTION,
    };
    c->bodies = calloc((size_t)c->model->body_count + 1, sizeof *c->bodies);
    if (!c->bodies) {
        return dyn_error_memory(error);
    }
    for (int i = 0; i < c->model->body_count; i++) {
        for (int a = 0; a < COMPILED_BODY_ALGORITHMS; a++) {
            compiled_packed *wide = find_of_body(object->wide, names[a], i);
            compiled_packed *single = find_of_body(object->single, names[a], i);
            c->bodies[i].wide[a] = single ? wide : NULL;
            c->bodies[i].single[a] = wide ? single : NULL;
        }
    }
    return DYN_OK;
}

/* Checks that the object was compiled for this version of the format, the instruction set in use and an equal model. */
static dyn_status check_object(const compiled_object *object, const char *path, const dyn_model *model,
                               dyn_error *error) {
    const instruction_set *set = dyn_choose_instruction_set();
    if (object->version != COMPILED_OBJECT_VERSION) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, path, "it has version %u, but %u is needed; compile again",
                             object->version, COMPILED_OBJECT_VERSION);
    }
    if (strcmp(object->instruction_set, set->name) != 0 || object->lanes != dyn_lanes(DYN_PRECISION_DOUBLE)) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, path, "it is for the instruction set %s, but %s is in use",
                             object->instruction_set, set->name);
    }
    char *text;
    size_t length;
    dyn_status status = dyn_model_canonical(model, &text, &length, error);
    if (status == DYN_OK && strcmp(object->model, text) != 0) {
        status = dyn_error_set(error, DYN_FAILED_PRECONDITION, path, "it was compiled for another model");
    }
    dyn_text_free(text);
    return status;
}

static dyn_status open_object(dyn_compiled *c, const char *path, dyn_error *error) {
    c->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const compiled_object *object = c->handle ? dlsym(c->handle, COMPILED_OBJECT_SYMBOL) : NULL;
    if (!object) {
        const char *reason = dlerror();
        return dyn_error_set(error, DYN_NOT_FOUND, path, "it cannot be loaded: %s", reason ? reason : "it is empty");
    }
    dyn_status status = check_object(object, path, c->model, error);
    if (status == DYN_OK) {
        find_functions(object->wide, c->wide);
        find_functions(object->single, c->single);
        status = find_bodies(object, c, error);
    }
    return status;
}

dyn_status dyn_compiled_load(const dyn_model *model, const char *path, dyn_compiled **compiled, dyn_error *error) {
    dyn_compiled *c = calloc(1, sizeof *c);
    if (!c) {
        return dyn_error_memory(error);
    }
    c->model = model;
    dyn_status status = open_object(c, path, error);
    if (status == DYN_OK) {
        status = dyn_compiled_check(c, error);
    }
    if (status != DYN_OK) {
        dyn_compiled_free(c);
        return status;
    }
    *compiled = c;
    return DYN_OK;
}

void dyn_compiled_free(dyn_compiled *compiled) {
    if (compiled && compiled->handle) {
        dlclose(compiled->handle);
    }
    if (compiled) {
        free(compiled->bodies);
    }
    free(compiled);
}
