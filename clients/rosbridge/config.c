/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the configuration of the gateway: table of keys, parsers of their values, and rules between keys.
 */
#include "config.h"

#include <errno.h>
#include <ini.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum key_type {
    KEY_WORD,
    KEY_REQUEST,
    KEY_ENDPOINT,
    KEY_PATH,
    KEY_COUNT,
    KEY_SECONDS,
    KEY_ORIGINS,
    KEY_TRUTH
} key_type;

/* Key of the configuration: place, default, allowed values and meaning. */
typedef struct key {
    const char *section, *name;
    key_type type;
    size_t offset;
    const char *standard;
    double low, high;
    const char *meaning;
} key;

/* Characters of a token of clients at least. */
enum { LEAST_TOKEN = 16 };

#define AT(member) offsetof(config, member)

static const key keys[] = {
    {"server", "address", KEY_WORD, AT(address), "127.0.0.1", 0, 0,
     "listening address; empty: none, only [dial] is used"},
    {"server", "port", KEY_COUNT, AT(port), "9090", 0, 65535, "listening port; 0: any free port"},
    {"server", "port_file", KEY_PATH, AT(port_file), "", 0, 0,
     "file to which the port is written, for programs that let the system choose it"},
    {"server", "certificate", KEY_PATH, AT(certificate), "", 0, 0,
     "TLS: file of the certificate chain; with server.key it is wss://"},
    {"server", "key", KEY_PATH, AT(key), "", 0, 0, "TLS: file of the key"},
    {"server", "token_file", KEY_PATH, AT(token_file), "", 0, 0,
     "file whose first line is the token that every client needs, 16 characters or more"},
    {"server", "origins", KEY_ORIGINS, AT(origins), "http://localhost http://127.0.0.1 http://[::1]", 0, 0,
     "origins of web pages that may connect; without a port: any port; null: files; *: all"},
    {"daemon", "request", KEY_REQUEST, AT(request), "ipc:///run/dynamicsd/dynamicsd.sock", 0, 0,
     "the request endpoint; also tls+tcp://host:port?ca=FILE&certificate=FILE&key=FILE&name=NAME, nats://host:port"},
    {"daemon", "events", KEY_ENDPOINT, AT(events), "ipc:///run/dynamicsd/events.sock", 0, 0,
     "the daemon's event endpoint; not used with a NATS server"},
    {"daemon", "token_file", KEY_PATH, AT(daemon_token_file), "", 0, 0,
     "file whose first line is the token that gives the gateway its role at the daemon; empty: none"},
    {"daemon", "threads", KEY_COUNT, AT(threads), "16", 1, 256, "number of calls that run at the same time"},
    {"daemon", "health_interval", KEY_SECONDS, AT(health_interval), "1", 0.1, 3600,
     "s between requests for health, simulations and streams"},
    {"dial", "url", KEY_WORD, AT(dial), "", 0, 0, "ws:// or wss:// address of a rosbridge server; empty: none"},
    {"dial", "interval", KEY_SECONDS, AT(dial_interval), "1", 0.1, 3600, "s between two attempts to connect"},
    {"ros", "version", KEY_COUNT, AT(ros_version), "2", 1, 2,
     "spelling of types, and of times for a subscriber that states no type"},
    {"ros", "simulation", KEY_WORD, AT(simulation), "*", 0, 0,
     "simulation whose robot is on /tf, /tf_static and /robot_description; *: the oldest; empty: none"},
    {"limits", "connections", KEY_COUNT, AT(connections), "256", 1, 10000,
     "connections; beyond: HTTP 503, or close code 1013"},
    {"limits", "message_bytes", KEY_COUNT, AT(message_bytes), "8388608", 1024, 1 << 30,
     "bytes of a message, and of all waiting fragments of a connection; beyond: close code 1009"},
    {"limits", "calls", KEY_COUNT, AT(calls), "4096", 1, 100000, "calls of a connection in progress; more are refused"},
    {"limits", "queued_calls", KEY_COUNT, AT(queued_calls), "16384", 1, 1000000,
     "calls of all connections in progress; more are refused"},
    {"limits", "queued_bytes", KEY_COUNT, AT(queued_bytes), "67108864", 1024, 1 << 30,
     "bytes of the messages of those calls, and of the waiting trajectories of a stream"},
    {"limits", "subscriptions", KEY_COUNT, AT(subscriptions), "256", 1, 100000,
     "topics that a connection subscribes to"},
    {"limits", "advertisements", KEY_COUNT, AT(advertisements), "256", 1, 100000,
     "topics, services and actions that a connection offers"},
    {"limits", "control_messages", KEY_COUNT, AT(control_messages), "16384", 16, 1000000,
     "answers that wait to be read by a connection; beyond: close code 1008"},
    {"limits", "control_bytes", KEY_COUNT, AT(control_bytes), "134217728", 65536, 1 << 30,
     "bytes of those answers; beyond: close code 1008"},
    {"limits", "data_bytes", KEY_COUNT, AT(data_bytes), "4194304", 65536, 1 << 30,
     "bytes of topics that wait to be read by a connection; beyond it the oldest are dropped"},
    {"limits", "fragments", KEY_COUNT, AT(fragments), "10000", 1, 1000000, "fragments of a message"},
    {"limits", "partial_messages", KEY_COUNT, AT(partial_messages), "8", 1, 1000,
     "incomplete messages of a connection"},
    {"limits", "fragment_time", KEY_SECONDS, AT(fragment_time), "10", 0.1, 3600,
     "s from the first fragment of a message to the last"},
    {"limits", "call_time", KEY_SECONDS, AT(call_time), "30", 0.01, 86400,
     "timeout of a call, s; a call may state a shorter one"},
    {"limits", "idle_time", KEY_SECONDS, AT(idle_time), "3600", 0.1, 1e7,
     "s without a message, call or subscription; then close code 1000"},
    {"limits", "ping_interval", KEY_SECONDS, AT(ping_interval), "15", 1, 30000, "s without input before a ping"},
    {"limits", "ping_timeout", KEY_SECONDS, AT(ping_timeout), "10", 1, 30000,
     "s to answer a ping; then close code 1011"},
    {"log", "verbose", KEY_TRUTH, AT(is_verbose), "no", 0, 0, "log connections and disconnections to standard error"},
};

