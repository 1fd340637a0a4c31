/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds, shares and frees loaded models, and pools their workspaces. */
#include "models/entry.h"

#include <dynamics/text.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dyn_status fail(dyn_error *error, dyn_status status, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static dyn_status fail(dyn_error *error, dyn_status status, const char *place, const char *format, ...) {
    char message[sizeof error->message];
    va_list arguments;
    error->status = status;
    bool is_name = status == DYN_INVALID_ARGUMENT;
    error->site = (dyn_error_site){.cause = is_name    ? DYN_CAUSE_NAME
                                            : place[0] ? DYN_CAUSE_OTHER
                                                       : DYN_CAUSE_MEMORY,
                                   .argument = strcmp(place, "name") == 0 ? "name" : NULL};
    dyn_text_print(place, error->place, sizeof error->place);
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    dyn_text_print(message, error->message, sizeof error->message);
    return status;
}

void model_name_adapt(char *name) {
    for (char *dot = name; (dot = strchr(dot, '.'));) {
        *dot = '_';
    }
}

/* Checks a name: it must fit, be printable, have no '.', and not look like a digest. */
static dyn_status check_name(const char *name, dyn_error *error) {
    if (name[0] == '\0') {
        return fail(error, DYN_INVALID_ARGUMENT, "name", "the model has no name; set one");
    }
    if (strlen(name) >= MODEL_NAME_SIZE) {
        return fail(error, DYN_RESOURCE_EXHAUSTED, "name", "the name has %zu bytes; at most %d are allowed",
                    strlen(name), MODEL_NAME_SIZE - 1);
    }
    if (strncmp(name, "sha256:", 7) == 0) {
        return fail(error, DYN_INVALID_ARGUMENT, "name", "a name must not start with \"sha256:\", as digests do");
    }
    if (!dyn_text_is_printable(name)) {
        return fail(error, DYN_INVALID_ARGUMENT, "name",
                    "the name \"%s\" is not printable; use printable UTF-8 without control, invisible or direction "
                    "characters",
                    name);
    }
    if (strchr(name, '.')) {
        char adapted[MODEL_NAME_SIZE];
        snprintf(adapted, sizeof adapted, "%s", name);
        model_name_adapt(adapted);
        return fail(error, DYN_INVALID_ARGUMENT, "name",
                    "the name \"%s\" has a \".\", which separates the parts of topics; use another character, such "
                    "as \"%s\"",
                    name, adapted);
    }
    return DYN_OK;
}

static dyn_status write_digest(model_entry *entry, dyn_error *error) {
    char *text;
    size_t length;
    dyn_status status = dyn_model_canonical(entry->model, &text, &length, error);
    if (status == DYN_OK) {
        digest_write(text, length, entry->digest);
        dyn_text_free(text);
    }
    return status;
}

/* Builds the model from the builder's description, with the options of the entry. */
static dyn_status compile(model_entry *entry, dyn_builder *builder, dyn_error *error) {
    const model_options *options = &entry->options;
    dyn_build_options build_options =
        DYN_BUILD_OPTIONS_INIT(.base = options->base, .mimic = options->mimic, .strict = options->strict);
    dyn_status status = DYN_OK;
    if (options->has_gravity) {
        status = dyn_builder_set_gravity(builder, options->gravity, error);
    }
    return status == DYN_OK ? dyn_builder_build(builder, &build_options, entry->report, &entry->model, error) : status;
}

/* Builds the model of a new entry, and sets the entry's source, name and digest. An empty `name` selects the robot's
 * own. */
