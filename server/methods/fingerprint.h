/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fingerprints: 128 bits that stand for some bytes, by SipHash-2-4 under a secret key.
 *
 * Whoever does not know the key can neither choose bytes that have the fingerprint of others nor foresee one. It costs
 * about a cycle and a half for each byte, a tenth of SHA-256.
 */
#ifndef SERVER_METHODS_FINGERPRINT_H
#define SERVER_METHODS_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fingerprint_key {
    uint64_t words[2];
} fingerprint_key;

typedef struct fingerprint {
    uint64_t words[2];
} fingerprint;

/* Draws a key at random. False when the system has no random numbers. */
bool fingerprint_draw_key(fingerprint_key *key);

fingerprint fingerprint_make(const fingerprint_key *key, const void *bytes, size_t size);

static inline bool fingerprint_equal(const fingerprint *a, const fingerprint *b) {
    return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

#endif
