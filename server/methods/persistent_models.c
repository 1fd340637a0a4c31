/* SPDX-License-Identifier: BSD-2-Clause */
/* Models stored on the disk: writes, removes and loads their files. */
#include "methods/persistent_models.h"

#include <ctype.h>
#include <dirent.h>
#include <dynamics/text.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/durable_file.h"
#include "files/record_file.h"
#include "files/regular_file.h"
#include "methods/methods.h"
#include "methods/recorded_model.h"
#include "methods/state_version.h"
#include "observe/clock.h"

static const char KIND[] = "models", SUFFIX[] = ".model";

/* Parts of a file's name: bytes from the model's name, and digits of the digest of that name. */
enum { READABLE = 60, DIGITS = 16 };

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Writes the name of a model's file: the letters and digits of the model's name for readability, and the start of the
 * digest of that name. Names of models may have any letters and be longer than a file's. */
static void file_name(const char *name, char file[READABLE + DIGITS + 2]) {
    char digest[DIGEST_SIZE];
    size_t used = 0;
    for (const char *c = name; *c && used < READABLE; c++) {
        file[used++] = isalnum((unsigned char)*c) || strchr("_-", *c) ? *c : '_';
    }
    digest_write(name, strlen(name), digest);
    snprintf(file + used, DIGITS + 2, ".%.*s", DIGITS, digest + strlen("sha256:"));
}

/* Writes the paths of a model's file and of its directory, and creates the directory if necessary. On failure fills
 * `why` and returns false. */
static bool find_paths(live *l, const char *name, char path[PATH_MAX], char directory[PATH_MAX], refusal *why) {
    char file[READABLE + DIGITS + 2];
    file_name(name, file);
    return live_path(l, KIND, "", "", directory, why) && live_path(l, KIND, file, SUFFIX, path, why);
}

static bool refuse_file(refusal *why, const char *action, const char *path) {
    return refuse(why, REASON_FILE_FAILED, "", "cannot %s %.256s: %s", action, path, strerror(errno));
}

/* Writes the file of a model durably. Also syncs the state directory, in which "models" is an entry. On failure fills
 * `why` and returns false. */
static bool write_file(live *l, const Dynamics__V1__KeptModel *record, refusal *why) {
    char path[PATH_MAX], directory[PATH_MAX];
    if (!find_paths(l, record->name, path, directory, why)) {
        return false;
    }
    size_t size = dynamics__v1__kept_model__get_packed_size(record);
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes) {
        return refuse_memory(why);
    }
    dynamics__v1__kept_model__pack(record, bytes);
    bool is_good = durable_directory_sync(l->state_directory) || refuse_file(why, "sync", l->state_directory);
    is_good = is_good && (durable_file_write(path, directory, bytes, size) || refuse_file(why, "write", path));
    free(bytes);
    return is_good;
}

bool persistent_models_write(live *l, const model_entry *entry, const Dynamics__V1__LoadModelRequest *request,
                             refusal *why) {
    Dynamics__V1__KeptModel record = DYNAMICS__V1__KEPT_MODEL__INIT;
    Dynamics__V1__LoadModelRequest load = DYNAMICS__V1__LOAD_MODEL_REQUEST__INIT;
    Dynamics__V1__StateVersion version;
    recorded_model described = {0};
    bool is_good = true;
    if (request) {
        load = *request;
    } else {
        recorded_model_describe(&described, &l->options, entry->model, RECORD_MOST);
        load.source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_DESCRIPTION;
        load.description = described.description;
        is_good = described.description ||
                  refuse_limit(why, REASON_TEXT_TOO_LONG, (excess){BOUND_DESCRIPTION_BYTES, MOST_DESCRIPTION_BYTES, 0},
                               "keep", "the description of the model is too long to be kept; at most %d bytes are",
                               MOST_DESCRIPTION_BYTES);
    }
    load.name = (char *)(uintptr_t)entry->name;
    load.strict = false; /* a later release may have more warnings */
    load.replace = false;
    load.expected_digest = (char *)(uintptr_t)protobuf_c_empty_string;
    record.name = load.name;
    record.digest = (char *)(uintptr_t)entry->digest;
    record.loaded_by = (char *)(uintptr_t)entry->loaded_by;
    record.belongs_to = (char *)(uintptr_t)entry->belongs_to;
    record.stamp_ns = clock_wall();
    state_version_fill(&version);
    record.version = &version;
    record.request = &load;
    is_good = is_good && write_file(l, &record, why);
    if (!request) {
        recorded_model_free(&described);
    }
    return is_good;
}