enum { KEYS = sizeof keys / sizeof keys[0] };

static bool parse_number(const key *k, const char *text, double *number, char error[CONFIG_ERROR_SIZE]) {
    char *end;
    *number = strtod(text, &end);
    bool is_whole = k->type == KEY_SECONDS || *number == floor(*number);
    if (end != text && *end == '\0' && is_whole && *number >= k->low && *number <= k->high) {
        return true;
    }
    snprintf(error, CONFIG_ERROR_SIZE, "%s = %.64s: set a %s from %g to %.12g", k->name, text,
             k->type == KEY_SECONDS ? "time in seconds" : "whole number", k->low, k->high);
    return false;
}

/* Returns true for an address at which a daemon can listen. */
static bool is_endpoint(const char *text) {
    return (strncmp(text, "ipc:///", 7) == 0 && text[7] != '\0') ||
           (strncmp(text, "tcp://", 6) == 0 && strchr(text + 6, ':')) ||
           (strncmp(text, "tls+tcp://", 10) == 0 && strchr(text + 10, ':'));
}

static bool is_nats(const char *text) {
    return strncmp(text, "nats://", 7) == 0 || strncmp(text, "tls://", 6) == 0;
}

bool config_is_nats(const config *c) {
    return is_nats(c->request);
}

static bool parse_text(const key *k, const char *text, size_t size, char *value, char error[CONFIG_ERROR_SIZE]) {
    if (k->type == KEY_PATH && text[0] != '\0' && text[0] != '/') {
        snprintf(error, CONFIG_ERROR_SIZE, "%s = %.64s: set an absolute path, or nothing for none", k->name, text);
        return false;
    }
    bool may_be_nats = k->type == KEY_REQUEST;
    if ((may_be_nats || k->type == KEY_ENDPOINT) && !is_endpoint(text) && !(may_be_nats && is_nats(text))) {
        snprintf(error, CONFIG_ERROR_SIZE,
                 "%s = %.64s: set ipc:///absolute/path, tcp://host:port%s tls+tcp://host:port?ca=FILE%s", k->name, text,
                 may_be_nats ? "," : " or", may_be_nats ? " or nats://host:port" : "");
        return false;
    }
    if (strlen(text) >= size) {
        snprintf(error, CONFIG_ERROR_SIZE, "%s: the value is longer than %zu bytes", k->name, size - 1);
        return false;
    }
    memcpy(value, text, strlen(text) + 1);
    return true;
}

