/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads models from directories and listed files, and follows changes of the files at each scan. */
#include "models/directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/regular_file.h"

enum { PROBLEM_SIZE = 1024 };

/* Model file in the state of the last scan. */
typedef struct model_file {
    char *path;
    char name[NAME_MAX + 1];
    model_options options;
    struct timespec modified;
    off_t size;
    bool is_loaded;  /* the store holds a model of it, possibly of an older state */
    bool has_failed; /* its present state could not be loaded */
    bool is_seen;    /* seen by the current scan */
    size_t place;    /* index of its directory; NO_PLACE for the file of a rule */
} model_file;

struct model_directory {
    model_store *store;
    logger *log;
    model_file *files;
    size_t count, room;
    size_t missing;        /* directories and files that the last scan did not find */
    pthread_mutex_t mutex; /* guards the members below */
    size_t problem_count;
    char problem[PROBLEM_SIZE];
};

model_directory *model_directory_create(model_store *store, logger *log) {
    model_directory *directory = calloc(1, sizeof *directory);
    if (directory) {
        directory->store = store;
        directory->log = log;
        pthread_mutex_init(&directory->mutex, NULL);
    }
    return directory;
}

void model_directory_free(model_directory *directory) {
    if (!directory) {
        return;
    }
    for (size_t i = 0; i < directory->count; i++) {
        free(directory->files[i].path);
    }
    free(directory->files);
    pthread_mutex_destroy(&directory->mutex);
    free(directory);
}

size_t model_directory_missing(const model_directory *directory) {
    return directory->missing;
}

size_t model_directory_problem(model_directory *directory, char *problem, size_t size) {
    pthread_mutex_lock(&directory->mutex);
    size_t count = directory->problem_count;
    snprintf(problem, size, "%s", count > 0 ? directory->problem : "");
    pthread_mutex_unlock(&directory->mutex);
    return count;
}

/* Logs a file that could not be loaded, and stores the first one's error for the health. */
static void note_problem(model_directory *directory, const char *path, const char *place, const char *message) {
    const char *separator = place[0] ? ": " : "";
    log_error(directory->log, "cannot load %s: %s%s%s", path, place, separator, message);
    pthread_mutex_lock(&directory->mutex);
    if (directory->problem_count++ == 0) {
        snprintf(directory->problem, sizeof directory->problem, "%s: %s%s%s", path, place, separator, message);
    }
    pthread_mutex_unlock(&directory->mutex);
}

static void log_loaded(model_directory *directory, const model_entry *entry) {
    log_info(directory->log, "model %s from %s: %d joints, nq %d, nv %d, %zu notes, %zu warnings", entry->name,
             entry->source, dyn_model_joint_count(entry->model), dyn_model_nq(entry->model), dyn_model_nv(entry->model),
             dyn_report_count_severity(entry->report, DYN_SEVERITY_NOTE),
             dyn_report_count_severity(entry->report, DYN_SEVERITY_WARNING));
}

/* Returns the file of a loaded model if the current scan has not seen it: the file is gone, or a file of an earlier
 * directory comes before it. Returns NULL for all other models. */
static const model_file *find_outdated(const model_directory *directory, const char *name, const char *path) {
    for (size_t i = 0; i < directory->count; i++) {
        const model_file *file = &directory->files[i];
        if (file->is_loaded && !file->is_seen && strcmp(file->name, name) == 0 && strcmp(file->path, path) == 0) {
            return file;
        }
    }
    return NULL;
}

/* Inserts a model from a file into the store. It may replace a model of the same or of an outdated file only: a model
 * that a client stored stays. Returns false, after logging the reason, if the model is not inserted. */
static bool insert(model_directory *directory, const model_file *file, model_entry *entry) {
    model_entry *present = model_store_find(directory->store, entry->name);
    bool has_other_source = present && strcmp(present->source, file->path) != 0;
    const model_file *outdated = has_other_source ? find_outdated(directory, entry->name, present->source) : NULL;
    bool is_persistent = present && atomic_load(&present->is_persistent);
    model_entry_release(present);
    if (is_persistent) {
        log_info(directory->log, "model %s of %s is not loaded: a model of that name is kept", entry->name, file->path);
        return false;
    }
    if (has_other_source && !outdated) {
        note_problem(directory, file->path, "", "another model has that name already");
        return false;
    }
    model_insertion result = model_store_insert(directory->store, entry, MODEL_ANY, NULL);
    if (result == MODEL_PRESENT && outdated) {
        /* Removes the present model first: the store would keep an equal model with its outdated source. */
        model_entry_release(model_store_remove_source(directory->store, entry->name, outdated->path));
        result = model_store_insert(directory->store, entry, MODEL_ANY, NULL);
    }
    if (result == MODEL_STORE_FULL || result == MODEL_NO_MEMORY) {
        note_problem(directory, file->path, "",
                     result == MODEL_NO_MEMORY ? "out of memory" : "the store is full; raise limits.models");
        return false;
    }
    log_loaded(directory, entry);
    return true;
}

