/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the fingerprints of requests: a fingerprint is SipHash-2-4, and each drawn key is new.
 */
#include "methods/fingerprint.h"

#include <stdio.h>
#include <string.h>

#include "unit/server/support.h"

/* SipHash-2-4 of the bytes 0, 1, 2 ... under the key 00 01 .. 0f, as printed by
 * `openssl mac -macopt hexkey:000102030405060708090a0b0c0d0e0f -macopt size:16 -in FILE SIPHASH`. */
static const struct {
    size_t size;
    const char *digits;
} vectors[] = {
    {0, "A3817F04BA25A8E66DF67214C7550293"},  {1, "DA87C1D86B99AF44347659119B22FC45"},
    {7, "A1F1EBBED8DBC153C0B84AA61FF08239"},  {8, "3B62A9BA6258F5610F83E264F31497B4"},
    {15, "5493E99933B0A8117E08EC0F97CFC3D9"}, {63, "5150D1772F50834A503E069A973FBD7C"},
};

static fingerprint_key make_key(void) {
    fingerprint_key key;
    uint8_t bytes[sizeof key];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    memcpy(&key, bytes, sizeof key);
    return key;
}

START_TEST(fingerprint_is_siphash) {
    const fingerprint_key key = make_key();
    uint8_t bytes[64], result[sizeof(fingerprint)];
    char digits[2 * sizeof result + 1];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    const fingerprint made = fingerprint_make(&key, bytes, vectors[_i].size);
    memcpy(result, &made, sizeof result);
    for (size_t i = 0; i < sizeof result; i++) {
        snprintf(digits + 2 * i, 3, "%02X", result[i]);
    }
    ck_assert_str_eq(digits, vectors[_i].digits);
}
END_TEST

START_TEST(keys_are_drawn_anew) {
    fingerprint_key first, second;
    ck_assert(fingerprint_draw_key(&first) && fingerprint_draw_key(&second));
    ck_assert(first.words[0] != second.words[0] && first.words[1] != second.words[1]);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("fingerprint");
    tcase_add_loop_test(tests, fingerprint_is_siphash, 0, sizeof vectors / sizeof vectors[0]);
    tcase_add_test(tests, keys_are_drawn_anew);
    return run_tests(tests);
}