static dyn_status fill(model_entry *entry, dyn_builder *builder, const char *name, const char *source, size_t links,
                       dyn_error *error) {
    entry->source = strdup(source);
    if (!entry->source || (!entry->report && dyn_report_create(&entry->report) != DYN_OK)) {
        return fail(error, DYN_RESOURCE_EXHAUSTED, "", "out of memory");
    }
    dyn_status status = compile(entry, builder, error);
    if (status == DYN_OK && (size_t)dyn_model_link_count(entry->model) > links) {
        status = fail(error, DYN_RESOURCE_EXHAUSTED, "links", "the model has %d links; the limit is %zu",
                      dyn_model_link_count(entry->model), links);
    }
    char own[DYN_MAX_NAME + 1] = "";
    if (status == DYN_OK) {
        snprintf(own, sizeof own, "%s", dyn_model_name(entry->model));
        model_name_adapt(own);
    }
    const char *chosen = name[0] ? name : own;
    if (status == DYN_OK) {
        status = check_name(chosen, error);
    }
    if (status == DYN_OK) {
        snprintf(entry->name, sizeof entry->name, "%s", chosen);
        status = write_digest(entry, error);
    }
    return status;
}

dyn_status model_entry_build(dyn_builder *builder, dyn_report *report, const char *name, const char *source,
                             const model_options *options, size_t links, dyn_error *error, model_entry **result) {
    model_entry *entry = calloc(1, sizeof *entry);
    if (!entry) {
        dyn_report_free(report);
        return fail(error, DYN_RESOURCE_EXHAUSTED, "", "out of memory");
    }
    atomic_init(&entry->references, 1);
    pthread_mutex_init(&entry->mutex, NULL);
    entry->options = *options;
    entry->report = report;
    dyn_status status = fill(entry, builder, name, source, links, error);
    if (status != DYN_OK) {
        model_entry_release(entry);
        return status;
    }
    *result = entry;
    return DYN_OK;
}

dyn_status model_entry_create(const char *text, size_t length, const char *name, const char *source,
                              const model_options *options, size_t links, dyn_error *error, model_entry **result) {
    dyn_report *report = NULL;
    dyn_builder *builder = NULL;
    dyn_status status = name[0] ? check_name(name, error) : DYN_OK;
    if (status == DYN_OK && dyn_report_create(&report) != DYN_OK) {
        status = fail(error, DYN_RESOURCE_EXHAUSTED, "", "out of memory");
    }
    if (status == DYN_OK) {
        status = dyn_urdf_read(text, length, report, &builder, error);
    }
    if (status == DYN_OK) {
        status = model_entry_build(builder, report, name, source, options, links, error, result);
    } else {
        dyn_report_free(report);
    }
    dyn_builder_free(builder);
    return status;
}

/* Builds the model of an entry without its rotors. */
static dyn_status build_bare(const model_entry *entry, dyn_error *error, model_entry **bare) {
    dyn_builder *builder = NULL;
    dyn_build_options built = DYN_BUILD_OPTIONS_INIT();
    dyn_status status = dyn_model_describe(entry->model, &builder, error);
    if (status == DYN_OK) {
        status = dyn_builder_remove_rotors(builder, error);
    }
    if (status == DYN_OK) {
        status = dyn_model_build_options(entry->model, &built, error);
    }
    const model_options options = {.base = built.base, .mimic = built.mimic};
    if (status == DYN_OK) {
        status = model_entry_build(builder, NULL, entry->name, "", &options, SIZE_MAX, error, bare);
    }
    dyn_builder_free(builder);
    return status;
}

dyn_status model_entry_without_rotors(model_entry *entry, dyn_error *error, model_entry **bare) {
    if (dyn_model_rotor_count(entry->model) == 0) {
        *bare = model_entry_retain(entry);
        return DYN_OK;
    }
    pthread_mutex_lock(&entry->mutex);
    dyn_status status = entry->bare ? DYN_OK : build_bare(entry, error, &entry->bare);
    if (status == DYN_OK) {
        *bare = model_entry_retain(entry->bare);
    }
    pthread_mutex_unlock(&entry->mutex);
    return status;
}

model_entry *model_entry_retain(model_entry *entry) {
    atomic_fetch_add(&entry->references, 1);
    return entry;
}

