/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the printable form of texts: every character is printable or escaped, in the library as in the clients.
 */
#include <dynamics/text.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "printable.h"
#include "robots.h"

/* Encodes a character in UTF-8. */
static void encode(uint32_t number, char text[5]) {
    size_t length = number < 0x80 ? 1 : number < 0x800 ? 2 : number < 0x10000 ? 3 : 4;
    static const uint32_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    memset(text, 0, 5);
    for (size_t i = length; i-- > 1; number >>= 6) {
        text[i] = (char)(0x80 | (number & 0x3f));
    }
    text[0] = (char)(lead[length] | number);
}

START_TEST(dangerous_characters_are_escaped_in_readable_form) {
    static const struct {
        const char *text, *printed;
    } cases[] = {
        {"elbow \xc3\xa9 \xf0\x9f\xa4\x96", "elbow \xc3\xa9 \xf0\x9f\xa4\x96"},
        {"\x1b[2J\n\x7f", "\\x1b[2J\\x0a\\x7f"},
        {"\xc2\x9b", "\\u009b"},
        {"\x9b", "\\x9b"},
        {"\xe2\x80\xae", "\\u202e"},
        {"\xf3\xa0\x80\x81", "\\U000e0001"},
        {"\xe2\x80", "\\xe2\\x80"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xc0\xaf", "\\xc0\\xaf"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        {"a\\x1b", "a\\x1b"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char printed[64];
        ck_assert_uint_eq(dyn_text_print(cases[i].text, printed, sizeof printed), strlen(cases[i].printed));
        ck_assert_str_eq(printed, cases[i].printed);
        ck_assert_int_eq(dyn_text_is_printable(cases[i].text), strcmp(cases[i].text, cases[i].printed) == 0);
    }
}
END_TEST

START_TEST(unprintable_are_control_invisible_and_direction_characters) {
    size_t escaped = 0;
    for (uint32_t number = 1; number <= 0x10ffff; number++) {
        char text[5];
        encode(number, text);
        bool is_character = number < 0xd800 || number > 0xdfff;
        bool is_hidden = number < 0x20 || (number >= 0x7f && number <= 0x9f) || number == 0xad || number == 0x61c ||
                         number == 0x180e || (number >= 0x200b && number <= 0x200f) ||
                         (number >= 0x2028 && number <= 0x202e) || (number >= 0x2060 && number <= 0x206f) ||
                         number == 0xfeff || (number >= 0xfff9 && number <= 0xfffb) || number >> 12 == 0xe0;
        if (dyn_text_is_printable(text) != (is_character && !is_hidden)) {
            ck_abort_msg("U+%04x", (unsigned)number);
        }
        escaped += is_hidden;
    }
    ck_assert_uint_gt(escaped, 60);
}
END_TEST

/* Compares the library's and the clients' printable form of a text. A Check assertion for each text would take seconds
 * in total, so the function calls Check only to report a difference. */
static void compare(const char *text) {
    char ours[64], theirs[64];
    dyn_text_print(text, ours, sizeof ours);
    printable_text(text, theirs, sizeof theirs);
    if (strcmp(ours, theirs) != 0) {
        ck_abort_msg("%s and %s", ours, theirs);
    }
}

START_TEST(clients_escape_alike) {
    for (uint32_t number = 1; number <= 0x10ffff; number++) {
        char text[5];
        encode(number, text);
        compare(text);
    }
    for (int lead = 1; lead < 256; lead++) {
        for (int second = 0; second < 256; second++) {
            const char text[] = {(char)lead, (char)second, 'x', '\0'};
            compare(text);
        }
    }
}
END_TEST

START_TEST(long_text_is_cut_between_characters) {
    static const char text[] = "abc\xe2\x82\xac\x1b\xe2\x80\xae\xc3\xa9 and more of it";
    char whole[64];
    dyn_text_print(text, whole, sizeof whole);
    for (size_t size = 1; size <= sizeof whole; size++) {
        char printed[64], guard = 0x55;
        memset(printed, guard, sizeof printed);
        size_t length = dyn_text_print(text, printed, size);
        ck_assert_uint_lt(length, size);
        ck_assert_uint_eq(strlen(printed), length);
        ck_assert(size == sizeof printed || printed[size] == guard);
        ck_assert(dyn_text_is_printable(printed));
        ck_assert(strcmp(printed, whole) == 0 || size < 5 || strcmp(printed + length - 3, "...") == 0);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("text");
    tcase_add_test(tests, dangerous_characters_are_escaped_in_readable_form);
    tcase_add_test(tests, unprintable_are_control_invisible_and_direction_characters);
    tcase_add_test(tests, clients_escape_alike);
    tcase_add_test(tests, long_text_is_cut_between_characters);
    return run_tests(tests);
}
