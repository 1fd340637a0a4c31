/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/closed_loop_reference.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/assertions.h"

const char *const closed_loop_robots[] = {"5bar_linkage", "5bar_linkage_iso3d", "cassie_like", "talos_like", NULL};

static char *read_text(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(*length + 1, 1);
    ck_assert(text && fread(text, 1, *length, file) == *length);
    fclose(file);
    return text;
}

/* Reads DIRECTORY/NAME, where NAME ends with `suffix` instead of ".urdf". */
static char *read_beside(const json_t *root, const char *directory, const char *suffix, size_t *length) {
    char path[1024];
    const char *urdf = json_string_value(json_object_get(root, "robot"));
    int stem = (int)(strlen(urdf) - strlen(".urdf"));
    snprintf(path, sizeof path, "%s/%.*s%s", directory, stem, urdf, suffix);
    char *text = read_text(path, length);
    ck_assert_msg(text != NULL, "%s cannot be read", path);
    return text;
}

/* Asserts that the constraints of the robot are those of the reference, in the same order. */
static void check_constraints(const json_t *root, const dyn_builder *builder, const dyn_model *model) {
    dyn_error error;
    const json_t *constraints = json_object_get(root, "constraints");
    ck_assert_int_eq(dyn_builder_constraint_count(builder), (int)json_array_size(constraints));
    for (size_t i = 0; i < json_array_size(constraints); i++) {
        const json_t *each = json_array_get(constraints, i);
        const dyn_constraint_description *c = dyn_builder_constraint(builder, (int)i);
        bool is_fixed = strcmp(json_string_value(json_object_get(each, "type")), "6d") == 0;
        const char *const frames[2] = {json_string_value(json_object_get(each, "a")),
                                       json_string_value(json_object_get(each, "b"))};
        for (int side = 0; side < 2; side++) {
            int link;
            require(dyn_model_find_frame(model, frames[side], &link, &error), &error);
            ck_assert_str_eq((side ? &c->successor : &c->predecessor)->link, dyn_model_link(model, link)->name);
        }
        ck_assert_int_eq(c->type, is_fixed ? DYN_JOINT_TYPE_FIXED : DYN_JOINT_TYPE_SPHERICAL);
    }
}

/* Loads the robot that a reference file names, with the loops of the YAML file beside it. */
static void load_robot(const char *directory, closed_loop_reference *to) {
    size_t urdf_length, loops_length;
    dyn_error error;
    dyn_builder *builder;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.mimic = DYN_MIMIC_POLICY_INDEPENDENT);
    to->urdf = read_beside(to->root, directory, ".urdf", &urdf_length);
    to->loops = read_beside(to->root, directory, ".yaml", &loops_length);
    require(dyn_urdf_read(to->urdf, urdf_length, NULL, &builder, &error), &error);
    require(dyn_builder_read_loops(builder, to->loops, loops_length, NULL, &error), &error);
    require(dyn_builder_build(builder, &options, NULL, &to->model, &error), &error);
    check_constraints(to->root, builder, to->model);
    dyn_builder_free(builder);
}

/* Copies the field q, v, tau or a of one state to x, in the model's order. Each joint must have one velocity. */
static void load_numbers(const json_t *root, const json_t *state, const char *field, const dyn_model *model,
                         double *x) {
    const json_t *joints = json_object_get(root, "joints");
    bool is_q = strcmp(field, "q") == 0;
    for (size_t j = 0; j < json_array_size(joints); j++) {
        const json_t *each = json_array_get(joints, j);
        const dyn_joint *joint =
            dyn_model_joint(model, dyn_model_find_joint(model, json_string_value(json_object_get(each, "name"))));
        ck_assert(joint && joint->nv == 1);
        size_t at = (size_t)json_integer_value(json_object_get(each, is_q ? "idx_q" : "idx_v"));
        x[is_q ? joint->q_index : joint->v_index] =
            json_number_value(json_array_get(json_object_get(state, field), at));
    }
}

/* Copies the multipliers of a state to the library's order. A constraint of six rows has its linear multipliers first
 * in the reference, its angular ones first in the library. */
static void load_multipliers(const json_t *state, const dyn_model *model, double *lambda) {
    const json_t *from = json_object_get(state, "constraint_force_minimum_norm");
    for (int i = 0; i < dyn_model_constraint_count(model); i++) {
        const dyn_constraint *c = dyn_model_constraint(model, i);
        for (int r = 0; r < c->row_count; r++) {
            int other = c->row_count == 6 ? (r + 3) % 6 : r;
            lambda[c->first_row + r] = json_number_value(json_array_get(from, (size_t)(c->first_row + other)));
        }
    }
}

bool closed_loop_reference_exists(const char *directory) {
    char path[1024];
    snprintf(path, sizeof path, "%s/README.txt", directory);
    FILE *file = fopen(path, "r");
    return file && fclose(file) == 0;
}

void closed_loop_reference_open(const char *directory, const char *robot, closed_loop_reference *opened) {
    char path[1024];
    size_t length;
    snprintf(path, sizeof path, "%s/golden/%s.json", directory, robot);
    char *text = read_text(path, &length);
    ck_assert_msg(text != NULL, "%s cannot be read", path);
    *opened = (closed_loop_reference){.root = json_loadb(text, length, 0, NULL)};
    ck_assert(opened->root);
    free(text);
    load_robot(directory, opened);
    opened->state_count = json_array_size(json_object_get(opened->root, "states"));
    opened->nq = (size_t)dyn_model_nq(opened->model);
    opened->nv = (size_t)dyn_model_nv(opened->model);
    opened->m = (size_t)dyn_model_constraint_rows(opened->model);
}

void closed_loop_reference_close(closed_loop_reference *closed) {
    json_decref(closed->root);
    dyn_model_free(closed->model);
    free(closed->urdf);
    free(closed->loops);
}

void closed_loop_reference_state(const closed_loop_reference *from, size_t s, closed_loop_state *to) {
    const json_t *state = json_array_get(json_object_get(from->root, "states"), s);
    load_numbers(from->root, state, "q", from->model, to->q);
    load_numbers(from->root, state, "v", from->model, to->v);
    load_numbers(from->root, state, "tau", from->model, to->tau);
    load_numbers(from->root, state, "a", from->model, to->a);
    load_multipliers(state, from->model, to->lambda);
    to->rank = (int)json_integer_value(json_object_get(state, "rank"));
}
