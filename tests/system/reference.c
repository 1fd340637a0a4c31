/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads reference values of real robots and compares results of the daemon with them.
 */
#include "system/reference.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

static const double TOLERANCE = 1e-10;

enum { MAX_FILES = 128 };

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    ck_assert_uint_eq(fread(text, 1, (size_t)size, file), (size_t)size);
    fclose(file);
    return text;
}

size_t read_size(const json_t *object, const char *key) {
    return (size_t)json_integer_value(json_object_get(object, key));
}

double at(const json_t *list, size_t index) {
    return json_number_value(json_array_get(list, index));
}

const dyn_client_joint *find_joint(const dyn_client_description *robot, const char *name) {
    for (size_t i = 0; i < robot->joint_count; i++) {
        if (strcmp(robot->joints[i].name, name) == 0) {
            return &robot->joints[i];
        }
    }
    ck_abort_msg("%s has no joint %s", robot->model.name, name);
    return NULL;
}

/* Copies the coordinates of a joint of the reference to the robot's order. Where the robot's joint has one coordinate
 * and the reference two numbers, these are the cosine and sine of the angle. */
static void read_q(const reference *of, const json_t *joint, const json_t *from, double *to) {
    const dyn_client_joint *own = find_joint(of->robot, json_string_value(json_object_get(joint, "name")));
    size_t index = read_size(joint, "idx_q"), width = read_size(joint, "nq");
    if (width == 2 && own->nq == 1) {
        to[own->q_index] = atan2(at(from, index + 1), at(from, index));
        return;
    }
    ck_assert_uint_eq(own->nq, width);
    for (size_t k = 0; k < width; k++) {
        to[own->q_index + k] = at(from, index + k);
    }
}

static void map_velocities(reference *of) {
    for (size_t i = 0; i < json_array_size(of->joints); i++) {
        const json_t *joint = json_array_get(of->joints, i);
        const dyn_client_joint *own = find_joint(of->robot, json_string_value(json_object_get(joint, "name")));
        ck_assert_uint_eq(own->nv, read_size(joint, "nv"));
        for (size_t k = 0; k < own->nv; k++) {
            of->v_map[read_size(joint, "idx_v") + k] = own->v_index + k;
        }
    }
}

/* Returns rows of a field with nv numbers, in the robot's order; the caller frees them. */
static double *read_velocities(const reference *of, const char *field) {
    double *rows = calloc(of->count * of->nv + 1, sizeof *rows);
    for (size_t s = 0; s < of->count; s++) {
        const json_t *from = json_object_get(json_array_get(of->states, s), field);
        ck_assert_uint_eq(json_array_size(from), of->nv);
        for (size_t k = 0; k < of->nv; k++) {
            rows[s * of->nv + of->v_map[k]] = at(from, k);
        }
    }
    return rows;
}

static void load_robot(reference *of, const char *name) {
    dyn_client_error error;
    dyn_client_loaded_model *loaded;
    char path[1024];
    snprintf(path, sizeof path, "%s/robots/%s", DYNAMICS_REFERENCE_DIR,
             json_string_value(json_object_get(of->root, "robot")));
    char *urdf = read_text(path);
    ck_assert_ptr_nonnull(urdf);
    bool floating = strcmp(json_string_value(json_object_get(of->root, "base")), "float") == 0;
    dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = urdf, .name = name,
                                     .base = floating ? DYN_CLIENT_BASE_FLOATING : DYN_CLIENT_BASE_FIXED,
                                     .mimic = DYN_CLIENT_MIMIC_POLICY_INDEPENDENT);
    if (dyn_client_load_model(of->client, &request, &loaded, &error) != DYN_CLIENT_OK) {
        ck_abort_msg("load %s: %s %s", path, error.field, error.message);
    }
    dyn_client_loaded_model_free(loaded);
    free(urdf);
    if (dyn_client_describe_model(of->client, name, 0, &of->robot, &error) != DYN_CLIENT_OK) {
        ck_abort_msg("describe %s: %s", name, error.message);
    }
}

