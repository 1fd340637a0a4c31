/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the arena, the memory of one request: zeros, alignment, limits, and the charge to the memory budget.
 */
#include "methods/arena.h"

#include <stdint.h>
#include <string.h>

#include "unit/server/support.h"

START_TEST(memory_is_zeroed_also_when_it_is_used_again) {
    arena a;
    random_source random = random_seed("memory is zeroed also when it is used again", 1);
    arena_init(&a);
    for (int round = 0; round < 50; round++) {
        arena_reset(&a, 1 << 20);
        for (int i = 0; i < 30; i++) {
            size_t size = (size_t)random_index(&random, 5000);
            unsigned char *bytes = arena_allocate(&a, size);
            ck_assert_ptr_nonnull(bytes);
            size_t zeros = 0;
            while (zeros < size && bytes[zeros] == 0) {
                zeros++;
            }
            ck_assert_uint_eq(zeros, size);
            memset(bytes, 0xa5, size);
        }
    }
    arena_free(&a);
}
END_TEST

START_TEST(allocations_are_aligned_and_disjoint) {
    arena a;
    arena_init(&a);
    arena_reset(&a, 1 << 20);
    for (size_t size = 0; size < 300; size++) {
        unsigned char *first = arena_allocate(&a, size), *second = arena_allocate(&a, size);
        ck_assert_uint_eq((uintptr_t)first % _Alignof(max_align_t), 0);
        ck_assert(second >= first + size || first >= second + size);
    }
    arena_free(&a);
}
END_TEST

START_TEST(further_blocks_are_charged_with_their_copy_until_they_are_freed) {
    memory_budget budget = {0};
    arena a;
    memory_budget_set(&budget, 10 << 20, 2 << 20);
    arena_init(&a);
    arena_charge(&a, &budget, true);
    arena_reset(&a, SIZE_MAX);
    ck_assert_ptr_nonnull(arena_allocate(&a, 1000));
    ck_assert_uint_eq(atomic_load(&budget.held), 0);
    ck_assert_ptr_nonnull(arena_allocate(&a, 3 << 20));
    ck_assert_uint_eq(atomic_load(&budget.held), 6 << 20);
    /* 10 MiB less the reserve of 2 MiB cannot hold another block and its copy. Only arriving messages may use the
     * reserve. */
    ck_assert_ptr_null(arena_allocate(&a, 2 << 20));
    ck_assert_uint_eq(a.needed, 10 << 20);
    ck_assert_uint_eq(memory_budget_most(&budget), 8 << 20);
    ck_assert(a.is_exhausted && a.is_short);
    ck_assert(memory_budget_has_refused(&budget) && !memory_budget_has_refused(&budget));
    ck_assert_uint_eq(memory_budget_add(&budget, 5 << 20), 1 << 20);
    ck_assert(memory_budget_is_short(&budget, 0) && !memory_budget_is_short(&budget, 5 << 20));
    memory_budget_release(&budget, 5 << 20);
    ck_assert_uint_eq(arena_pass_on(&a), 3 << 20);
    arena_reset(&a, SIZE_MAX);
    ck_assert_uint_eq(atomic_load(&budget.held), 3 << 20);
    memory_budget_release(&budget, 3 << 20);
    ck_assert_uint_eq(atomic_load(&budget.peak), 11 << 20);
    arena_free(&a);
}
END_TEST

START_TEST(limit_is_kept_and_reported) {
    arena a;
    arena_init(&a);
    arena_reset(&a, 4096);
    ck_assert_ptr_nonnull(arena_allocate(&a, 4000));
    ck_assert(!a.is_exhausted);
    ck_assert_ptr_null(arena_allocate(&a, 4000));
    ck_assert(a.is_exhausted);
    arena_reset(&a, 4096);
    ck_assert(!a.is_exhausted);
    ck_assert_ptr_nonnull(arena_allocate(&a, 4000));
    arena_free(&a);
}
END_TEST

START_TEST(sizes_that_overflow_are_refused) {
    arena a;
    arena_init(&a);
    arena_reset(&a, SIZE_MAX / 2);
    ck_assert_ptr_null(arena_array(&a, SIZE_MAX / 4, 8));
    ck_assert_ptr_null(arena_allocate(&a, SIZE_MAX));
    ck_assert_ptr_null(arena_allocate(&a, SIZE_MAX - 64));
    ck_assert_ptr_nonnull(arena_array(&a, 0, 8));
    arena_free(&a);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("arena");
    tcase_add_test(tests, memory_is_zeroed_also_when_it_is_used_again);
    tcase_add_test(tests, allocations_are_aligned_and_disjoint);
    tcase_add_test(tests, further_blocks_are_charged_with_their_copy_until_they_are_freed);
    tcase_add_test(tests, limit_is_kept_and_reported);
    tcase_add_test(tests, sizes_that_overflow_are_refused);
    return run_tests(tests);
}
