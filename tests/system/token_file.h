/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of tokens for the section [access] of a daemon under test.
 */
#ifndef DYNAMICS_TESTS_TOKEN_FILE_H
#define DYNAMICS_TESTS_TOKEN_FILE_H

#include <stddef.h>

/* Token of a caller. */
typedef struct token_line {
    const char *name, *role, *secret;
} token_line;

/* Writes a file of tokens, with hashes that sha256sum computes. */
void token_file_write(const char *path, const token_line *lines, size_t count);

#endif
