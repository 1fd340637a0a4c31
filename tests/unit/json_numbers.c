/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the conversion of messages to JSON and back: numbers of 64 bits keep all their digits, and no member is lost.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#include "dynamics/v1/stream.pb-c.h"
#include "message_json.h"

static uint64_t numbers[] = {7, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
enum { COUNT = sizeof numbers / sizeof *numbers };

START_TEST(unsigned_numbers_of_a_tree_keep_their_digits) {
    Dynamics__V1__StreamTorques torques = DYNAMICS__V1__STREAM_TORQUES__INIT;
    torques.n_point_number = COUNT;
    torques.point_number = numbers;
    torques.credit = UINT64_MAX;
    torques.sent_stamp_ns = INT64_MIN;
    json_t *tree = message_to_tree(MESSAGE_PLAIN, &torques.base);
    char *text = json_dumps(json_object_get(tree, "point_number"), JSON_COMPACT);
    ck_assert_str_eq(text, "[7,9223372036854775807,\"9223372036854775808\",\"18446744073709551615\"]");
    ck_assert_str_eq(json_string_value(json_object_get(tree, "credit")), "18446744073709551615");
    ck_assert_int_eq(json_integer_value(json_object_get(tree, "sent_stamp_ns")), INT64_MIN);
    free(text);
    json_decref(tree);
}
END_TEST

START_TEST(trees_are_read_back_to_the_same_numbers) {
    Dynamics__V1__StreamTorques torques = DYNAMICS__V1__STREAM_TORQUES__INIT;
    char error[MESSAGE_ERROR_SIZE];
    torques.n_point_number = COUNT;
    torques.point_number = numbers;
    json_t *tree = message_to_tree(MESSAGE_PLAIN, &torques.base);
    Dynamics__V1__StreamTorques *read = (Dynamics__V1__StreamTorques *)message_from_json(
        &dynamics__v1__stream_torques__descriptor, tree, "args", error);
    ck_assert_msg(read != NULL, "%s", error);
    ck_assert_uint_eq(read->n_point_number, COUNT);
    for (int i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(read->point_number[i], numbers[i]);
    }
    dynamics__v1__stream_torques__free_unpacked(read, NULL);
    json_decref(tree);
}
END_TEST

START_TEST(text_that_is_not_utf8_stays_a_member) {
    Dynamics__V1__StreamEvent event = DYNAMICS__V1__STREAM_EVENT__INIT;
    event.stream = "a\xff";
    json_t *tree = message_to_tree(MESSAGE_PLAIN, &event.base);
    ck_assert_str_eq(json_string_value(json_object_get(tree, "stream")), "a?");
    json_decref(tree);
}
END_TEST

static long allocations_left;

/* Fails after a number of allocations. */
static void *allocate(size_t size) {
    return allocations_left-- > 0 ? malloc(size) : NULL;
}

START_TEST(tree_is_whole_or_missing_when_memory_runs_out) {
    static double torques_of_joints[] = {1, 2, 3};
    Dynamics__V1__StreamTorques torques = DYNAMICS__V1__STREAM_TORQUES__INIT;
    torques.stream = "a";
    torques.n_point_number = COUNT;
    torques.point_number = numbers;
    torques.n_tau = 3;
    torques.tau = torques_of_joints;
    json_t *whole = message_to_tree(MESSAGE_PLAIN, &torques.base), *tree = NULL;
    json_set_alloc_funcs(allocate, free);
    for (long most = 0; !tree; most++) {
        allocations_left = most;
        tree = message_to_tree(MESSAGE_PLAIN, &torques.base);
        ck_assert_msg(!tree || json_equal(tree, whole), "the tree of %ld allocations lacks a member", most);
    }
    json_set_alloc_funcs(malloc, free);
    json_decref(tree);
    json_decref(whole);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("json numbers");
    TCase *tests = tcase_create("json numbers");
    tcase_add_test(tests, unsigned_numbers_of_a_tree_keep_their_digits);
    tcase_add_test(tests, trees_are_read_back_to_the_same_numbers);
    tcase_add_test(tests, text_that_is_not_utf8_stays_a_member);
    tcase_add_test(tests, tree_is_whole_or_missing_when_memory_runs_out);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
