/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the digests that identify models.
 */
#include "models/digest.h"

#include <string.h>

#include "unit/server/support.h"

/* Compares with the examples of FIPS 180-4. Digests identify models on all machines, so that every release of mbedTLS
 * must return the same ones. */
START_TEST(digests_are_sha256) {
    static const char *const pairs[][2] = {
        {"", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "sha256:248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char digest[DIGEST_SIZE];
        digest_write(pairs[i][0], strlen(pairs[i][0]), digest);
        ck_assert_str_eq(digest, pairs[i][1]);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("digest");
    tcase_add_test(tests, digests_are_sha256);
    return run_tests(tests);
}
