/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Digest that identifies a model by its content.
 */
#ifndef SERVER_MODELS_DIGEST_H
#define SERVER_MODELS_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

/* Size of a digest: "sha256:" and 64 hexadecimal digits, with the terminating zero. */
enum { DIGEST_SIZE = 7 + 64 + 1 };

/* Returns whether a text has the form of a digest. */
bool digest_is_one(const char *text);

/* Writes the digest of the bytes: "sha256:" and their SHA-256. */
void digest_write(const void *bytes, size_t size, char digest[DIGEST_SIZE]);

#endif
