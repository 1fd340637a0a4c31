/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests simulation_create when out of memory: whichever allocation of the daemon fails, the error says so and nothing
 * remains. The linker replaces the daemon's calls of malloc and calloc by __wrap_malloc and __wrap_calloc (--wrap).
 */
#include "simulations/simulation.h"

#include <stdlib.h>
#include <string.h>

#include "unit/server/support.h"

/* Number of allocations that still succeed before all fail; negative: all succeed. */
static long allowance = -1;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
/* Wrappers of malloc and calloc are visible because libraries of the sanitizers call them too. */
__attribute__((visibility("default"))) void *__wrap_malloc(size_t size);
__attribute__((visibility("default"))) void *__wrap_calloc(size_t count, size_t size);

static bool may_allocate(void) {
    return allowance < 0 || (allowance > 0 && allowance-- > 0);
}

void *__wrap_malloc(size_t size) {
    return may_allocate() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size) {
    return may_allocate() ? __real_calloc(count, size) : NULL;
}

START_TEST(simulation_without_memory_is_an_error_wherever_it_lacks) {
    const double deviation[2] = {1, 1};
    model_entry *entry = load_robot("two_link", "two_link");
    const simulation_options options = {
        .stepping = DYN_SIMULATION_OPTIONS_INIT(), .deviation = deviation, .rate = 1, .publish_rate = 100, .lease = 60};
    dyn_status status = DYN_RESOURCE_EXHAUSTED;
    int failures = 0;
    for (long k = 0; status != DYN_OK; k++) {
        simulation *s = NULL;
        dyn_error error;
        memset(&error, 0x5a, sizeof error);
        allowance = k;
        status = simulation_create(entry, "arm", &options, NULL, NULL, NULL, &error, &s);
        allowance = -1;
        if (status != DYN_OK) {
            failures++;
            ck_assert_int_eq(status, DYN_RESOURCE_EXHAUSTED);
            ck_assert_int_eq(error.status, DYN_RESOURCE_EXHAUSTED);
            ck_assert_int_eq(error.site.cause, DYN_CAUSE_MEMORY);
            ck_assert_ptr_null(s);
        }
        simulation_release(s);
    }
    ck_assert_int_gt(failures, 15);
    ck_assert_uint_eq(atomic_load(&entry->references), 1);
    model_entry_release(entry);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("simulation");
    tcase_add_test(tests, simulation_without_memory_is_an_error_wherever_it_lacks);
    return run_tests(tests);
}