/* Returns whether a model has more constraints than the limit; fills the error if so. */
static bool has_too_many_constraints(const dyn_model *model, size_t limit, dyn_error *error) {
    size_t count = (size_t)dyn_model_constraint_count(model);
    if (count > limit) {
        snprintf(error->message, sizeof error->message,
                 "the model has %zu constraints; the limit is %zu (limits.constraints)", count, limit);
    }
    return count > limit;
}

static void load(model_directory *directory, model_file *file, const model_sources *sources) {
    size_t length = 0;
    file->has_failed = true;
    char *text = regular_file_read(file->path, 0, DYN_URDF_MAX_BYTES, &length);
    if (!text) {
        const char *problem = errno == EFBIG ? "the file is larger than 16 MiB" : regular_file_error(errno);
        note_problem(directory, file->path, "", problem);
        return;
    }
    dyn_error error = {0};
    model_entry *entry;
    dyn_status status =
        model_entry_create(text, length, file->name, file->path, &file->options, sources->links, &error, &entry);
    free(text);
    if (status != DYN_OK) {
        note_problem(directory, file->path, error.place, error.message);
        return;
    }
    if (has_too_many_constraints(entry->model, sources->constraints, &error)) {
        note_problem(directory, file->path, "", error.message);
    } else if (insert(directory, file, entry)) {
        file->is_loaded = true;
        file->has_failed = false;
    }
    model_entry_release(entry);
}

static bool same_options(const model_options *a, const model_options *b) {
    return a->base == b->base && a->mimic == b->mimic && a->has_gravity == b->has_gravity && a->strict == b->strict &&
           memcmp(a->gravity, b->gravity, sizeof a->gravity) == 0;
}

/* Returns the record of a file under a name. Creates it if there is none yet; NULL when out of memory. */
static model_file *find_file(model_directory *directory, const char *path, const char *name) {
    for (size_t i = 0; i < directory->count; i++) {
        if (strcmp(directory->files[i].path, path) == 0 && strcmp(directory->files[i].name, name) == 0) {
            return &directory->files[i];
        }
    }
    if (directory->count == directory->room) {
        size_t room = directory->room ? 2 * directory->room : 16;
        model_file *files = realloc(directory->files, room * sizeof *files);
        if (!files) {
            return NULL;
        }
        directory->files = files;
        directory->room = room;
    }
    model_file *file = &directory->files[directory->count];
    memset(file, 0, sizeof *file);
    file->path = strdup(path);
    snprintf(file->name, sizeof file->name, "%s", name);
    directory->count += file->path != NULL;
    return file->path ? file : NULL;
}

/* Directory index of a file that a rule names. */
static const size_t NO_PLACE = SIZE_MAX;

/* Returns a file of an earlier directory that the current scan has seen under a name; NULL for none. */
static const model_file *find_earlier(const model_directory *directory, const char *name, size_t place) {
    for (size_t i = 0; i < directory->count; i++) {
        const model_file *file = &directory->files[i];
        if (file->is_seen && file->place < place && strcmp(file->name, name) == 0) {
            return file;
        }
    }
    return NULL;
}

/* Loads a file unless it is loaded and has not changed. Counts and logs a file that is missing. */
static void visit(model_directory *directory, const char *path, const char *name, size_t place,
                  const model_options *options, const model_sources *sources) {
    struct stat status;
    if (stat(path, &status) != 0) {
        if (errno == ENOENT) {
            directory->missing++;
            log_warning(directory->log, "model %s: there is no file %s", name, path);
            return;
        }
        note_problem(directory, path, "", strerror(errno));
        return;
    }
    model_file *file = find_file(directory, path, name);
    if (!file) {
        note_problem(directory, path, "", "out of memory");
        return;
    }
    bool is_same = file->is_loaded && !file->has_failed && file->size == status.st_size &&
                   same_options(&file->options, options) && file->modified.tv_sec == status.st_mtim.tv_sec &&
                   file->modified.tv_nsec == status.st_mtim.tv_nsec;
    file->is_seen = true;
    file->place = place;
    if (is_same) {
        return;
    }
    file->options = *options;
    file->size = status.st_size;
    file->modified = status.st_mtim;
    load(directory, file, sources);
}