void reference_open(reference *of, const char *address, const char *file) {
    char path[1024], name[256];
    json_error_t error;
    *of = (reference){0};
    snprintf(path, sizeof path, "%s/golden/%s", DYNAMICS_REFERENCE_DIR, file);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "."), file);
    of->root = json_load_file(path, 0, &error);
    ck_assert_msg(of->root != NULL, "%s:%d: %s", path, error.line, error.text);
    of->joints = json_object_get(of->root, "joints");
    of->states = json_object_get(of->root, "states");
    of->count = json_array_size(of->states);
    of->nq = read_size(of->root, "nq");
    of->nv = read_size(of->root, "nv");
    dyn_client_error refused;
    if (dyn_client_connect(address, NULL, &of->client, &refused) != DYN_CLIENT_OK) {
        ck_abort_msg("%s", refused.message);
    }
    load_robot(of, name);
    ck_assert_uint_eq(of->robot->model.nv, of->nv);
    of->v_map = calloc(of->nv + 1, sizeof *of->v_map);
    map_velocities(of);
    of->q = calloc(of->count * of->robot->model.nq + 1, sizeof *of->q);
    for (size_t s = 0; s < of->count; s++) {
        for (size_t i = 0; i < json_array_size(of->joints); i++) {
            read_q(of, json_array_get(of->joints, i), json_object_get(json_array_get(of->states, s), "q"),
                   of->q + s * of->robot->model.nq);
        }
    }
    of->v = read_velocities(of, "v");
    of->a = read_velocities(of, "a");
    of->tau = read_velocities(of, "tau_in");
    of->query = (dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = of->robot->model.name, .nq = of->robot->model.nq,
                                                        .nv = of->nv, .samples = of->count);
}

void reference_use_names(reference *of) {
    size_t count = json_array_size(of->joints), nq = of->robot->model.nq, next = 0;
    double *arrays[] = {of->v, of->a, of->tau}, *q = calloc(of->count * nq + 1, sizeof *q);
    double *row = calloc(of->nv + 1, sizeof *row);
    of->names = calloc(count + 1, sizeof *of->names);
    for (size_t i = 0; i < count; i++) {
        of->names[i] = json_string_value(json_object_get(json_array_get(of->joints, i), "name"));
        const dyn_client_joint *own = find_joint(of->robot, of->names[i]);
        for (size_t s = 0; s < of->count; s++) {
            memcpy(q + s * nq + next, of->q + s * nq + own->q_index, own->nq * sizeof *q);
        }
        next += own->nq;
    }
    for (size_t k = 0; k < 3; k++) {
        for (size_t s = 0; s < of->count; s++) {
            memcpy(row, arrays[k] + s * of->nv, of->nv * sizeof *row);
            for (size_t j = 0; j < of->nv; j++) {
                arrays[k][s * of->nv + j] = row[of->v_map[j]];
            }
        }
    }
    for (size_t j = 0; j < of->nv; j++) {
        of->v_map[j] = j;
    }
    free(row);
    free(of->q);
    of->q = q;
    of->query.joint_count = count;
    of->query.joint_names = of->names;
}

void reference_close(reference *of) {
    free(of->names);
    free(of->q);
    free(of->v);
    free(of->a);
    free(of->tau);
    free(of->v_map);
    dyn_client_description_free(of->robot);
    dyn_client_close(of->client);
    json_decref(of->root);
}

/* ---- comparison -------------------------------------------------------------------------------------------------- */

void add(deviation *to, double computed, double expected) {
    to->difference += (computed - expected) * (computed - expected);
    to->norm += expected * expected;
}

static double worst;
static char worst_place[256];

void check(const reference *of, const char *quantity, size_t state, deviation found) {
    check_within(of, quantity, state, found, TOLERANCE);
}

