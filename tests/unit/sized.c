/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests structs with a member struct_size, which callers with an older or a newer header of the library pass.
 */
#include <stddef.h>
#include <string.h>

#include "robots.h"

static const char robot[] = "<robot name='r'><link name='base'><inertial><mass value='1'/>"
                            "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link></robot>";

/* Build options as a later version of the header may define them. */
typedef struct later_options {
    dyn_build_options known;
    double unknown;
} later_options;

static dyn_status load(const dyn_build_options *options, bool *is_floating, dyn_error *error) {
    dyn_model *model = NULL;
    dyn_status status = dyn_urdf_load(robot, strlen(robot), options, NULL, &model, error);
    if (status == DYN_OK) {
        *is_floating = dyn_model_is_floating(model);
    }
    dyn_model_free(model);
    return status;
}

START_TEST(members_beyond_the_size_of_the_caller_have_their_defaults) {
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING, .mimic = (dyn_mimic_policy)7);
    bool is_floating = false;
    dyn_error error;
    options.struct_size = offsetof(dyn_build_options, mimic);
    ck_assert_msg(load(&options, &is_floating, &error) == DYN_OK, "%s", error.message);
    ck_assert(is_floating);
    options.struct_size = offsetof(dyn_build_options, base);
    ck_assert_msg(load(&options, &is_floating, &error) == DYN_OK, "%s", error.message);
    ck_assert(!is_floating);
}
END_TEST

START_TEST(members_of_a_later_version_must_be_zero) {
    later_options options = {.known = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING)};
    bool is_floating = false;
    dyn_error error;
    options.known.struct_size = sizeof options;
    ck_assert_msg(load(&options.known, &is_floating, &error) == DYN_OK, "%s", error.message);
    ck_assert(is_floating);
    options.unknown = 1;
    expect_error(load(&options.known, &is_floating, &error), &error, DYN_INVALID_ARGUMENT, "options.struct_size",
                 "does not know");
}
END_TEST

START_TEST(structs_without_a_size_are_refused) {
    static const size_t sizes[] = {0, sizeof(size_t) - 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        dyn_build_options options = {.struct_size = sizes[i]};
        bool is_floating;
        dyn_error error;
        expect_error(load(&options, &is_floating, &error), &error, DYN_INVALID_ARGUMENT, "options.struct_size",
                     "DYN_..._INIT");
    }
}
END_TEST

START_TEST(simulators_of_older_callers_have_the_defaults) {
    dyn_model *model = load_urdf(robot, &(dyn_build_options)DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING), NULL);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *simulator = NULL;
    dyn_error error;
    options.struct_size = offsetof(dyn_simulation_options, velocity_bound);
    options.step_length = 0.01, options.velocity_bound = -1;
    const dyn_simulation_options *const given[] = {&options, NULL};
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(dyn_simulator_create(model, given[i], &simulator, &error) == DYN_OK, "%s", error.message);
        ck_assert_double_eq(dyn_simulator_options(simulator)->velocity_bound, 1e6);
        ck_assert_double_eq(dyn_simulator_options(simulator)->step_length, i == 0 ? 0.01 : 0.001);
        dyn_simulator_free(simulator);
    }
    options.struct_size = 0;
    expect_error(dyn_simulator_create(model, &options, &simulator, &error), &error, DYN_INVALID_ARGUMENT,
                 "options.struct_size", "DYN_..._INIT");
    dyn_model_free(model);
}
END_TEST

START_TEST(results_end_where_the_struct_of_the_caller_ends) {
    dyn_model *model = load_urdf(robot, &(dyn_build_options)DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING), NULL);
    dyn_build_options older = {.struct_size = offsetof(dyn_build_options, mimic), .mimic = (dyn_mimic_policy)7};
    later_options later = {.known = {.struct_size = sizeof later}, .unknown = 1};
    dyn_build_options none = {0};
    dyn_error error;
    ck_assert_int_eq(dyn_model_build_options(model, &older, &error), DYN_OK);
    ck_assert_int_eq(older.base, DYN_BASE_FLOATING);
    ck_assert_int_eq(older.mimic, 7);
    ck_assert_uint_eq(older.struct_size, offsetof(dyn_build_options, mimic));
    ck_assert_int_eq(dyn_model_build_options(model, &later.known, &error), DYN_OK);
    ck_assert_int_eq(later.known.base, DYN_BASE_FLOATING);
    ck_assert(later.unknown == 0);
    ck_assert_uint_eq(later.known.struct_size, sizeof later);
    expect_error(dyn_model_build_options(model, &none, &error), &error, DYN_INVALID_ARGUMENT, "options.struct_size",
                 "struct_size is 0");
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("sized");
    tcase_add_test(tests, members_beyond_the_size_of_the_caller_have_their_defaults);
    tcase_add_test(tests, members_of_a_later_version_must_be_zero);
    tcase_add_test(tests, structs_without_a_size_are_refused);
    tcase_add_test(tests, simulators_of_older_callers_have_the_defaults);
    tcase_add_test(tests, results_end_where_the_struct_of_the_caller_ends);
    return run_tests(tests);
}