void model_entry_release(model_entry *entry) {
    if (!entry || atomic_fetch_sub(&entry->references, 1) != 1) {
        return;
    }
    for (int p = 0; p < MODEL_PRECISIONS; p++) {
        for (size_t i = 0; i < entry->idle_count[p]; i++) {
            dyn_workspace_free(entry->idle[p][i]);
        }
    }
    model_entry_release(entry->bare);
    dyn_compiled_free(entry->compiled);
    dyn_model_free(entry->model);
    dyn_report_free(entry->report);
    pthread_mutex_destroy(&entry->mutex);
    free(entry->source);
    free(entry);
}

dyn_status model_entry_lease(model_entry *entry, dyn_precision precision, dyn_error *error, dyn_workspace **workspace) {
    *workspace = NULL;
    pthread_mutex_lock(&entry->mutex);
    if (entry->idle_count[precision] > 0) {
        *workspace = entry->idle[precision][--entry->idle_count[precision]];
    }
    const dyn_compiled *compiled = entry->compiled;
    entry->is_used = true;
    pthread_mutex_unlock(&entry->mutex);
    dyn_status status = *workspace ? DYN_OK : dyn_workspace_create_in(entry->model, precision, workspace, error);
    return status == DYN_OK ? dyn_workspace_use_compiled(*workspace, compiled, error) : status;
}

bool model_entry_is_used(model_entry *entry) {
    pthread_mutex_lock(&entry->mutex);
    bool is_used = entry->is_used;
    pthread_mutex_unlock(&entry->mutex);
    return is_used;
}

void model_entry_set_compilation(model_entry *entry, model_compilation state, const char *reason,
                                 dyn_compiled *compiled, const char *object) {
    pthread_mutex_lock(&entry->mutex);
    bool is_new = !entry->compiled;
    if (is_new) {
        entry->compilation = state;
        snprintf(entry->compilation_reason, sizeof entry->compilation_reason, "%s", reason);
        entry->compiled = compiled;
        snprintf(entry->object, sizeof entry->object, "%s", object);
    }
    pthread_mutex_unlock(&entry->mutex);
    if (!is_new) {
        dyn_compiled_free(compiled);
    }
}

const dyn_compiled *model_entry_compiled(model_entry *entry, char object[DIGEST_SIZE]) {
    pthread_mutex_lock(&entry->mutex);
    const dyn_compiled *compiled = entry->compiled;
    memcpy(object, entry->object, DIGEST_SIZE);
    entry->is_used = true;
    pthread_mutex_unlock(&entry->mutex);
    return compiled;
}

void model_entry_object(model_entry *entry, char object[DIGEST_SIZE]) {
    pthread_mutex_lock(&entry->mutex);
    memcpy(object, entry->object, DIGEST_SIZE);
    pthread_mutex_unlock(&entry->mutex);
}

void computed_with(const char *object, char text[COMPUTED_WITH_SIZE]) {
    snprintf(text, COMPUTED_WITH_SIZE, "%s%s%s", dyn_instruction_set(), object[0] ? COMPUTED_WITH_COMPILED : "",
             object);
}

model_compilation model_entry_compilation(model_entry *entry, char reason[COMPILATION_REASON_SIZE]) {
    pthread_mutex_lock(&entry->mutex);
    model_compilation state = entry->compilation;
    if (reason) {
        memcpy(reason, entry->compilation_reason, COMPILATION_REASON_SIZE);
    }
    pthread_mutex_unlock(&entry->mutex);
    return state;
}

void model_entry_return(model_entry *entry, dyn_workspace *workspace) {
    pthread_mutex_lock(&entry->mutex);
    dyn_precision precision = dyn_workspace_precision(workspace);
    bool is_reused = entry->idle_count[precision] < MODEL_IDLE_WORKSPACES;
    if (is_reused) {
        entry->idle[precision][entry->idle_count[precision]++] = workspace;
    }
    pthread_mutex_unlock(&entry->mutex);
    if (!is_reused) {
        dyn_workspace_free(workspace);
    }
}
