/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the list of long requests that are under way: they are cancelled by their peer, client and id.
 */
#include "methods/running.h"

#include "unit/server/support.h"

static const transport_identity alice = {TRANSPORT_ORIGIN_USER, 1000}, bob = {TRANSPORT_ORIGIN_IPV4, 1000};

static bool add(running_calls *calls, running_call *r, const transport_identity *peer, uint64_t client, uint64_t id) {
    r->name = (running_name){.peer = *peer, .client = client, .id = id};
    return running_calls_add(calls, r);
}

static bool cancel(running_calls *calls, const transport_identity *peer, uint64_t client, uint64_t id) {
    return running_calls_cancel(calls, &(running_name){.peer = *peer, .client = client, .id = id});
}

START_TEST(requests_are_cancelled_by_their_peer_and_numbers) {
    enum { COUNT = 5 };
    running_calls calls;
    running_call r[COUNT] = {0};
    running_calls_init(&calls);
    for (uint64_t i = 0; i < COUNT; i++) {
        ck_assert(add(&calls, &r[i], &alice, 7, i % 4));
    }
    ck_assert(!cancel(&calls, &bob, 7, 0));
    ck_assert(!cancel(&calls, &alice, 8, 0));
    ck_assert(!cancel(&calls, &alice, 7, 4));
    ck_assert(cancel(&calls, &alice, 7, 2));
    /* Requests 0 and 4 have the same id, so both are cancelled. */
    ck_assert(cancel(&calls, &alice, 7, 0));
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
    /* Removes each request in turn, and then one that was never added. */
    for (uint64_t removed = 0; removed <= COUNT; removed++) {
        running_call r[COUNT + 1] = {0};
        for (uint64_t i = 0; i < COUNT; i++) {
            ck_assert(add(&calls, &r[i], &alice, 1, i));
        }
        running_calls_remove(&calls, &r[removed]);
        running_calls_remove(&calls, &r[removed]);
        for (uint64_t i = 0; i < COUNT; i++) {
            ck_assert_int_eq(cancel(&calls, &alice, 1, i), i != removed);
        }
        for (int i = 0; i < COUNT; i++) {
            running_calls_remove(&calls, &r[i]);
        }
        ck_assert_ptr_null(calls.first);
    }
    running_calls_free(&calls);
}
END_TEST

START_TEST(number_for_progress_belongs_to_one_client_at_a_time) {
    running_calls calls;
    running_call first = {.progress = 5}, same = {.progress = 5}, other = {.progress = 5}, foreign = {.progress = 5};
    running_call silent[2] = {0};
    running_calls_init(&calls);
    ck_assert(add(&calls, &first, &alice, 1, 1));
    ck_assert(add(&calls, &same, &alice, 1, 2));
    ck_assert(!add(&calls, &other, &alice, 2, 1));
    ck_assert(!add(&calls, &foreign, &bob, 1, 1));
    /* A refused request is not listed. */
    ck_assert(!cancel(&calls, &bob, 1, 1));
    running_calls_remove(&calls, &foreign);
    ck_assert(add(&calls, &silent[0], &alice, 1, 3) && add(&calls, &silent[1], &bob, 1, 3));
    running_calls_remove(&calls, &first);
    running_calls_remove(&calls, &same);
    ck_assert(add(&calls, &foreign, &bob, 1, 1));
    running_calls_free(&calls);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("running");
    tcase_add_test(tests, requests_are_cancelled_by_their_peer_and_numbers);
    tcase_add_test(tests, number_for_progress_belongs_to_one_client_at_a_time);
    tcase_add_test(tests, removed_requests_are_not_found);
    return run_tests(tests);
}
