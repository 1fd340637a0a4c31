/* SPDX-License-Identifier: BSD-2-Clause */
#include "golden.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 256, PATH_SIZE = 1024 };

static void stop(const char *file, const char *what) {
    fprintf(stderr, "reference values: %s: %s\n", file, what);
    abort();
}

/* Returns zeroed memory for at least one object. Aborts when out of memory. */
static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (!memory) {
        stop("golden", "out of memory");
    }
    return memory;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **golden_files(void) {
    DIR *directory = opendir(DYNAMICS_REFERENCE_DIR "/golden");
    if (!directory) {
        return NULL;
    }
    char **files = allocate(MAX_FILES, sizeof *files);
    int count = 0;
    for (struct dirent *entry; count < MAX_FILES && (entry = readdir(directory));) {
        const char *end = strrchr(entry->d_name, '.');
        if (end && strcmp(end, ".json") == 0) {
            files[count] = allocate(strlen(entry->d_name), 1);
            strcpy(files[count++], entry->d_name);
        }
    }
    closedir(directory);
    qsort(files, (size_t)count, sizeof *files, compare_names);
    return files;
}

void golden_files_free(char **files) {
    for (int i = 0; files && files[i]; i++) {
        free(files[i]);
    }
    free(files);
}

/* Returns the text of a file, which the caller frees, or NULL if the file does not exist. */
static char *read_text(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = allocate(*length, 1);
    if (fread(text, 1, *length, file) != *length) {
        stop(path, "cannot be read");
    }
    fclose(file);
    return text;
}

static size_t read_size(const json_t *object, const char *key) {
    return (size_t)json_integer_value(json_object_get(object, key));
}

static double number(const json_t *list, size_t index) {
    return json_number_value(json_array_get(list, index));
}

static bool load_robot(golden *g) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/robots/%s", DYNAMICS_REFERENCE_DIR,
             json_string_value(json_object_get(g->root, "robot")));
    size_t length;
    char *text = read_text(path, &length);
    if (!text) {
        printf("%s: skipped, %s is missing\n", g->name, path);
        return false;
    }
    bool floating = strcmp(json_string_value(json_object_get(g->root, "base")), "float") == 0;
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = floating ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                                             .mimic = DYN_MIMIC_POLICY_INDEPENDENT);
    dyn_error error;
    if (dyn_urdf_load(text, length, &options, NULL, &g->model, &error) != DYN_OK) {
        stop(path, error.message);
    }
    free(text);
    return true;
}

static const dyn_joint *own_joint(const golden *g, const json_t *joint) {
    const char *name = json_string_value(json_object_get(joint, "name"));
    int j = dyn_model_find_joint(g->model, name);
    if (j < 0) {
        stop(g->name, name);
    }
    return dyn_model_joint(g->model, j);
}

/* Copies the coordinates of one joint from a configuration of the reference to q of the model. If the reference has two
 * coordinates for a joint that has one in the model, they are the cosine and sine of its angle. */
static void read_q(const golden *g, const json_t *joint, const json_t *from, double *to) {
    const dyn_joint *own = own_joint(g, joint);
    size_t index = read_size(joint, "idx_q"), width = read_size(joint, "nq");
    if (width == 2 && own->nq == 1) {
        to[own->q_index] = atan2(number(from, index + 1), number(from, index));
        return;
    }
    for (size_t k = 0; k < width; k++) {
        to[(size_t)own->q_index + k] = number(from, index + k);
    }
}

static double *read_v(const golden *g, const char *field) {
    double *rows = allocate(g->count * g->nv, sizeof *rows);
    for (size_t s = 0; s < g->count; s++) {
        golden_rows(g, s, field, 1, rows + s * g->nv);
    }
    return rows;
}

