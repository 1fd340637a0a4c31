/*
 * Every allocation may fail: the library then says that memory is out, and leaks nothing (the address sanitizer's build
 * looks for that). The linker routes the library's calls through here.
 */
#include <stdlib.h>
#include <string.h>

#include "robots.h"

/* Allocations left before they fail; negative: they do not. */
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
    dyn_build_options options = {.base = _i % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED};
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
        status = dyn_urdf_load(robot, strlen(robot), &options, report, &error, &model);
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

int main(void) {
    TCase *tests = tcase_create("memory");
    tcase_add_loop_test(tests, failed_allocation_is_an_error_wherever_it_happens, 0, 4);
    return run_tests(tests);
}