void check_within(const reference *of, const char *quantity, size_t state, deviation found, double tolerance) {
    double scale = found.norm > 0 ? sqrt(found.norm) : 1;
    if (sqrt(found.difference) / scale > worst) {
        worst = sqrt(found.difference) / scale;
        snprintf(worst_place, sizeof worst_place, "%s of %s, state %zu", quantity, of->robot->model.name, state);
    }
    ck_assert_msg(sqrt(found.difference) <= tolerance * scale, "%s, %s, state %zu: differs by %g of its norm %g",
                  of->robot->model.name, quantity, state, sqrt(found.difference) / scale, sqrt(found.norm));
}

void must(const reference *of, const char *call, dyn_client_status status, const dyn_client_error *error) {
    if (status != DYN_CLIENT_OK) {
        ck_abort_msg("%s of %s: %s %s", call, of->robot->model.name, error->field, error->message);
    }
}

bool has(const reference *of, const char *field) {
    return json_object_get(json_array_get(of->states, 0), field) != NULL;
}

const char *frame_of(const reference *of) {
    return json_string_value(json_object_get(json_object_get(of->root, "ee_frame"), "name"));
}

void reference_summarize(int robots) {
    printf("%d robots compared; largest relative deviation %.2g (%s)\n", robots, worst, worst_place);
}

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

dyn_client_evaluation *reference_evaluate(const reference *of, size_t count, const dyn_client_quantity *quantities,
                                          dyn_client_reference_frame reference_frame) {
    dyn_client_error error;
    dyn_client_evaluation *answer;
    const char *frame = frame_of(of);
    quantity_question request = {.q = of->q,
                                 .v = of->v,
                                 .a = of->a,
                                 .tau = of->tau,
                                 .dq = of->dq,
                                 .dv = of->dv,
                                 .da = of->da,
                                 .dtau = of->dtau,
                                 .quantity_count = count,
                                 .quantities = quantities,
                                 .frame_count = 1,
                                 .frames = &frame,
                                 .reference_frame = reference_frame};
    must(of, "evaluate", evaluate_quantities(of->client, &of->query, &request, &error, &answer), &error);
    ck_assert_uint_eq(answer->result_count, count);
    return answer;
}

void reference_multiply(const reference *of, const dyn_client_block *matrix, size_t s, const double *vector,
                        double *product) {
    for (size_t i = 0; i < matrix->width / of->nv; i++) {
        product[i] = 0;
        for (size_t k = 0; k < of->nv; k++) {
            product[i] += matrix->values[s * matrix->width + i * of->nv + k] * vector[k];
        }
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Returns whether the robot of this file has a description; prints a line where it has none. */
static bool has_robot(const char *file) {
    char path[1024];
    snprintf(path, sizeof path, "%s/golden/%s", DYNAMICS_REFERENCE_DIR, file);
    json_t *root = json_load_file(path, 0, NULL);
    const char *robot = json_string_value(json_object_get(root, "robot"));
    snprintf(path, sizeof path, "%s/robots/%s", DYNAMICS_REFERENCE_DIR, robot ? robot : "");
    FILE *urdf = robot ? fopen(path, "r") : NULL;
    if (urdf) {
        fclose(urdf);
    } else {
        printf("no description for %s: left out\n", file);
    }
    json_decref(root);
    return urdf != NULL;
}

char **reference_files(int *count) {
    char **files = calloc(MAX_FILES, sizeof *files);
    *count = 0;
    DIR *directory = opendir(DYNAMICS_REFERENCE_DIR "/golden");
    struct dirent *entry;
    while (directory && (entry = readdir(directory)) && *count < MAX_FILES) {
        const char *suffix = strrchr(entry->d_name, '.');
        if (suffix && strcmp(suffix, ".json") == 0 && has_robot(entry->d_name)) {
            files[(*count)++] = strdup(entry->d_name);
        }
    }
    if (directory) {
        closedir(directory);
    }
    return files;
}

void reference_files_free(char **files, int count) {
    for (int i = 0; i < count; i++) {
        free(files[i]);
    }
    free(files);
}
