/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of configuration keys: each parser takes the text of one value, checks it and names the allowed range.
 */
#ifndef SERVER_CONFIG_VALUE_H
#define SERVER_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "transport/transport.h"

enum { CONFIG_ENDPOINTS = 16, CONFIG_ERROR_SIZE = 512 };

/* Several addresses. */
typedef struct config_addresses {
    size_t count;
    char address[CONFIG_ENDPOINTS][TRANSPORT_ADDRESS_SIZE];
} config_addresses;

/* Whole number from `low` to `high`; with `has_units` also "64 MiB", "1 GiB", "4 KiB". */
bool config_parse_count(const char *key, const char *text, unsigned long low, unsigned long high, bool has_units,
                        unsigned long *value, char error[CONFIG_ERROR_SIZE]);

/* Seconds from `low` to `high`. */
bool config_parse_seconds(const char *key, const char *text, double low, double high, double *value,
                          char error[CONFIG_ERROR_SIZE]);

/* Permissions, octal. */
bool config_parse_mode(const char *key, const char *text, unsigned *value, char error[CONFIG_ERROR_SIZE]);

/* Three finite numbers. */
bool config_parse_vector(const char *key, const char *text, double value[3], char error[CONFIG_ERROR_SIZE]);

/* One of several words; `value` receives its number. */
bool config_parse_word(const char *key, const char *text, const char *const *words, size_t count, int *value,
                       char error[CONFIG_ERROR_SIZE]);

/* Addresses separated by white space. */
bool config_parse_addresses(const char *key, const char *text, config_addresses *value, char error[CONFIG_ERROR_SIZE]);

#endif
