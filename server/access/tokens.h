/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Roles, and the file of tokens that assigns them to callers.
 *
 * The file has one line for each token: "NAME ROLE HASH", where HASH is the SHA-256 of the token in hexadecimal digits.
 * It does not hold the tokens themselves, which are random, so that their hashes need no salt. A token is compared with
 * every hash, in a time that does not depend on their bytes.
 */
#ifndef SERVER_ACCESS_TOKENS_H
#define SERVER_ACCESS_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Right of a caller; each includes those before it. */
typedef enum access_role { ACCESS_NONE, ACCESS_READER, ACCESS_USER, ACCESS_ADMINISTRATOR } access_role;

/* Lengths of a token and of its name, in bytes. */
enum { ACCESS_ROLES = 4, ACCESS_ERROR_SIZE = 384, ACCESS_TOKEN_LENGTH = 128, ACCESS_TOKEN_NAME = 40 };

enum { ACCESS_HASH_SIZE = 32 };

/* Words of the roles, by their number: "none", "reader", "user", "administrator". */
extern const char *const access_role_words[ACCESS_ROLES];

typedef struct access_token {
    access_role role;
    char name[ACCESS_TOKEN_NAME + 1];
    uint8_t hash[ACCESS_HASH_SIZE];
} access_token;

/* Reads a file of tokens into memory that the caller frees. Lines that are empty or start with # are skipped. On
 * failure writes "FILE:LINE: sentence" to `error` and returns false: a file that others than its owner may write to is
 * refused too. */
bool tokens_read(const char *path, access_token **tokens, size_t *count, char error[ACCESS_ERROR_SIZE]);

/* Returns the entry of a token, or NULL. The time depends on the number of entries and the length of the token only. */
const access_token *tokens_find(const access_token *tokens, size_t count, const char *token);

#endif
