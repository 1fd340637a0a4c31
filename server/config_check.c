/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a configuration beyond its text: warns of addresses that other machines reach, and loads the configured
 * robots. */
#include "config_check.h"

#include <stdio.h>
#include <string.h>

#include "models/directory.h"
#include "models/store.h"
#include "observe/health.h"

/* Returns whether other machines may reach an address: a tcp address other than loopback. */
static bool is_open(const char *address) {
    static const char scheme[] = "tcp://";
    static const char *const loopback[] = {"127.", "localhost:", "[::1]:"};
    if (strncmp(address, scheme, strlen(scheme)) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++) {
        if (strncmp(address + strlen(scheme), loopback[i], strlen(loopback[i])) == 0) {
            return false;
        }
    }
    return true;
}

/* Property of an address. */
typedef bool (*address_test)(const char *address);

static bool is_secure(const char *address) {
    return strncmp(address, "tls+", 4) == 0;
}

/* Returns the first address of a list with the property, or NULL. */
static const char *find_in(const config_addresses *list, address_test test) {
    for (size_t i = 0; i < list->count; i++) {
        if (test(list->address[i])) {
            return list->address[i];
        }
    }
    return NULL;
}

/* Finds the first address of all endpoints with the property. `key` receives the key that lists it. */
static const char *find_endpoint(const config *c, address_test test, const char **key) {
    const struct {
        const char *key;
        const config_addresses *list;
    } lists[] = {
        {"endpoints.request", &c->request}, {"endpoints.events", &c->events}, {"endpoints.ingest", &c->ingest}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *address = find_in(lists[i].list, test);
        if (address) {
            *key = lists[i].key;
            return address;
        }
    }
    return NULL;
}

bool config_check_tls(const config *c, char error[CONFIG_ERROR_SIZE]) {
    const char *key, *address = c->tls.certificate_file[0] ? NULL : find_endpoint(c, is_secure, &key);
    if (address) {
        snprintf(error, CONFIG_ERROR_SIZE,
                 "%s: %s needs the daemon's certificate: set tls.certificate_file and tls.key_file", key, address);
        return false;
    }
    const transport_tls files = config_tls_files(c);
    return c->tls.certificate_file[0] == '\0' || transport_check_tls(&files, error);
}

bool config_check_plaintext(const config *c, char error[CONFIG_ERROR_SIZE]) {
    const char *key, *address = c->allow_plaintext ? NULL : find_endpoint(c, is_open, &key);
    if (address) {
        snprintf(error, CONFIG_ERROR_SIZE,
                 "%s: %s can be reached by other machines, and there is no encryption: tokens and data can be read on "
                 "their way; write tls+tcp:// with the certificates of [tls], listen on 127.0.0.1, or set "
                 "endpoints.allow_plaintext = yes if the network is trusted",
                 key, address);
    }
    return !address;
}

/* Logs a warning for the first open address of a list. Returns whether there is none. */
static bool check_list(const char *key, const config_addresses *list, logger *log) {
    const char *address = find_in(list, is_open);
    if (address) {
        log_warning(log,
                    "%s: %s can be reached by other machines, and there is no encryption: tokens and data can be read "
                    "on their way; let a firewall choose the machines",
                    key, address);
    }
    return !address;
}

bool config_check_access(const config *c, logger *log) {
    bool is_local = check_list("endpoints.request", &c->request, log);
    is_local = check_list("endpoints.events", &c->events, log) && is_local;
    is_local = (!c->has_ingest || check_list("endpoints.ingest", &c->ingest, log)) && is_local;
    bool is_observed = c->observe.count > 0 && is_open(c->observe.address[0]);
    if (is_observed) {
        log_warning(log,
                    "observe.listen: %s can be reached by other machines: everybody who reaches it can read the health "
                    "and the numbers of this daemon; listen on 127.0.0.1, or let a firewall choose the machines",
                    c->observe.address[0]);
    }
    return is_local && !is_observed;
}

/* Reads the file of tokens. Returns whether it is good. */
static bool check_tokens(const config *c, logger *log) {
    char error[ACCESS_ERROR_SIZE];
    access_guard guard;
    access_init(&guard);
    bool is_good = access_set(&guard, &c->access, error);
    if (!is_good) {
        log_error(log, "%s", error);
    }
    access_free(&guard);
    return is_good;
}

bool config_check(const config *c) {
    logger log = {0};
    char problem[HEALTH_MESSAGE_SIZE];
    log_configure(&log, LOG_LEVEL_WARNING, LOG_FORMAT_PLAIN);
    bool is_clean = config_check_access(c, &log) && check_tokens(c, &log);
    model_store *store = model_store_create(c->models);
    model_directory *directory = store ? model_directory_create(store, &log) : NULL;
    if (directory) {
        const model_sources sources = config_model_sources(c);
        model_directory_scan(directory, &sources);
        is_clean = is_clean && model_directory_missing(directory) == 0 &&
                   model_directory_problem(directory, problem, sizeof problem) == 0;
    } else {
        log_error(&log, "out of memory");
        is_clean = false;
    }
    model_directory_free(directory);
    model_store_free(store);
    return is_clean;
}
