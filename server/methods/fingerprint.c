/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fingerprints by SipHash-2-4 with 128 bits of output: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input
 * PRF", 2012, and the extension to 128 bits of their reference implementation.
 */
#include "methods/fingerprint.h"

#include <endian.h>
#include <string.h>
#include <sys/random.h>

/* Numbers of rounds of SipHash-2-4. */
enum { ROUNDS_A_WORD = 2, ROUNDS_AT_THE_END = 4 };

typedef struct sip_state {
    uint64_t v0, v1, v2, v3;
} sip_state;

bool fingerprint_draw_key(fingerprint_key *key) {
    return getrandom(key, sizeof *key, 0) == sizeof *key;
}

static inline uint64_t rotate(uint64_t word, unsigned bits) {
    return word << bits | word >> (64 - bits);
}

static inline void mix(sip_state *s, int rounds) {
    for (int i = 0; i < rounds; i++) {
        s->v0 += s->v1;
        s->v1 = rotate(s->v1, 13) ^ s->v0;
        s->v0 = rotate(s->v0, 32);
        s->v2 += s->v3;
        s->v3 = rotate(s->v3, 16) ^ s->v2;
        s->v0 += s->v3;
        s->v3 = rotate(s->v3, 21) ^ s->v0;
        s->v2 += s->v1;
        s->v1 = rotate(s->v1, 17) ^ s->v2;
        s->v2 = rotate(s->v2, 32);
    }
}

static inline void absorb(sip_state *s, uint64_t word) {
    s->v3 ^= word;
    mix(s, ROUNDS_A_WORD);
    s->v0 ^= word;
}

/* Loads up to eight bytes as a little-endian number. */
static inline uint64_t load(const uint8_t *bytes, size_t size) {
    uint64_t word = 0;
    memcpy(&word, bytes, size);
    return le64toh(word);
}

fingerprint fingerprint_make(const fingerprint_key *key, const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    const uint64_t k0 = le64toh(key->words[0]), k1 = le64toh(key->words[1]);
    sip_state s = {
        .v0 = k0 ^ UINT64_C(0x736f6d6570736575),
        .v1 = k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
        .v2 = k0 ^ UINT64_C(0x6c7967656e657261),
        .v3 = k1 ^ UINT64_C(0x7465646279746573),
    };
    fingerprint result;
    size_t left = size;
    for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        absorb(&s, load(at, sizeof(uint64_t)));
    }
    absorb(&s, (left > 0 ? load(at, left) : 0) | (uint64_t)size << 56);
    s.v2 ^= 0xee;
    mix(&s, ROUNDS_AT_THE_END);
    result.words[0] = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
    s.v1 ^= 0xdd;
    mix(&s, ROUNDS_AT_THE_END);
    result.words[1] = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
    return result;
}
