/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses and checks the values of configuration keys. Each parser returns false if the text is not valid, with an error
 * that names the key and the allowed values.
 */
#ifndef SERVER_CONFIG_VALUE_H
#define SERVER_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "transport/transport.h"

enum { CONFIG_ENDPOINTS = 16, CONFIG_ERROR_SIZE = 512 };

/* List of addresses. */
typedef struct config_addresses {
    size_t count;
    char address[CONFIG_ENDPOINTS][TRANSPORT_ADDRESS_SIZE];
} config_addresses;

/* Parses a whole number from `low` to `high`; with `has_units` also bytes such as "512 B", "4 KiB", "64 MiB" and "1
 * GiB". */
bool config_parse_count(const char *key, const char *text, unsigned long low, unsigned long high, bool has_units,
                        unsigned long *value, char error[CONFIG_ERROR_SIZE]);

/* Parses seconds from `low` to `high`. */
bool config_parse_seconds(const char *key, const char *text, double low, double high, double *value,
                          char error[CONFIG_ERROR_SIZE]);

/* Parses octal permissions from 0 to 0777. */
bool config_parse_mode(const char *key, const char *text, unsigned *value, char error[CONFIG_ERROR_SIZE]);

/* Parses three finite numbers. */
bool config_parse_vector(const char *key, const char *text, double value[3], char error[CONFIG_ERROR_SIZE]);

/* Parses one of several words; `value` receives its index. */
bool config_parse_word(const char *key, const char *text, const char *const *words, size_t count, int *value,
                       char error[CONFIG_ERROR_SIZE]);

/* Parses addresses separated by spaces or tabs, and adds them to the list. */
bool config_parse_addresses(const char *key, const char *text, config_addresses *value, char error[CONFIG_ERROR_SIZE]);

/* Replaces a list of addresses by one address. Returns false, with an error that names `key`, if the address is not
 * valid; the list is then empty. */
bool config_set_address(config_addresses *addresses, const char *key, const char *address,
                        char error[CONFIG_ERROR_SIZE]);

/* Adds an address to a list. Returns false, with an error that names `key`, if the address is not valid, is in the list
 * already, or the list is full. */
bool config_add_address(config_addresses *addresses, const char *key, const char *address,
                        char error[CONFIG_ERROR_SIZE]);

/* Returns true for a checked tcp address of port 0, for which the system chooses a free port each time. */
bool config_has_any_port(const char *address);

#endif
