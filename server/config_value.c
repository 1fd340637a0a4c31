/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses and checks the values of configuration keys. */
#include "config_value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the factor of a unit of bytes, 0 for an unknown one. */
static unsigned long unit_factor(const char *unit) {
    return unit[0] == '\0' || strcmp(unit, "B") == 0 ? 1
           : strcmp(unit, "KiB") == 0                ? 1UL << 10
           : strcmp(unit, "MiB") == 0                ? 1UL << 20
           : strcmp(unit, "GiB") == 0                ? 1UL << 30
                                                     : 0;
}

bool config_parse_count(const char *key, const char *text, unsigned long low, unsigned long high, bool has_units,
                        unsigned long *value, char error[CONFIG_ERROR_SIZE]) {
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    bool is_number = isdigit((unsigned char)text[0]) && errno == 0;
    while (isspace((unsigned char)*end)) {
        end++;
    }
    unsigned long factor = has_units ? unit_factor(end) : *end == '\0';
    if (!is_number || factor == 0 || number > high / factor || number * factor < low) {
        snprintf(error, CONFIG_ERROR_SIZE, "%s = %s: set a whole number from %lu to %lu%s", key, text, low, high,
                 has_units ? " bytes, also as 64 MiB" : "");
        return false;
    }
    *value = number * factor;
    return true;
}

bool config_parse_seconds(const char *key, const char *text, double low, double high, double *value,
                          char error[CONFIG_ERROR_SIZE]) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !(number >= low && number <= high)) {
        snprintf(error, CONFIG_ERROR_SIZE, "%s = %s: set seconds from %g to %g", key, text, low, high);
        return false;
    }
    *value = number;
    return true;
}

bool config_parse_mode(const char *key, const char *text, unsigned *value, char error[CONFIG_ERROR_SIZE]) {
    char *end;
    unsigned long number = strtoul(text, &end, 8);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || number > 0777) {
        snprintf(error, CONFIG_ERROR_SIZE, "%s = %s: set octal permissions from 0 to 0777, such as 0660", key, text);
        return false;
    }
    *value = (unsigned)number;
    return true;
}

bool config_parse_vector(const char *key, const char *text, double value[3], char error[CONFIG_ERROR_SIZE]) {
    const char *rest = text;
    for (int i = 0; i < 3; i++) {
        char *end;
        value[i] = strtod(rest, &end);
        if (end == rest || !isfinite(value[i])) {
            rest = NULL;
            break;
        }
        rest = end;
    }
    while (rest && isspace((unsigned char)*rest)) {
        rest++;
    }
    if (!rest || *rest != '\0') {
        snprintf(error, CONFIG_ERROR_SIZE, "%s = %s: set three numbers x y z, such as 0 0 -9.81", key, text);
        return false;
    }
    return true;
}

bool config_parse_word(const char *key, const char *text, const char *const *words, size_t count, int *value,
                       char error[CONFIG_ERROR_SIZE]) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], text) == 0) {
            *value = (int)i;
            return true;
        }
    }
    int used = snprintf(error, CONFIG_ERROR_SIZE, "%s = %.100s: set", key, text);
    for (size_t i = 0; i < count && used < CONFIG_ERROR_SIZE; i++) {
        used += snprintf(error + used, (size_t)(CONFIG_ERROR_SIZE - used), "%s %s",
                         i == 0           ? ""
                         : i + 1 == count ? " or"
                                          : ",",
                         words[i]);
    }
    return false;
}

/* Returns the host of "tcp://host:port" and "tls+tcp://host:port", or NULL for another address. */
static const char *tcp_host(const char *address) {
    static const char *const schemes[] = {"tcp://", "tls+tcp://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (strncmp(address, schemes[i], strlen(schemes[i])) == 0) {
            return address + strlen(schemes[i]);
        }
    }
    return NULL;
}

/* Checks that an address is "ipc:///path", "tcp://host:port", "tls+tcp://host:port" or that of a NATS server, and short
 * enough for a socket. */
static bool check_address(const char *key, const char *address, char error[CONFIG_ERROR_SIZE]) {
    bool is_ipc = strncmp(address, "ipc:///", 7) == 0 && address[7] != '\0';
    const char *colon = strrchr(address, ':'), *host = tcp_host(address);
    bool is_tcp = host && colon > host;
    if (is_tcp) {
        char *end;
        unsigned long port = strtoul(colon + 1, &end, 10);
        is_tcp = isdigit((unsigned char)colon[1]) && *end == '\0' && port <= 65535;
    }
    if (transport_is_nats(address) && strlen(address) < TRANSPORT_ADDRESS_SIZE && strrchr(address, '/')[1] != '\0') {
        return true;
    }
    size_t path_length = is_ipc ? strlen(address) - strlen("ipc://") : 0;
    if (path_length > TRANSPORT_PATH_LENGTH) {
        snprintf(error, CONFIG_ERROR_SIZE, "%s: %.200s: the path has %zu bytes, more than the %d that a socket allows",
                 key, address, path_length, TRANSPORT_PATH_LENGTH);
        return false;
    }
    if ((!is_ipc && !is_tcp) || strlen(address) >= TRANSPORT_ADDRESS_SIZE) {
        snprintf(error, CONFIG_ERROR_SIZE,
                 "%s: \"%.200s\" is no endpoint; set ipc:///absolute/path, tcp://address:port, "
                 "tls+tcp://address:port or nats://host:port",
                 key, address);
        return false;
    }
    return true;
}

bool config_has_any_port(const char *address) {
    return tcp_host(address) && strtoul(strrchr(address, ':') + 1, NULL, 10) == 0;
}

bool config_add_address(config_addresses *addresses, const char *key, const char *address,
                        char error[CONFIG_ERROR_SIZE]) {
    if (!check_address(key, address, error)) {
        return false;
    }
    for (size_t i = 0; i < addresses->count; i++) {
        if (strcmp(addresses->address[i], address) == 0 && !config_has_any_port(address)) {
            snprintf(error, CONFIG_ERROR_SIZE, "%s: %.200s is named twice", key, address);
            return false;
        }
    }
    if (addresses->count == CONFIG_ENDPOINTS) {
        snprintf(error, CONFIG_ERROR_SIZE, "%s: more than %d endpoints", key, CONFIG_ENDPOINTS);
        return false;
    }
    snprintf(addresses->address[addresses->count++], TRANSPORT_ADDRESS_SIZE, "%s", address);
    return true;
}

bool config_set_address(config_addresses *addresses, const char *key, const char *address,
                        char error[CONFIG_ERROR_SIZE]) {
    addresses->count = 0;
    return config_add_address(addresses, key, address, error);
}

bool config_parse_addresses(const char *key, const char *text, config_addresses *value, char error[CONFIG_ERROR_SIZE]) {
    char copy[CONFIG_ENDPOINTS * TRANSPORT_ADDRESS_SIZE], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        if (!config_add_address(value, key, word, error)) {
            return false;
        }
    }
    return true;
}
