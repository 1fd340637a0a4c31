/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the address of the daemon, and the token of the caller.
 */
#include "endpoint.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char SYSTEM_CONFIG[] = "/etc/dynamicsd/dynamicsd.conf";
static const char STANDARD_ENDPOINT[] = "ipc:///run/dynamicsd/dynamicsd.sock";

static exit_code set_address(const char *address, size_t length, char endpoint[ENDPOINT_SIZE]) {
    if (length >= ENDPOINT_SIZE) {
        return complain(EXIT_USAGE, "the address \"%.32s...\" is longer than %d bytes", address, ENDPOINT_SIZE - 1);
    }
    memcpy(endpoint, address, length);
    endpoint[length] = '\0';
    return EXIT_OK;
}

/* Callback of inih for each key: stores the first value of `request` in the section [endpoints]. */
static int on_key(void *user, const char *section, const char *name, const char *value) {
    char **found = user;
    if (strcmp(section, "endpoints") == 0 && strcmp(name, "request") == 0 && !*found) {
        *found = strdup(value);
    }
    return 1;
}

/* Reads the address from a configuration file. `endpoint` is empty if the file has no address. Reports errors. */
static exit_code look_in(const char *path, char endpoint[ENDPOINT_SIZE]) {
    endpoint[0] = '\0';
    char *value = NULL;
    int line = ini_parse(path, on_key, &value);
    exit_code code = EXIT_OK;
    if (line == -1) {
        code = complain(EXIT_USAGE, "%s cannot be read: %s", path, strerror(errno));
    } else if (line > 0) {
        code = complain(EXIT_USAGE, "%s:%d: neither a [section] nor a line \"key = value\"", path, line);
    } else if (value) {
        const char *address = value + strspn(value, " \t");
        code = set_address(address, strcspn(address, " \t"), endpoint);
    }
    free(value);
    return code;
}

exit_code find_endpoint(const arguments *args, char endpoint[ENDPOINT_SIZE]) {
    if (args->value[OPTION_ENDPOINT]) {
        return set_address(args->value[OPTION_ENDPOINT], strlen(args->value[OPTION_ENDPOINT]), endpoint);
    }
    const char *config = args->value[OPTION_CONFIG];
    const char *environment = getenv("DYNAMICSD_ENDPOINT");
    if (!config && environment && environment[0] != '\0') {
        return set_address(environment, strlen(environment), endpoint);
    }
    if (config || access(SYSTEM_CONFIG, R_OK) == 0) {
        exit_code code = look_in(config ? config : SYSTEM_CONFIG, endpoint);
        if (code != EXIT_OK || endpoint[0] != '\0') {
            return code;
        }
    }
    return set_address(STANDARD_ENDPOINT, strlen(STANDARD_ENDPOINT), endpoint);
}

exit_code find_token(const arguments *args, char token[TOKEN_SIZE]) {
    const char *path = args->value[OPTION_TOKEN_FILE] ? args->value[OPTION_TOKEN_FILE] : getenv("DYNAMICSD_TOKEN_FILE");
    token[0] = '\0';
    if (!path || path[0] == '\0') {
        return EXIT_OK;
    }
    FILE *file = fopen(path, "re");
    if (!file) {
        return complain(EXIT_USAGE, "the file of the token, %s, cannot be read: %s", path, strerror(errno));
    }
    bool is_read = fgets(token, TOKEN_SIZE, file) != NULL;
    fclose(file);
    token[strcspn(token, "\r\n")] = '\0';
    if (!is_read || token[0] == '\0') {
        return complain(EXIT_USAGE, "the file %s has no token in its first line", path);
    }
    return EXIT_OK;
}
