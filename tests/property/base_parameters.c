/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks base parameters: they produce the torques of any parameters, their number is the rank of the regressor, and
 * for robots of the literature the published number.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/base_parameters.h"
#include "support/random_tree.h"

enum { CASES = 60 };

static const double PI = 3.14159265358979323846;

static dyn_model *random_robot(random_source *random, int k, int joints, dyn_mimic_policy mimic) {
    random_tree_options options = {.joints = joints,
                                   .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .mimic = mimic,
                                   .with_mimic = k % 3 == 0,
                                   .with_custom = k % 4 == 1,
                                   .with_fixed = true};
    return random_tree(random, &options);
}

START_TEST(base_parameters_make_the_torques) {
    random_source base = random_seed("Y_b B p = Y p", 20261241);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_robot(&random, k, k % 3 ? 1 + k : 1 + k % 12, DYN_MIMIC_POLICY_COUPLED);
        dyn_base_parameters *grouping = NULL;
        double gravity[3];
        random_vector(&random, 3, 10, gravity);
        require(dyn_base_parameters_create(model, gravity, &grouping, &error), &error);
        check_base_torques(&random, "random tree", model, gravity, grouping);
        dyn_base_parameters_free(grouping);
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(there_are_as_many_as_the_regressor_has_rank) {
    random_source base = random_seed("rank of the regressor", 20261242);
    dyn_error error;
    for (int k = 0; k < 40; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_robot(&random, k, 1 + k % 7, DYN_MIMIC_POLICY_COUPLED);
        dyn_base_parameters *grouping = NULL;
        char name[16];
        snprintf(name, sizeof name, "case %d", k);
        require(dyn_base_parameters_create(model, NULL, &grouping, &error), &error);
        check_base_count(&random, name, model, NULL, grouping);
        dyn_base_parameters_free(grouping);
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(coupled_mimic_joints_have_the_rank_of_their_regressor) {
    random_source base = random_seed("rank with coupled mimic joints", 20261248);
    dyn_error error;
    for (int k = 0; k < 100; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_robot(&random, 6 * k, 3 + k % 7, DYN_MIMIC_POLICY_COUPLED);
        dyn_base_parameters *grouping = NULL;
        char name[16];
        snprintf(name, sizeof name, "case %d", k);
        require(dyn_base_parameters_create(model, NULL, &grouping, &error), &error);
        check_base_count(&random, name, model, NULL, grouping);
        check_base_torques(&random, name, model, NULL, grouping);
        dyn_base_parameters_free(grouping);
        dyn_model_free(model);
    }
}
END_TEST

/* ---- axes that are parallel or perpendicular but for rounding ---------------------------------------------------- */

/* Computes the rotation by an angle about a unit axis (Rodrigues). */
static void turn(const double axis[3], double angle, double R[9]) {
    const double cross[9] = {0, -axis[2], axis[1], axis[2], 0, -axis[0], -axis[1], axis[0], 0};
    for (int i = 0; i < 9; i++) {
        double unit = i % 4 == 0 ? 1 : 0;
        R[i] = cos(angle) * unit + sin(angle) * cross[i] + (1 - cos(angle)) * axis[i / 3] * axis[i % 3];
    }
}

/* Chooses a random one of the 24 rotations of a cube: rows are the axes of coordinates, in some order and sense. */
static void cube_turn(random_source *random, double R[9]) {
    int x = random_index(random, 3), y = (x + 1 + random_index(random, 2)) % 3, z = 3 - x - y;
    double u = random_index(random, 2) ? 1 : -1, v = random_index(random, 2) ? 1 : -1;
    memset(R, 0, 9 * sizeof *R);
    R[x] = u, R[3 + y] = v, R[6 + z] = ((y - x + 3) % 3 == 1 ? 1 : -1) * u * v;
}

static void multiply(const double A[9], const double B[9], double out[9]) {
    for (int i = 0; i < 9; i++) {
        out[i] = A[i / 3 * 3] * B[i % 3] + A[i / 3 * 3 + 1] * B[3 + i % 3] + A[i / 3 * 3 + 2] * B[6 + i % 3];
    }
}

/* Adds joint number k of a robot with perpendicular or parallel axes, rotated and moved by an error of size `slip`. */
static void add_square_joint(random_source *random, dyn_builder *builder, int k, double slip) {
    static const dyn_joint_type types[] = {
        DYN_JOINT_TYPE_REVOLUTE,  DYN_JOINT_TYPE_REVOLUTE,  DYN_JOINT_TYPE_CONTINUOUS,  DYN_JOINT_TYPE_PRISMATIC,
        DYN_JOINT_TYPE_PRISMATIC, DYN_JOINT_TYPE_HELICAL,   DYN_JOINT_TYPE_CYLINDRICAL, DYN_JOINT_TYPE_UNIVERSAL,
        DYN_JOINT_TYPE_PLANAR,    DYN_JOINT_TYPE_SPHERICAL, DYN_JOINT_TYPE_FIXED,       DYN_JOINT_TYPE_FLOATING};
    char name[16], parent[16], child[16];
    snprintf(name, sizeof name, "joint%d", k);
    snprintf(parent, sizeof parent, "link%d", random_index(random, 3) ? k - 1 : random_index(random, k));
    snprintf(child, sizeof child, "link%d", k);
    /* Few trees contain a floating joint, because no parameter of its link is regrouped. */
    int kinds = (int)(sizeof types / sizeof types[0]) - (random_index(random, 4) ? 1 : 0);
    dyn_joint_description joint = {.name = name,
                                   .type = types[random_index(random, kinds)],
                                   .parent_link = parent,
                                   .child_link = child,
                                   .axis = {0, 0, 1},
                                   .second_axis = {0, 1, 0},
                                   .pitch = 0.1};
    double axis[3], error[9], square[9], shift[3];
    cube_turn(random, square);
    random_unit(random, 3, axis);
    turn(axis, slip, error);
    multiply(square, error, joint.rotation);
    random_unit(random, 3, shift);
    for (int i = 0; i < 3; i++) {
        joint.position[i] = random_index(random, 2) * random_uniform(random, -0.5, 0.5) + slip * shift[i];
    }
    dyn_inertia inertia = {.mass = 1, .center_of_mass = {0.1, 0.2, 0.3}, .rotational = {1, 0, 0, 1, 0, 1}};
    dyn_link_description link = {.name = child, .inertia = inertia};
    dyn_error why;
    require(dyn_builder_add_joint(builder, &joint, &why), &why);
    require(dyn_builder_add_link(builder, &link, &why), &why);
}

/* Builds a tree with perpendicular or parallel axes whose joints are rotated and moved by an error of size `slip`. The
 * random source is passed by value, so that a source yields one tree for all sizes of the error. */
static dyn_model *square_tree(random_source random, int joints, double slip) {
    dyn_builder *builder = NULL;
    dyn_model *model = NULL;
    dyn_error error;
    require(dyn_builder_create("square", &builder, &error), &error);
    require(dyn_builder_add_link(builder, &(dyn_link_description){.name = "link0"}, &error), &error);
    for (int k = 1; k <= joints; k++) {
        add_square_joint(&random, builder, k, slip);
    }
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Returns a hash of the columns of the base parameters. */
static uint64_t mix_columns(const dyn_base_parameters *grouping) {
    const int *columns = dyn_base_parameters_columns(grouping);
    uint64_t mixed = 0;
    for (int i = 0; i < dyn_base_parameters_count(grouping); i++) {
        mixed = 1000003 * mixed + (uint64_t)columns[i];
    }
    return mixed;
}

/* Returns the number of base parameters of a tree of square_tree, after comparing it with the rank of the regressor and
 * checking the torques; `columns` receives a hash of the columns. `number` names the case in messages. */
static int square_tree_count(random_source random, int number, int joints, double slip, uint64_t *columns) {
    dyn_base_parameters *grouping = NULL;
    dyn_error error;
    char name[64];
    snprintf(name, sizeof name, "case %d: %d joints, error %g", number, joints, slip);
    dyn_model *model = square_tree(random, joints, slip);
    require(dyn_base_parameters_create(model, NULL, &grouping, &error), &error);
    int count = dyn_base_parameters_count(grouping);
    *columns = mix_columns(grouping);
    if (dyn_model_nv(model) > 0) {
        check_base_count(&random, name, model, NULL, grouping);
        check_base_torques(&random, name, model, NULL, grouping);
    }
    dyn_base_parameters_free(grouping);
    dyn_model_free(model);
    return count;
}

START_TEST(axes_turned_by_rounding_leave_the_base_parameters) {
    static const double slips[] = {6.123e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12};
    random_source base = random_seed("axes turned by rounding", 20261245);
    for (int k = 0; k < 60; k++) {
        random_source random = random_case(base, (uint64_t)k);
        uint64_t columns, exact_columns;
        int exact = square_tree_count(random, k, 1 + k % 8, 0, &exact_columns);
        for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++) {
            ck_assert_int_eq(square_tree_count(random, k, 1 + k % 8, slips[i], &columns), exact);
            ck_assert_uint_eq(columns, exact_columns);
        }
    }
}
END_TEST

START_TEST(axes_turned_by_a_real_angle_do_not_count_as_parallel) {
    random_source base = random_seed("axes turned by an angle", 20261246);
    int more = 0;
    for (int k = 0; k < 60; k++) {
        random_source random = random_case(base, (uint64_t)k);
        uint64_t columns;
        int exact = square_tree_count(random, k, 1 + k % 8, 0, &columns);
        int turned = square_tree_count(random, k, 1 + k % 8, 1e-3, &columns);
        ck_assert_int_ge(turned, exact);
        more += turned > exact;
    }
    ck_assert_int_ge(more, 20);
}
END_TEST

/* Checks that angles near 6.123e-17, the value of cos(pi/2) in double precision, which exporters write in place of
 * zero, count as zero. */
START_TEST(an_exporters_zero_is_an_angle_of_zero) {
    static const char format[] =
        "<robot name='r'><link name='base'/>"
        "<joint name='a' type='prismatic'><origin rpy='%s 0 0'/><parent link='base'/><child link='1'/>"
        "<axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
        "<joint name='b' type='continuous'><origin xyz='0 0 0.3'/><parent link='1'/><child link='2'/>"
        "<axis xyz='0 0 1'/></joint>"
        "<joint name='c' type='continuous'><origin xyz='0.1 0 0.2' rpy='%s 0 0'/><parent link='2'/><child link='3'/>"
        "<axis xyz='0 1 0'/></joint>%s%s%s</robot>";
    static const char inertia[] = "<inertial><origin xyz='0.1 0.2 0.3'/><mass value='1'/>"
                                  "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>";
    static const char *const angles[] = {"0", "-6.123e-17", "6.123e-17", "1e-12"};
    random_source random = random_seed("an exporter's zero", 20261247);
    for (size_t i = 0; i < sizeof angles / sizeof angles[0]; i++) {
        char links[3][256], text[3000];
        for (int k = 0; k < 3; k++) {
            snprintf(links[k], sizeof links[k], "<link name='%d'>%s", k + 1, inertia);
        }
        snprintf(text, sizeof text, format, angles[i], angles[i], links[0], links[1], links[2]);
        dyn_error error;
        dyn_model *model = NULL;
        dyn_base_parameters *grouping = NULL;
        require(dyn_urdf_load(text, strlen(text), NULL, NULL, &model, &error), &error);
        require(dyn_base_parameters_create(model, NULL, &grouping, &error), &error);
        ck_assert_int_eq(dyn_base_parameters_count(grouping), 9);
        check_base_count(&random, angles[i], model, NULL, grouping);
        check_base_torques(&random, angles[i], model, NULL, grouping);
        dyn_base_parameters_free(grouping);
        dyn_model_free(model);
    }
}
END_TEST

/* ---- robots of the literature ------------------------------------------------------------------------------------ */

static dyn_model *build(dyn_builder *builder, dyn_base base) {
    dyn_error error;
    dyn_model *model = NULL;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = base);
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

static const dyn_inertia INERTIA = {.mass = 1, .center_of_mass = {0.1, 0.2, 0.3}, .rotational = {1, 0, 0, 1, 0, 1}};

/* Builds a chain of at most six revolute joints with the twists alpha, lengths a and offsets d of Denavit and
 * Hartenberg's standard convention. */
static dyn_model *chain(int count, const double *alpha, const double *a, const double *d, dyn_base base) {
    dyn_dh_row rows[6];
    dyn_error error;
    dyn_builder *builder = NULL;
    for (int i = 0; i < count; i++) {
        rows[i] =
            (dyn_dh_row){.type = DYN_JOINT_TYPE_REVOLUTE, .alpha = alpha[i], .a = a[i], .d = d[i], .inertia = INERTIA};
    }
    require(dyn_dh_describe("chain", DYN_DH_CONVENTION_STANDARD, count, rows, &builder, &error), &error);
    return build(builder, base);
}

static void check_count(dyn_model *model, const double *gravity, int expected) {
    dyn_error error;
    dyn_base_parameters *grouping = NULL;
    require(dyn_base_parameters_create(model, gravity, &grouping, &error), &error);
    ck_assert_int_eq(dyn_base_parameters_count(grouping), expected);
    dyn_base_parameters_free(grouping);
}

/* Checks published numbers. A planar arm of two links has ZZ, MX and MY of each link, and without gravity in its plane
 * no MX and MY of the first (Khalil and Dombre 2002, "Modeling, Identification and Control of Robots", section 9.4).
 * The PUMA 560 has 36 (Gautier and Khalil 1990; Mayeda, Yoshida and Osuka 1990), a free body with n hinges 10 + 7 n. */
START_TEST(known_robots_have_the_published_number) {
    const double flat[2] = {0}, lengths[2] = {1, 1}, down[3] = {0, -9.81, 0}, across[3] = {0, 0, -9.81};
    const double alpha[6] = {PI / 2, 0, -PI / 2, PI / 2, -PI / 2, 0}, a[6] = {0, 0.4318, 0.0203};
    const double d[6] = {0, 0, 0.15005, 0.4318};
    dyn_model *planar = chain(2, flat, lengths, flat, DYN_BASE_FIXED);
    check_count(planar, down, 6);
    check_count(planar, across, 4);
    dyn_model_free(planar);
    dyn_model *puma = chain(6, alpha, a, d, DYN_BASE_FIXED);
    check_count(puma, NULL, 36);
    dyn_model_free(puma);
    dyn_model *flying = chain(6, alpha, a, d, DYN_BASE_FLOATING);
    check_count(flying, NULL, 10 + 7 * 6);
    dyn_model_free(flying);
}
END_TEST

START_TEST(bad_gravity_is_refused) {
    random_source random = random_seed("bad gravity", 20261243);
    dyn_model *model = random_robot(&random, 1, 3, DYN_MIMIC_POLICY_COUPLED);
    dyn_base_parameters *grouping = NULL;
    dyn_error error;
    ck_assert_int_eq(dyn_base_parameters_create(model, (double[3]){0, NAN, 0}, &grouping, &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "gravity");
    ck_assert_ptr_null(grouping);
    dyn_base_parameters_free(NULL);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("base parameters");
    tcase_set_timeout(all, 120);
    tcase_add_test(all, base_parameters_make_the_torques);
    tcase_add_test(all, there_are_as_many_as_the_regressor_has_rank);
    tcase_add_test(all, coupled_mimic_joints_have_the_rank_of_their_regressor);
    tcase_add_test(all, axes_turned_by_rounding_leave_the_base_parameters);
    tcase_add_test(all, axes_turned_by_a_real_angle_do_not_count_as_parallel);
    tcase_add_test(all, an_exporters_zero_is_an_angle_of_zero);
    tcase_add_test(all, known_robots_have_the_published_number);
    tcase_add_test(all, bad_gravity_is_refused);
    return run_properties("base parameters", all);
}
