/*
 * Long requests that can be ended by their numbers.
 */
#include "methods/running.h"

#include "unit/server/support.h"

START_TEST(requests_are_cancelled_by_their_numbers) {
    enum { COUNT = 5 };
    running_calls calls;
    running_call r[COUNT] = {0};
    running_calls_init(&calls);
    for (uint64_t i = 0; i < COUNT; i++) {
        running_calls_add(&calls, &r[i], 7, i % 4);
    }
    ck_assert(!running_calls_cancel(&calls, 8, 0));
    ck_assert(!running_calls_cancel(&calls, 7, 4));
    ck_assert(running_calls_cancel(&calls, 7, 2));
    /* Two requests of the same numbers: both end. */
    ck_assert(running_calls_cancel(&calls, 7, 0));
    for (int i = 0; i < COUNT; i++) {
        ck_assert_int_eq(atomic_load(&r[i].is_cancelled), i == 2 || i == 0 || i == 4);
    }
    running_calls_free(&calls);
}
END_TEST

START_TEST(removed_requests_are_not_found) {
    enum { COUNT = 3 };
    running_calls calls;
    running_calls_init(&calls);
    /* First, last and middle one, and one that was never there. */
    for (uint64_t removed = 0; removed <= COUNT; removed++) {
        running_call r[COUNT + 1] = {0};
        for (uint64_t i = 0; i < COUNT; i++) {
            running_calls_add(&calls, &r[i], 1, i);
        }
        running_calls_remove(&calls, &r[removed]);
        running_calls_remove(&calls, &r[removed]);
        for (uint64_t i = 0; i < COUNT; i++) {
            ck_assert_int_eq(running_calls_cancel(&calls, 1, i), i != removed);
        }
        for (int i = 0; i < COUNT; i++) {
            running_calls_remove(&calls, &r[i]);
        }
        ck_assert_ptr_null(calls.first);
    }
    running_calls_free(&calls);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("running");
    tcase_add_test(tests, requests_are_cancelled_by_their_numbers);
    tcase_add_test(tests, removed_requests_are_not_found);
    return run_tests(tests);
}
