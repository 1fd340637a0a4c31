/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares placements and merged inertias of real robots with reference values (Pinocchio 3.7.0 in long double). Fails
 * if the directory of the reference values is missing.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "lib/src/model/normal_form.h"
#include "lib/src/model/placement.h"
#include "robots.h"

static const double tolerance = 1e-12;

static void read_numbers(const json_t *array, int count, double *values) {
    ck_assert_uint_eq(json_array_size(array), (size_t)count);
    for (int i = 0; i < count; i++) {
        values[i] = json_number_value(json_array_get(array, (size_t)i));
    }
}

/* Returns the inverse of a pose: the pose of A in B for that of B in A. */
static dyn_pose inverse(const dyn_pose *pose) {
    dyn_pose result;
    rotation_transpose(pose->rotation, result.rotation);
    rotation_apply(result.rotation, pose->position, result.position);
    for (int i = 0; i < 3; i++) {
        result.position[i] = -result.position[i];
    }
    return result;
}

static void expect_near(const char *what, const char *joint, const double *actual, const double *expected, int count,
                        double scale) {
    for (int i = 0; i < count; i++) {
        ck_assert_msg(fabs(actual[i] - expected[i]) <= tolerance * scale, "joint %s: %s[%d] is %.17g, not %.17g", joint,
                      what, i, actual[i], expected[i]);
    }
}

/* Returns the index of the body that carries a joint's child link, and the link's pose in the body. */
static const body_frame *child_frame(const dyn_model *model, const char *name) {
    int joint = dyn_model_find_joint(model, name);
    ck_assert_msg(joint >= 0, "joint %s is missing", name);
    return &model->frames[dyn_model_joint(model, joint)->child_link];
}

/* Compares the merged inertia of the body that a joint moves with the reference: mass, centre of mass and rotational
 * inertia in the axes of the joint's child link. */
static void compare_inertia(const dyn_model *model, const char *name, const double reference[10]) {
    const body_frame *frame = child_frame(model, name);
    const body *b = &model->bodies[frame->body];
    mass_properties own = {.mass = b->mass};
    memcpy(own.first_moment, b->first_moment, sizeof own.first_moment);
    memcpy(own.inertia, b->inertia, sizeof own.inertia);
    dyn_pose to_link = inverse(&frame->pose);
    mass_properties in_link = mass_properties_move(&to_link, &own);

    /* The reference states xx xy yy xz yz zz about the centre of mass. */
    const double *c = reference + 1, *I = reference + 4;
    dyn_inertia expected = {
        .mass = reference[0], .center_of_mass = {c[0], c[1], c[2]}, .rotational = {I[0], I[1], I[3], I[2], I[4], I[5]}};
    mass_properties about_origin = link_mass_properties(&expected, &identity_pose);
    double mass = reference[0], length = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
    double trace = about_origin.inertia[0] + about_origin.inertia[3] + about_origin.inertia[5];
    expect_near("mass", name, &in_link.mass, &about_origin.mass, 1, mass);
    expect_near("first moment", name, in_link.first_moment, about_origin.first_moment, 3, mass * (length + 1e-3));
    expect_near("inertia", name, in_link.inertia, about_origin.inertia, 6, trace);
}

/* Compares the placement of a joint's child link in that of the parent joint, or in the world without one, with the
 * reference: rotation, then position. */
static void compare_placement(const dyn_model *model, const char *name, const char *parent,
                              const double reference[12]) {
    const body_frame *frame = child_frame(model, name);
    const body *b = &model->bodies[frame->body];
    dyn_pose joint, in_body, in_parent;
    memcpy(joint.rotation, b->rotation, sizeof joint.rotation);
    memcpy(joint.position, b->position, sizeof joint.position);
    pose_compose(&joint, &frame->pose, &in_body);
    dyn_pose from_body = identity_pose;
    if (parent) {
        const body_frame *parent_frame = child_frame(model, parent);
        ck_assert_msg(parent_frame->body == b->parent, "joint %s does not hang on joint %s", name, parent);
        from_body = inverse(&parent_frame->pose);
    } else {
        ck_assert_int_eq(b->parent, -1);
    }
    pose_compose(&from_body, &in_body, &in_parent);
    expect_near("rotation", name, in_parent.rotation, reference, 9, 1);
    expect_near("position", name, in_parent.position, reference + 9, 3, 1);
}

