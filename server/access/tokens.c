/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the file of tokens, and compares tokens with their hashes. */
#include "access/tokens.h"

#include <errno.h>
#include <mbedtls/md.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/regular_file.h"

const char *const access_role_words[ACCESS_ROLES] = {"none", "reader", "user", "administrator"};

/* Largest number of tokens, and longest line of the file. */
enum { MOST_TOKENS = 10000, LINE_SIZE = 256 };

/* Fills an error about a line, and returns false. */
static bool refuse_line(const char *path, int line, const char *sentence, char error[ACCESS_ERROR_SIZE]) {
    snprintf(error, ACCESS_ERROR_SIZE, "%.200s:%d: %s", path, line, sentence);
    return false;
}

static bool parse_role(const char *word, access_role *role) {
    for (int i = ACCESS_READER; i < ACCESS_ROLES; i++) {
        if (strcmp(word, access_role_words[i]) == 0) {
            *role = (access_role)i;
            return true;
        }
    }
    return false;
}

static bool parse_hash(const char *text, uint8_t hash[ACCESS_HASH_SIZE]) {
    static const char digits[] = "0123456789abcdef";
    if (strlen(text) != 2 * ACCESS_HASH_SIZE || strspn(text, digits) != 2 * ACCESS_HASH_SIZE) {
        return false;
    }
    for (size_t i = 0; i < ACCESS_HASH_SIZE; i++) {
        size_t high = (size_t)(strchr(digits, text[2 * i]) - digits);
        size_t low = (size_t)(strchr(digits, text[2 * i + 1]) - digits);
        hash[i] = (uint8_t)(16 * high + low);
    }
    return true;
}

static bool is_name(const char *text) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t length = strlen(text);
    return length > 0 && length <= ACCESS_TOKEN_NAME && strspn(text, allowed) == length;
}

/* Parses the line of a token. Returns NULL, or a sentence about its error. */
static const char *parse_line(char *line, access_token *token) {
    static const char blanks[] = " \t\r\n";
    char *rest;
    const char *name = strtok_r(line, blanks, &rest), *role = strtok_r(NULL, blanks, &rest);
    const char *hash = strtok_r(NULL, blanks, &rest);
    if (!hash || strtok_r(NULL, blanks, &rest)) {
        return "write NAME ROLE HASH, separated by blanks";
    }
    if (!is_name(name)) {
        return "the name of a token has 1 to 40 letters, digits, \"_\", \"-\" and \".\"";
    }
    if (!parse_role(role, &token->role)) {
        return "the role of a token is reader, user or administrator";
    }
    if (!parse_hash(hash, token->hash)) {
        return "the hash of a token is its SHA-256 as 64 hexadecimal digits in lower case (sha256sum)";
    }
    snprintf(token->name, sizeof token->name, "%s", name);
    return NULL;
}

static bool is_taken(const access_token *tokens, size_t count, const access_token *token) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(tokens[i].name, token->name) == 0 || memcmp(tokens[i].hash, token->hash, ACCESS_HASH_SIZE) == 0) {
            return true;
        }
    }
    return false;
}

/* Parses all lines into `tokens`, which has room for MOST_TOKENS. */
static bool parse_lines(FILE *file, const char *path, access_token *tokens, size_t *count,
                        char error[ACCESS_ERROR_SIZE]) {
    char line[LINE_SIZE];
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        size_t length = strlen(line), indent = strspn(line, " \t\r\n");
        if (length == sizeof line - 1 && line[length - 1] != '\n') {
            return refuse_line(path, number, "the line is too long", error);
        }
        if (indent == length || line[indent] == '#') {
            continue;
        }
        if (*count == MOST_TOKENS) {
            return refuse_line(path, number, "there are 10000 tokens already; that is the limit", error);
        }
        access_token *token = &tokens[*count];
        const char *sentence = parse_line(line, token);
        if (!sentence && is_taken(tokens, *count, token)) {
            sentence = "an earlier line has this name or this hash";
        }
        if (sentence) {
            return refuse_line(path, number, sentence, error);
        }
        (*count)++;
    }
    return !ferror(file) || refuse_line(path, 0, strerror(errno), error);
}

bool tokens_read(const char *path, access_token **tokens, size_t *count, char error[ACCESS_ERROR_SIZE]) {
    struct stat status;
    FILE *file = regular_file_stream(path, 0);
    *count = 0;
    if (!file) {
        snprintf(error, ACCESS_ERROR_SIZE, "%.200s: %s", path, regular_file_error(errno));
        return false;
    }
    access_token *all = calloc(MOST_TOKENS, sizeof *all);
    bool is_good = false;
    if (!all) {
        snprintf(error, ACCESS_ERROR_SIZE, "%.200s: out of memory", path);
    } else if (fstat(fileno(file), &status) != 0 || (status.st_mode & (S_IWGRP | S_IWOTH))) {
        snprintf(error, ACCESS_ERROR_SIZE, "%.200s: others than its owner may write to it: chmod go-w", path);
    } else {
        is_good = parse_lines(file, path, all, count, error);
    }
    fclose(file);
    if (is_good && *count > 0) {
        access_token *fitting = realloc(all, *count * sizeof *all);
        *tokens = fitting ? fitting : all;
        return true;
    }
    free(all);
    *tokens = NULL;
    return is_good;
}

const access_token *tokens_find(const access_token *tokens, size_t count, const char *token) {
    uint8_t hash[ACCESS_HASH_SIZE];
    const access_token *found = NULL;
    mbedtls_md(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), (const unsigned char *)token, strlen(token), hash);
    for (size_t i = 0; i < count; i++) {
        uint8_t difference = 0;
        for (size_t k = 0; k < ACCESS_HASH_SIZE; k++) {
            difference |= (uint8_t)(hash[k] ^ tokens[i].hash[k]);
        }
        found = difference == 0 ? &tokens[i] : found;
    }
    return found;
}