/* Returns true if the `length` bytes of a text are the word. */
static bool is_word(const char *text, size_t length, const char *word) {
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

/* Returns true if the `length` bytes of a text are an origin that a browser sends, or "*". */
static bool is_origin(const char *text, size_t length) {
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t scheme = strlen(schemes[i]);
        if (length > scheme && memcmp(text, schemes[i], scheme) == 0) {
            return true;
        }
    }
    return is_word(text, length, "*") || is_word(text, length, "null");
}

/* Parses origins as browsers send them, without a path, separated by blanks; "*" allows all. */
static bool parse_origins(config *c, const char *text, char error[CONFIG_ERROR_SIZE]) {
    c->origin_count = 0;
    for (text += strspn(text, " \t"); *text != '\0'; text += strspn(text, " \t")) {
        size_t length = strcspn(text, " \t");
        if (!is_origin(text, length) || length >= CONFIG_WORD || c->origin_count == CONFIG_ORIGINS) {
            snprintf(error, CONFIG_ERROR_SIZE,
                     "origins: \"%.*s\": set at most %d of http://host, https://host:port, null or *", (int)length,
                     text, CONFIG_ORIGINS);
            return false;
        }
        memcpy(c->origins[c->origin_count], text, length);
        c->origins[c->origin_count++][length] = '\0';
        text += length;
    }
    return true;
}

static bool set_value(config *c, const key *k, const char *text, char error[CONFIG_ERROR_SIZE]) {
    void *place = (char *)c + k->offset;
    double number;
    switch (k->type) {
    case KEY_WORD:
        return parse_text(k, text, CONFIG_WORD, place, error);
    case KEY_REQUEST:
    case KEY_ENDPOINT:
        return parse_text(k, text, CONFIG_ADDRESS, place, error);
    case KEY_PATH:
        return parse_text(k, text, PATH_MAX, place, error);
    case KEY_COUNT:
        if (!parse_number(k, text, &number, error)) {
            return false;
        }
        *(unsigned long *)place = (unsigned long)number;
        return true;
    case KEY_SECONDS:
        return parse_number(k, text, place, error);
    case KEY_ORIGINS:
        return parse_origins(c, text, error);
    case KEY_TRUTH:
        *(bool *)place = strcasecmp(text, "yes") == 0;
        if (*(bool *)place || strcasecmp(text, "no") == 0) {
            return true;
        }
        snprintf(error, CONFIG_ERROR_SIZE, "%s = %.64s: set yes or no", k->name, text);
        return false;
    }
    return false;
}

void config_init(config *c) {
    char error[CONFIG_ERROR_SIZE];
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < KEYS; i++) {
        set_value(c, &keys[i], keys[i].standard, error);
    }
}

bool config_set(config *c, const char *section, const char *name, const char *value, char error[CONFIG_ERROR_SIZE]) {
    const char *home = NULL;
    for (size_t i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, name) != 0) {
            continue;
        }
        home = keys[i].section;
        if (strcmp(home, section) == 0) {
            return set_value(c, &keys[i], value, error);
        }
    }
    if (home) {
        snprintf(error, CONFIG_ERROR_SIZE, "the key \"%s\" belongs to the section [%s], not to [%s]", name, home,
                 section);
    } else {
        snprintf(error, CONFIG_ERROR_SIZE, "unknown key \"%.64s\" in [%.64s]; see the example configuration", name,
                 section);
    }
    return false;
}