/* Stores in v_map the indices of one joint's velocities. */
static void map_joint(golden *g, const json_t *joint) {
    const dyn_joint *own = own_joint(g, joint);
    for (size_t k = 0; k < (size_t)own->nv; k++) {
        g->v_map[read_size(joint, "idx_v") + k] = (size_t)own->v_index + k;
    }
}

const json_t *golden_field(const golden *g, size_t state, const char *field) {
    return json_object_get(json_array_get(g->states, state), field);
}

int golden_joint(const golden *g, size_t i) {
    const json_t *joint = json_array_get(json_object_get(g->root, "joints"), i);
    return dyn_model_find_joint(g->model, json_string_value(json_object_get(joint, "name")));
}

bool golden_configuration(const golden *g, size_t state, const char *field, double *out) {
    const json_t *from = golden_field(g, state, field), *joints = json_object_get(g->root, "joints"), *joint;
    size_t i;
    json_array_foreach(joints, i, joint) {
        if (from) {
            read_q(g, joint, from, out);
        }
    }
    return from != NULL;
}

/* Reads a file of reference values into g->root and loads its robot into g->model. Returns false, and owns nothing, if
 * the robot is missing. */
static bool open_robot(const char *file, golden *g) {
    char path[PATH_SIZE];
    json_error_t error;
    *g = (golden){.name = file};
    snprintf(path, sizeof path, "%s/golden/%s", DYNAMICS_REFERENCE_DIR, file);
    g->root = json_load_file(path, 0, &error);
    if (!g->root) {
        stop(path, error.text);
    }
    bool found = load_robot(g);
    if (!found) {
        json_decref(g->root);
    }
    return found;
}

dyn_model *golden_robot(const char *file) {
    golden g;
    if (!open_robot(file, &g)) {
        return NULL;
    }
    json_decref(g.root);
    return g.model;
}

bool golden_open(const char *file, golden *g) {
    if (!open_robot(file, g)) {
        return false;
    }
    g->states = json_object_get(g->root, "states");
    g->count = json_array_size(g->states);
    g->nq = (size_t)dyn_model_nq(g->model), g->nv = (size_t)dyn_model_nv(g->model);
    g->q = allocate(g->count * g->nq, sizeof *g->q);
    g->v_map = allocate(g->nv, sizeof *g->v_map);
    const json_t *joints = json_object_get(g->root, "joints"), *joint;
    size_t i;
    json_array_foreach(joints, i, joint) {
        map_joint(g, joint);
    }
    for (size_t s = 0; s < g->count; s++) {
        golden_configuration(g, s, "q", g->q + s * g->nq);
    }
    g->v = read_v(g, "v"), g->a = read_v(g, "a"), g->tau = read_v(g, "tau_in");
    return true;
}

void golden_close(golden *g) {
    free(g->q), free(g->v), free(g->a), free(g->tau), free(g->v_map);
    dyn_model_free(g->model);
    json_decref(g->root);
}

/* Copies `rows` rows of nv numbers of a field to the rows row_map[0], row_map[1], ... of `out`, with columns in the
 * model's order. row_map NULL: rows remain in order. Returns false if the state lacks the field. Aborts if the field
 * has another length. */
static bool read_rows(const golden *g, size_t state, const char *field, size_t rows, const size_t *row_map,
                      double *out) {
    const json_t *from = golden_field(g, state, field);
    if (!from) {
        return false;
    }
    if (json_array_size(from) != rows * g->nv) {
        stop(g->name, field);
    }
    for (size_t i = 0; i < rows; i++) {
        size_t row = row_map ? row_map[i] : i;
        for (size_t k = 0; k < g->nv; k++) {
            out[row * g->nv + g->v_map[k]] = number(from, i * g->nv + k);
        }
    }
    return true;
}

bool golden_rows(const golden *g, size_t state, const char *field, size_t rows, double *out) {
    return read_rows(g, state, field, rows, NULL, out);
}

bool golden_square(const golden *g, size_t state, const char *field, double *out) {
    return read_rows(g, state, field, g->nv, g->v_map, out);
}
