/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys of the configuration: the one list of them, with the type and the range of each value.
 */
#ifndef SERVER_CONFIG_KEYS_H
#define SERVER_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "config.h"

typedef enum config_key_type {
    KEY_ADDRESSES,
    KEY_MODE,
    KEY_PATH,
    KEY_TEXT,
    KEY_DIRECTORIES,
    KEY_COUNT,
    KEY_BYTES,
    KEY_SECONDS,
    KEY_LEVEL,
    KEY_FORMAT,
    KEY_COMPILE_MODE,
    KEY_SWITCH,
    KEY_ROLE,
    KEY_RULES, /* users and groups; `low` is their role */
} config_key_type;

/* Key of the configuration: location in `config`, type and range of its value. */
typedef struct config_key {
    const char *section, *name;
    config_key_type type;
    size_t offset;
    double low, high;
    bool is_fixed; /* the daemon reads it at its start only */
} config_key;

extern const config_key config_keys[CONFIG_KEYS];

/* Words that the values of a type may be, by their numbers. */
typedef struct config_words {
    size_t count;
    const char *const *words;
} config_words;

/* Returns the words of a type; none for types whose values are no words. */
config_words config_key_words(config_key_type type);

/* Notes the origin of the value at `member`, which is a member of the configuration that a key sets. */
void config_set_origin(config *c, const void *member, setting_origin origin);

/* Copies the values that the daemon reads at its start only from the running configuration into the next one. Returns
 * the number of keys whose values differed; a derived endpoints.ingest does not count. `changed`, of `size` bytes,
 * receives the names of these keys, such as "server.workers, compile.mode". */
size_t config_keep_fixed(const config *running, config *next, char *changed, size_t size);

#endif