static void compare_robot(const json_t *reference, const dyn_model *model) {
    const json_t *joints = json_object_get(reference, "joints"), *joint;
    ck_assert_int_eq(dyn_model_nv(model), (int)json_integer_value(json_object_get(reference, "nv")));
    ck_assert_uint_eq((size_t)dyn_model_joint_count(model), json_array_size(joints));
    size_t i;
    json_array_foreach(joints, i, joint) {
        double placement[12], inertia[10];
        const char *name = json_string_value(json_object_get(joint, "name"));
        json_int_t parent = json_integer_value(json_object_get(joint, "parent"));
        const json_t *above = json_array_get(joints, (size_t)(parent - 1));
        read_numbers(json_object_get(joint, "R9p3"), 12, placement);
        read_numbers(json_object_get(joint, "m_c_Icom6(xx,xy,yy,xz,yz,zz)"), 10, inertia);
        compare_placement(model, name, parent > 0 ? json_string_value(json_object_get(above, "name")) : NULL,
                          placement);
        compare_inertia(model, name, inertia);
    }
}

static char *path_of(const char *directory, const char *file) {
    char *path;
    ck_assert_int_ge(asprintf(&path, "%s/%s/%s", DYNAMICS_REFERENCE_DIR, directory, file), 0);
    return path;
}

/* Compares a robot with one file of reference values. Returns false if the robot's file is missing. */
static bool compare_file(const char *file) {
    char *path = path_of("golden", file);
    json_t *reference = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(reference);
    free(path);
    path = path_of("robots", json_string_value(json_object_get(reference, "robot")));
    size_t length;
    char *text = read_whole_file(path, &length);
    if (text) {
        bool floating = strcmp(json_string_value(json_object_get(reference, "base")), "float") == 0;
        const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = floating ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                                                 .mimic = DYN_MIMIC_POLICY_INDEPENDENT);
        dyn_model *model = load_urdf(text, &options, NULL);
        compare_robot(reference, model);
        dyn_model_free(model);
    }
    free(path);
    free(text);
    json_decref(reference);
    return text != NULL;
}

START_TEST(real_robots_agree_with_reference_values) {
    DIR *directory = opendir(DYNAMICS_REFERENCE_DIR "/golden");
    ck_assert_ptr_nonnull(directory);
    int compared = 0, files = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        const char *suffix = strrchr(entry->d_name, '.');
        if (suffix && strcmp(suffix, ".json") == 0) {
            files++;
            compared += compare_file(entry->d_name);
        }
    }
    closedir(directory);
    printf("%d robots of %d files compared\n", compared, files);
    ck_assert_int_ge(files, 6);
    /* The full set of reference values has one file whose robot is not part of it. */
    ck_assert_int_ge(compared, files > 6 ? files - 1 : files);
}
END_TEST

START_TEST(real_robots_load_with_either_base) {
    DIR *directory = opendir(DYNAMICS_REFERENCE_DIR "/robots");
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        const char *suffix = strrchr(entry->d_name, '.');
        if (!suffix || strcmp(suffix, ".urdf") != 0) {
            continue;
        }
        size_t length;
        char *path = path_of("robots", entry->d_name), *text = read_whole_file(path, &length);
        for (int k = 0; k < 4; k++) {
            const dyn_build_options options =
                DYN_BUILD_OPTIONS_INIT(.base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                       .mimic = k / 2 ? DYN_MIMIC_POLICY_INDEPENDENT : DYN_MIMIC_POLICY_COUPLED);
            dyn_model *model;
            dyn_error error;
            dyn_status status = dyn_urdf_load(text, length, &options, NULL, &model, &error);
            ck_assert_msg(status == DYN_OK, "%s: %s: %s", entry->d_name, error.place, error.message);
            dyn_model_free(model);
        }
        free(path);
        free(text);
    }
    closedir(directory);
}
END_TEST

int main(void) {
    DIR *directory = opendir(DYNAMICS_REFERENCE_DIR "/golden");
    if (!directory) {
        printf("there are no reference values in %s\n", DYNAMICS_REFERENCE_DIR);
        return EXIT_FAILURE;
    }
    closedir(directory);
    TCase *tests = tcase_create("reference_inertias");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, real_robots_agree_with_reference_values);
    tcase_add_test(tests, real_robots_load_with_either_base);
    return run_tests(tests);
}