bool persistent_models_remove(live *l, const char *name, refusal *why) {
    char path[PATH_MAX], directory[PATH_MAX];
    return find_paths(l, name, path, directory, why) &&
           (durable_file_remove(path, directory) || refuse_file(why, "remove", path));
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

/* Destination of loaded models, and callback for models that cannot be loaded. */
typedef struct loading {
    live *live;
    void (*left_out)(void *context, const char *name, const char *reason);
    void *context;
} loading;

/* Reports a model that the store refused. `path` is that of its file. */
static void report_refused(const loading *o, const char *path, const char *name, model_insertion result) {
    char reason[REFUSAL_MESSAGE_SIZE];
    if (result == MODEL_NAME_TAKEN) {
        snprintf(reason, sizeof reason, "another file holds a model of this name; remove %.256s or the other file",
                 path);
    } else {
        snprintf(reason, sizeof reason, "%s",
                 result == MODEL_NO_MEMORY ? "out of memory" : "the store is full; raise limits.models");
    }
    o->left_out(o->context, name, reason);
}

/* Inserts a built model, which is in the file of that path, into the store. Returns false, and reports the model, if
 * the store refuses it. */
static bool enter(const loading *o, const char *path, const Dynamics__V1__KeptModel *record, model_entry *entry) {
    char reason[REFUSAL_MESSAGE_SIZE];
    dyn_text_print(record->loaded_by, entry->loaded_by, sizeof entry->loaded_by);
    dyn_text_print(record->belongs_to, entry->belongs_to, sizeof entry->belongs_to);
    atomic_store(&entry->is_persistent, true);
    model_insertion result = model_store_insert(o->live->options.store, entry, NULL, NULL);
    if (result != MODEL_INSERTED && result != MODEL_PRESENT) {
        report_refused(o, path, record->name, result);
        return false;
    }
    if (strcmp(entry->digest, record->digest) != 0) {
        snprintf(reason, sizeof reason,
                 "it is loaded with the digest %.19s..., but was kept with %.19s...: this release reads its "
                 "description in another way",
                 entry->digest, record->digest);
        log_warning(o->live->options.log, "model %s: %s", entry->name, reason);
    }
    log_info(o->live->options.log, "model %s, kept for %s: nq %d, nv %d", entry->name, entry->loaded_by,
             dyn_model_nq(entry->model), dyn_model_nv(entry->model));
    return true;
}

/* Builds the model by the request that is stored with it, and inserts it. Returns false, and reports the model, on
 * failure. */
static bool load_record(const loading *o, const char *path, const Dynamics__V1__KeptModel *record) {
    recorded_model m;
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    recorded_model_begin(&m, &o->live->options);
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_LOAD_MODEL;
    request.load_model = record->request;
    m.call.request = &request;
    method_prepare_load_model(&m.call);
    bool is_good = m.call.built != NULL;
    if (is_good) {
        is_good = enter(o, path, record, m.call.built);
    } else {
        o->left_out(o->context, record->name, m.call.message);
    }
    model_entry_release(m.call.built);
    recorded_model_free(&m);
    return is_good;
}

/* Reads the record of a file, which the caller frees. Reports a missing or damaged file, or one of a later release, and
 * returns NULL. */
static Dynamics__V1__KeptModel *read_file(const loading *o, const char *path) {
    record_reader reader;
    const uint8_t *bytes;
    size_t size;
    char unknown[UNKNOWN_FIELD_SIZE] = "";
    Dynamics__V1__KeptModel *record = NULL;
    if (!record_reader_open(&reader, path)) {
        o->left_out(o->context, path, regular_file_error(errno));
        return NULL;
    }
    if (record_reader_next(&reader, &bytes, &size) &&
        !field_check_later(&dynamics__v1__kept_model__descriptor, bytes, size, unknown)) {
        record = dynamics__v1__kept_model__unpack(NULL, size, bytes);
    }
    if (record && (!record->request || state_version_is_later(record->version, unknown))) {
        dynamics__v1__kept_model__free_unpacked(record, NULL);
        record = NULL;
    }
    if (!record) {
        o->left_out(o->context, path,
                    unknown[0] ? unknown : "the file is damaged; remove it, and load the model again with --keep");
    }
    record_reader_close(&reader);
    return record;
}

static int is_model_file(const struct dirent *entry) {
    size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);
    return entry->d_name[0] != '.' && length > suffix && strcmp(entry->d_name + length - suffix, SUFFIX) == 0;
}

size_t persistent_models_load(live *l, void (*left_out)(void *context, const char *name, const char *reason),
                              void *context) {
    const loading o = {l, left_out, context};
    char directory[PATH_MAX], path[PATH_MAX];
    struct dirent **entries;
    size_t loaded = 0;
    if (l->state_directory[0] == '\0' ||
        snprintf(directory, sizeof directory, "%s/%s", l->state_directory, KIND) >= (int)sizeof directory) {
        return 0;
    }
    int count = scandir(directory, &entries, is_model_file, alphasort);
    if (count < 0) {
        if (errno != ENOENT) {
            left_out(context, directory, strerror(errno));
        }
        return 0;
    }
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%.3800s/%s", directory, entries[i]->d_name);
        Dynamics__V1__KeptModel *record = read_file(&o, path);
        loaded += record && load_record(&o, path, record);
        if (record) {
            dynamics__v1__kept_model__free_unpacked(record, NULL);
        }
        free(entries[i]);
    }
    free(entries);
    return loaded;
}
