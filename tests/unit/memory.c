/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the library when out of memory: whichever allocation fails, the error says so, and nothing leaks (a build with
 * the address sanitizer checks that). The linker replaces the library's calls of malloc, calloc, realloc and strdup by
 * the __wrap functions of this file (--wrap).
 */
#include <stdlib.h>
#include <string.h>

#include "robots.h"

/* Number of allocations that still succeed before all fail; negative: all succeed. */
static long allowance = -1;

static int may_allocate(void) {
    if (allowance < 0) {
        return 1;
    }
    return allowance > 0 && allowance-- > 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size) {
    return may_allocate() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size) {
    return may_allocate() ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *memory, size_t size) {
    return may_allocate() ? __real_realloc(memory, size) : NULL;
}

char *__wrap_strdup(const char *text) {
    return may_allocate() ? __real_strdup(text) : NULL;
}

static const char robot[] =
    "<robot name='r'><gazebo/><link name='a' x='1'/><link name='b'><inertial><mass value='1'/></inertial></link>"
    "<link name='c'/><link name='d'><inertial><mass value='1'/></inertial></link>"
    "<joint name='j' type='revolute'><parent link='a'/><child link='b'/></joint>"
    "<joint name='k' type='fixed'><parent link='b'/><child link='c'/></joint>"
    "<joint name='l' type='prismatic'><parent link='c'/><child link='d'/><mimic joint='j'/></joint></robot>";

START_TEST(failed_allocation_is_an_error_wherever_it_happens) {
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = _i % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED);
    dyn_status status = DYN_RESOURCE_EXHAUSTED;
    int failures = 0;
    for (long k = 0; status != DYN_OK; k++) {
        dyn_report *report = NULL;
        dyn_model *model = NULL;
        dyn_error error;
        if (_i >= 2) {
            report = new_report();
        }
        allowance = k;
        status = dyn_urdf_load(robot, strlen(robot), &options, report, &model, &error);
        allowance = -1;
        if (status != DYN_OK) {
            failures++;
            ck_assert_int_eq(status, DYN_RESOURCE_EXHAUSTED);
            ck_assert_int_eq(error.status, DYN_RESOURCE_EXHAUSTED);
            ck_assert_msg(strstr(error.message, "out of memory") != NULL, "%s", error.message);
            ck_assert_ptr_null(model);
        }
        dyn_report_free(report);
        dyn_model_free(model);
    }
    ck_assert_int_gt(failures, 40);
}
END_TEST

/* Runs the operation of this number on the model and returns its status. Operations that create a model set *result. */
static dyn_status operate(int number, const dyn_model *model, dyn_error *error, dyn_model **result) {
    static const char *const joints[] = {"root_joint", "j"};
    const dyn_inertia payload = {.mass = 1};
    char *text = NULL;
    size_t length;
    dyn_builder *builder = NULL;
    dyn_status status;
    switch (number) {
    case 0:
        return dyn_model_attach(model, "d", "payload", &payload, NULL, result, error);
    case 1:
        return dyn_model_detach(model, "d", result, error);
    case 2:
        return dyn_model_merge(model, "d", NULL, model, "second_", result, error);
    case 3:
        return dyn_model_lock(model, 2, joints, NULL, result, error);
    case 4:
        return dyn_model_change_base(model, "d", DYN_BASE_FLOATING, result, error);
    case 5:
        return dyn_model_chain(model, "d", "a", DYN_BASE_FIXED, result, error);
    case 6:
        status = dyn_urdf_write_model(model, &text, &length, error);
        dyn_text_free(text);
        return status;
    default:
        status = dyn_model_describe(model, &builder, error);
        dyn_builder_free(builder);
        return status;
    }
}

START_TEST(failed_allocation_of_an_operation_is_an_error) {
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *model = load_urdf(robot, &options, NULL);
    dyn_status status = DYN_RESOURCE_EXHAUSTED;
    int failures = 0;
    for (long k = 0; status != DYN_OK; k++) {
        dyn_model *result = NULL;
        dyn_error error = {0};
        allowance = k;
        status = operate(_i, model, &error, &result);
        allowance = -1;
        if (status != DYN_OK) {
            failures++;
            ck_assert_int_eq(status, DYN_RESOURCE_EXHAUSTED);
            ck_assert_msg(strstr(error.message, "out of memory") != NULL, "%s", error.message);
            ck_assert_ptr_null(result);
        }
        dyn_model_free(result);
    }
    ck_assert_int_gt(failures, 10);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("memory");
    tcase_add_loop_test(tests, failed_allocation_is_an_error_wherever_it_happens, 0, 4);
    tcase_add_loop_test(tests, failed_allocation_of_an_operation_is_an_error, 0, 8);
    return run_tests(tests);
}
