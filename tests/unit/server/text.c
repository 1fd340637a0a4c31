/*
 * Words for messages.
 */
#include "methods/text.h"

#include <stdio.h>
#include <string.h>

#include "unit/server/support.h"

START_TEST(utf8_is_told_from_other_bytes) {
    static const char *const good[] = {"", "elbow", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\xa4\x96", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\xff",
                                      "\xc3",
                                      "\xc0\xaf",
                                      "\xe0\x80\xaf",
                                      "\xed\xa0\x80",
                                      "a\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf0\x80\x80\x80",
                                      "\xe2\x82",
                                      "\xf5\x80\x80\x80"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ck_assert_msg(text_is_utf8(good[i]), "good %zu", i);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(!text_is_utf8(bad[i]), "bad %zu", i);
    }
}
END_TEST

START_TEST(random_bytes_become_utf8) {
    random_source random = random_seed("random bytes become UTF-8", 2);
    for (int i = 0; i < 2000; i++) {
        char text[40], quoted[TEXT_QUOTE_SIZE];
        int length = random_index(&random, 39);
        for (int k = 0; k < length; k++) {
            text[k] = (char)(1 + random_index(&random, 255));
        }
        text[length] = '\0';
        text_quote(text, quoted);
        ck_assert(text_is_utf8(quoted));
        for (const char *c = quoted; *c; c++) {
            ck_assert((unsigned char)*c >= 0x20 && *c != 0x7f);
        }
        text_make_utf8(text);
        ck_assert(text_is_utf8(text));
        ck_assert_int_eq((int)strlen(text), length);
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
    text_guess guess = text_guess_start("elbo_joint");
    text_guess_consider(&guess, "wrist_joint");
    text_guess_consider(&guess, "elbow_joint");
    text_guess_consider(&guess, "shoulder_joint");
    ck_assert_str_eq(guess.closest, "elbow_joint");
    guess = text_guess_start("xyz");
    text_guess_consider(&guess, "shoulder_joint");
    ck_assert_ptr_null(guess.closest);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("text");
    tcase_add_test(tests, utf8_is_told_from_other_bytes);
    tcase_add_test(tests, random_bytes_become_utf8);
    tcase_add_test(tests, long_names_are_cut_within_the_quote);
    tcase_add_test(tests, distance_is_that_of_levenshtein);
    tcase_add_test(tests, guess_is_the_closest_and_none_where_all_are_far);
    return run_tests(tests);
}