void config_describe(FILE *to) {
    for (size_t i = 0; i < KEYS; i++) {
        const key *k = &keys[i];
        if (i == 0 || strcmp(keys[i - 1].section, k->section) != 0) {
            fprintf(to, "  [%s]\n", k->section);
        }
        fprintf(to, "  %s =%s%s\n      %s", k->name, k->standard[0] != '\0' ? " " : "", k->standard, k->meaning);
        if (k->type == KEY_COUNT || k->type == KEY_SECONDS) {
            fprintf(to, " (%g to %.10g)", k->low, k->high);
        }
        fputc('\n', to);
    }
}

/* State of the parser of a file. */
typedef struct reading {
    config *config;
    char *error;
    bool failed;
} reading;

static int on_key(void *user, const char *section, const char *name, const char *value) {
    reading *r = user;
    if (!r->failed) {
        r->failed = !config_set(r->config, section, name, value, r->error);
    }
    return !r->failed;
}

bool config_read(const char *path, config *c, char error[CONFIG_ERROR_SIZE]) {
    char message[CONFIG_ERROR_SIZE] = "neither a [section] nor a line \"key = value\"";
    reading r = {.config = c, .error = message};
    int line = ini_parse(path, on_key, &r);
    if (line == 0) {
        return true;
    }
    if (line < 0) {
        snprintf(error, CONFIG_ERROR_SIZE, "%.200s cannot be read: %s", path, strerror(errno));
    } else {
        snprintf(error, CONFIG_ERROR_SIZE, "%.128s:%d: %.360s", path, line, message);
    }
    return false;
}

/* Reads the first line of a file. Returns false if it cannot be read, or has fewer than `least` characters. */
static bool read_first_line(const char *path, size_t least, char line[CONFIG_WORD]) {
    FILE *file = fopen(path, "re");
    bool is_read = file && fgets(line, CONFIG_WORD, file) != NULL;
    if (file) {
        fclose(file);
    }
    line[strcspn(line, "\r\n")] = '\0';
    return is_read && strlen(line) >= least;
}

/* Reads the token of clients, and the gateway's own at the daemon. */
static bool read_tokens(config *c, char error[CONFIG_ERROR_SIZE]) {
    if (c->token_file[0] != '\0' && !read_first_line(c->token_file, LEAST_TOKEN, c->token)) {
        snprintf(error, CONFIG_ERROR_SIZE,
                 "server.token_file: the first line of %.200s must hold a token of at least %d characters",
                 c->token_file, LEAST_TOKEN);
        return false;
    }
    if (c->daemon_token_file[0] != '\0' && !read_first_line(c->daemon_token_file, 1, c->daemon_token)) {
        snprintf(error, CONFIG_ERROR_SIZE, "daemon.token_file: the first line of %.200s must hold a token",
                 c->daemon_token_file);
        return false;
    }
    return true;
}

bool config_complete(config *c, char error[CONFIG_ERROR_SIZE]) {
    if (!read_tokens(c, error)) {
        return false;
    }
    if ((c->certificate[0] == '\0') != (c->key[0] == '\0')) {
        snprintf(error, CONFIG_ERROR_SIZE, "set both certificate and key, or neither");
        return false;
    }
    if (c->dial[0] != '\0' && strncmp(c->dial, "ws://", 5) != 0 && strncmp(c->dial, "wss://", 6) != 0) {
        snprintf(error, CONFIG_ERROR_SIZE, "url = %.64s: set ws://host:port/path or wss://host:port/path", c->dial);
        return false;
    }
    if (c->address[0] == '\0' && c->dial[0] == '\0') {
        snprintf(error, CONFIG_ERROR_SIZE, "there is nothing to do: set [server] address, or [dial] url");
        return false;
    }
    return true;
}
