/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the texts in error messages: quoted names, and the guess of the name that was meant.
 */
#include "methods/text.h"

#include <dynamics/text.h>
#include <stdio.h>
#include <string.h>

#include "unit/server/support.h"

START_TEST(random_bytes_are_quoted_printably) {
    random_source random = random_seed("random bytes are quoted printably", 2);
    for (int i = 0; i < 2000; i++) {
        char text[40], quoted[TEXT_QUOTE_SIZE];
        int length = random_index(&random, 39);
        for (int k = 0; k < length; k++) {
            text[k] = (char)(1 + random_index(&random, 255));
        }
        text[length] = '\0';
        text_quote(text, quoted);
        ck_assert(dyn_text_is_printable(quoted));
        ck_assert_int_eq(quoted[0], '"');
        ck_assert_int_eq(quoted[strlen(quoted) - 1], '"');
    }
}
END_TEST

START_TEST(long_names_are_cut_within_the_quote) {
    char name[1000], quoted[TEXT_QUOTE_SIZE];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    text_quote(name, quoted);
    ck_assert_uint_lt(strlen(quoted), TEXT_QUOTE_SIZE);
    ck_assert_str_eq(quoted + strlen(quoted) - 4, "...\"");
    memset(name, '\x01', sizeof name - 1);
    ck_assert_uint_lt(strlen(text_quote(name, quoted)), TEXT_QUOTE_SIZE);
}
END_TEST

START_TEST(distance_is_that_of_levenshtein) {
    ck_assert_uint_eq(text_distance("kitten", "sitting"), 3);
    ck_assert_uint_eq(text_distance("", "abc"), 3);
    ck_assert_uint_eq(text_distance("abc", "abc"), 0);
    ck_assert_uint_eq(text_distance("flaw", "lawn"), 2);
}
END_TEST

START_TEST(guess_is_the_closest_and_none_where_all_are_far) {
    char hint[TEXT_HINT_SIZE], longest[64] = "";
    text_guess guess = text_guess_start("elbo_joint");
    text_guess_consider(&guess, "wrist_joint");
    text_guess_consider(&guess, "elbow_joint");
    text_guess_consider(&guess, "shoulder_joint");
    ck_assert_str_eq(guess.closest, "elbow_joint");
    ck_assert_str_eq(text_guess_hint(&guess, "none is near", hint), "did you mean \"elbow_joint\"?");
    guess = text_guess_start("xyz");
    text_guess_consider(&guess, "shoulder_joint");
    ck_assert_ptr_null(guess.closest);
    ck_assert_str_eq(text_guess_hint(&guess, "none is near", hint), "none is near");
    memset(longest, '\x01', sizeof longest - 1);
    guess = text_guess_start(longest);
    text_guess_consider(&guess, longest);
    ck_assert_uint_lt(strlen(text_guess_hint(&guess, "", hint)), sizeof hint);
    ck_assert_ptr_eq(strchr(hint, '\0') - 1, strchr(hint, '?'));
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("text");
    tcase_add_test(tests, random_bytes_are_quoted_printably);
    tcase_add_test(tests, long_names_are_cut_within_the_quote);
    tcase_add_test(tests, distance_is_that_of_levenshtein);
    tcase_add_test(tests, guess_is_the_closest_and_none_where_all_are_far);
    return run_tests(tests);
}