/* Writes the path of a rule's file: in the first directory that has it, else in the last one. */
static void rule_path(const model_sources *sources, const model_rule *rule, char path[PATH_MAX]) {
    if (rule->file && rule->file[0] == '/') {
        snprintf(path, PATH_MAX, "%s", rule->file);
        return;
    }
    snprintf(path, PATH_MAX, "%s%s", rule->file ? rule->file : rule->name, rule->file ? "" : ".urdf");
    for (size_t i = 0; i < sources->path_count; i++) {
        snprintf(path, PATH_MAX, "%s/%s%s", sources->paths[i], rule->file ? rule->file : rule->name,
                 rule->file ? "" : ".urdf");
        if (access(path, F_OK) == 0) {
            return;
        }
    }
}

static bool has_rule(const model_sources *sources, const char *path) {
    char ruled[PATH_MAX];
    for (size_t i = 0; i < sources->rule_count; i++) {
        rule_path(sources, &sources->rules[i], ruled);
        if (strcmp(ruled, path) == 0) {
            return true;
        }
    }
    return false;
}

static int is_urdf(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 && strcmp(entry->d_name + length - 5, ".urdf") == 0;
}

/* Visits a file of a directory unless it has a rule or a robot of an earlier directory comes before it. */
static void visit_entry(model_directory *directory, const model_sources *sources, size_t place, const char *entry) {
    const model_options usual = {.base = DYN_BASE_FIXED, .mimic = DYN_MIMIC_POLICY_COUPLED, .strict = sources->strict};
    char file[PATH_MAX], name[NAME_MAX + 1];
    snprintf(file, sizeof file, "%.3000s/%s", sources->paths[place], entry);
    snprintf(name, sizeof name, "%.*s", (int)strlen(entry) - 5, entry);
    model_name_adapt(name);
    if (has_rule(sources, file)) {
        return;
    }
    const model_file *earlier = find_earlier(directory, name, place);
    if (earlier) {
        log_info(directory->log, "%s is not loaded: %s comes before it", file, earlier->path);
        return;
    }
    visit(directory, file, name, place, &usual, sources);
}

/* Visits the files of one directory. */
static void visit_directory(model_directory *directory, const model_sources *sources, size_t place) {
    const char *path = sources->paths[place];
    struct dirent **entries;
    int count = scandir(path, &entries, is_urdf, alphasort);
    if (count < 0) {
        directory->missing++;
        log_warning(directory->log, "cannot read the model directory %s: %s", path, strerror(errno));
        return;
    }
    for (int i = 0; i < count; i++) {
        visit_entry(directory, sources, place, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

/* Removes the models of files that this scan did not see. */
static void drop_unseen(model_directory *directory) {
    size_t count = 0;
    for (size_t i = 0; i < directory->count; i++) {
        model_file *file = &directory->files[i];
        if (file->is_seen) {
            file->is_seen = false;
            directory->files[count++] = *file;
            continue;
        }
        model_entry *entry =
            file->is_loaded ? model_store_remove_source(directory->store, file->name, file->path) : NULL;
        if (entry) {
            log_info(directory->log, "model %s is gone with its file %s", file->name, file->path);
        }
        model_entry_release(entry);
        free(file->path);
    }
    directory->count = count;
}

void model_directory_scan(model_directory *directory, const model_sources *sources) {
    pthread_mutex_lock(&directory->mutex);
    directory->problem_count = 0;
    pthread_mutex_unlock(&directory->mutex);
    directory->missing = 0;
    for (size_t i = 0; i < sources->rule_count; i++) {
        const model_rule *rule = &sources->rules[i];
        char file[PATH_MAX];
        rule_path(sources, rule, file);
        visit(directory, file, rule->name, NO_PLACE, &rule->options, sources);
    }
    for (size_t i = 0; i < sources->path_count; i++) {
        visit_directory(directory, sources, i);
    }
    drop_unseen(directory);
}
