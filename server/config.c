/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the configuration: table of keys, parser of the INI file, and checks between keys. */
#include "config.h"

#include <dynamics/contact.h>
#include <dynamics/identification.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_value.h"
#include "files/regular_file.h"
#include "methods/text.h"
#include "observe/http_listener.h"

/* Longest line that the parser reads completely. */
enum { LINE_SIZE = 197 };

static const char *const level_words[] = {"error", "warning", "info", "debug"};
static const char *const format_words[] = {"auto", "plain", "journal", "json"};
static const char *const base_words[] = {"fixed", "floating"};
static const char *const mimic_words[] = {"coupled", "independent"};

static const char *const switch_words[] = {"no", "yes"};
static const char *const compile_words[] = {"off", "on", "first-use"};

enum { NAME_LENGTH = 64, LEVELS = 4, FORMATS = 4, COMPILE_MODES = 3 };

typedef enum key_type {
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
} key_type;

/* Key of the configuration: location, type and range of its value. */
typedef struct key {
    const char *section, *name;
    key_type type;
    size_t offset;
    double low, high;
    bool is_fixed; /* the daemon reads it at its start only */
} key;

static const key keys[] = {
    {"endpoints", "request", KEY_ADDRESSES, offsetof(config, request), 0, 0, true},
    {"endpoints", "events", KEY_ADDRESSES, offsetof(config, events), 0, 0, true},
    {"endpoints", "ingest", KEY_ADDRESSES, offsetof(config, ingest), 0, 0, true},
    {"endpoints", "ipc_mode", KEY_MODE, offsetof(config, ipc_mode), 0, 0, true},
    {"endpoints", "allow_plaintext", KEY_SWITCH, offsetof(config, allow_plaintext), 0, 0, false},
    {"models", "directory", KEY_DIRECTORIES, offsetof(config, directories), 0, 0, false},
    {"models", "strict", KEY_SWITCH, offsetof(config, strict), 0, 0, false},
    {"models", "keep", KEY_SWITCH, offsetof(config, persist_models), 0, 0, false},
    {"limits", "message_bytes", KEY_BYTES, offsetof(config, message_bytes), 4096, 1 << 30, true},
    {"limits", "reply_bytes", KEY_BYTES, offsetof(config, reply_bytes), 65536, 1 << 30, false},
    {"limits", "memory_bytes", KEY_BYTES, offsetof(config, memory_bytes), 0, 1UL << 46, false},
    {"limits", "samples", KEY_COUNT, offsetof(config, samples), 1, 1e9, false},
    {"limits", "models", KEY_COUNT, offsetof(config, models), 1, 100000, false},
    {"limits", "links", KEY_COUNT, offsetof(config, links), 1, DYN_MAX_LINKS, false},
    {"limits", "constraints", KEY_COUNT, offsetof(config, constraints), 0, DYN_MAX_CONSTRAINTS, false},
    {"limits", "machine_elements", KEY_COUNT, offsetof(config, machine_elements), 0, DYN_MAX_MACHINE_ELEMENTS, false},
    {"limits", "contact_surfaces", KEY_COUNT, offsetof(config, contact_surfaces), 0, DYN_MAX_CONTACT_SURFACES, false},
    {"limits", "estimates", KEY_COUNT, offsetof(config, estimates), 1, 10000, false},
    {"limits", "connections", KEY_COUNT, offsetof(config, connections), 1, 100000, false},
    {"limits", "peer_connections", KEY_COUNT, offsetof(config, peer_connections), 0, 100000, false},
    {"limits", "request_time", KEY_SECONDS, offsetof(config, request_time), 1e-3, 86400, false},
    {"limits", "idle_time", KEY_SECONDS, offsetof(config, idle_time), 0.1, 1e7, false},
    {"limits", "reply_time", KEY_SECONDS, offsetof(config, reply_time), 0.01, 3600, false},
    {"limits", "message_time", KEY_SECONDS, offsetof(config, message_time), 0.1, 3600, false},
    {"limits", "simulations", KEY_COUNT, offsetof(config, simulations), 0, 100000, false},
    {"limits", "streams", KEY_COUNT, offsetof(config, streams), 0, 10000, false},
    {"limits", "topics", KEY_COUNT, offsetof(config, topics), 0, 10000, false},
    {"limits", "stream_points", KEY_COUNT, offsetof(config, stream_points), 1, 10000000, false},
    {"limits", "recording_bytes", KEY_BYTES, offsetof(config, recording_bytes), 4096, 1UL << 44, false},
    {"limits", "recordings_bytes", KEY_BYTES, offsetof(config, recordings_bytes), 4096, 1UL << 50, false},
    {"limits", "recordings", KEY_COUNT, offsetof(config, recordings), 0, 1000000, false},
    {"limits", "disk_reserve_bytes", KEY_BYTES, offsetof(config, disk_reserve_bytes), 0, 1UL << 50, false},
    {"limits", "jobs", KEY_COUNT, offsetof(config, jobs), 0, 1024, false},
    {"limits", "job_time", KEY_SECONDS, offsetof(config, job_time), 1e-3, 1e7, false},
    {"limits", "job_bytes", KEY_BYTES, offsetof(config, job_bytes), 0, 1UL << 46, false},
    {"limits", "job_result_time", KEY_SECONDS, offsetof(config, job_result_time), 0.1, 1e7, false},
    {"simulations", "state_directory", KEY_PATH, offsetof(config, state_directory), 0, 0, true},
    {"simulations", "threads", KEY_COUNT, offsetof(config, threads), 0, 1024, true},
    {"simulations", "save_interval", KEY_SECONDS, offsetof(config, save_interval), 0, 86400, false},
    {"simulations", "lease_time", KEY_SECONDS, offsetof(config, lease_time), 0.1, 86400, false},
    {"server", "workers", KEY_COUNT, offsetof(config, workers), 0, 1024, true},
    {"server", "contexts", KEY_COUNT, offsetof(config, contexts), 8, 4096, true},
    {"server", "drain_time", KEY_SECONDS, offsetof(config, drain_time), 0, 3600, false},
    {"nats", "replica", KEY_TEXT, offsetof(config, nats.replica), 0, 0, true},
    {"nats", "user_file", KEY_PATH, offsetof(config, nats.user_file), 0, 0, true},
    {"nats", "token_file", KEY_PATH, offsetof(config, nats.token_file), 0, 0, true},
    {"nats", "credentials_file", KEY_PATH, offsetof(config, nats.credentials_file), 0, 0, true},
    {"nats", "nkey", KEY_TEXT, offsetof(config, nats.nkey), 0, 0, true},
    {"nats", "nkey_seed_file", KEY_PATH, offsetof(config, nats.nkey_seed_file), 0, 0, true},
    {"nats", "ca_file", KEY_PATH, offsetof(config, nats.ca_file), 0, 0, true},
    {"nats", "certificate_file", KEY_PATH, offsetof(config, nats.certificate_file), 0, 0, true},
    {"nats", "key_file", KEY_PATH, offsetof(config, nats.key_file), 0, 0, true},
    {"compile", "mode", KEY_COMPILE_MODE, offsetof(config, compile), 0, 0, true},
    {"compile", "program", KEY_PATH, offsetof(config, compile_program), 0, 0, true},
    {"compile", "compiler", KEY_PATH, offsetof(config, compile_compiler), 0, 0, true},
    {"compile", "time", KEY_SECONDS, offsetof(config, compile_time), 0.1, 3600, true},
    {"compile", "memory_bytes", KEY_BYTES, offsetof(config, compile_memory_bytes), 1 << 20, 1UL << 40, true},
    {"compile", "cache_bytes", KEY_BYTES, offsetof(config, compile_cache_bytes), 65536, 1UL << 40, true},
    {"log", "level", KEY_LEVEL, offsetof(config, level), 0, 0, false},
    {"log", "format", KEY_FORMAT, offsetof(config, format), 0, 0, false},
    {"health", "probe_interval", KEY_SECONDS, offsetof(config, probe_interval), 0.01, 3600, false},
    {"health", "probe_timeout", KEY_SECONDS, offsetof(config, probe_timeout), 0.01, 3600, false},
    {"health", "worker_time", KEY_SECONDS, offsetof(config, worker_time), 0.1, 86400, false},
    {"access", "readers", KEY_RULES, offsetof(config, access), ACCESS_READER, 0, false},
    {"access", "users", KEY_RULES, offsetof(config, access), ACCESS_USER, 0, false},
    {"access", "administrators", KEY_RULES, offsetof(config, access), ACCESS_ADMINISTRATOR, 0, false},
    {"access", "unix", KEY_ROLE, offsetof(config, access.unix_role), 0, 0, false},
    {"access", "tcp", KEY_ROLE, offsetof(config, access.tcp_role), 0, 0, false},
    {"access", "nats", KEY_ROLE, offsetof(config, access.nats_role), 0, 0, false},
    {"access", "tokens", KEY_PATH, offsetof(config, access.tokens), 0, 0, false},
    {"observe", "listen", KEY_ADDRESSES, offsetof(config, observe), 0, 0, true},
};

enum { KEYS = sizeof keys / sizeof keys[0] };

/* State of reading the file. */
typedef struct reading {
    config *config;
    const char *path;
    FILE *file;
    int line;
    bool has_key;         /* the present section has one, so an indented line continues its value */
    int lines_seen[KEYS]; /* line of each key, 0: not yet */
    int failed_line;      /* line of the stored error, 0: none */
    char *error;
} reading;

static void fail(reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Stores an error with its file and line, unless an error of the same or an earlier line is stored already. */
static void fail(reading *r, const char *format, ...) {
    if (r->failed_line > 0 && r->failed_line <= r->line) {
        return;
    }
    r->failed_line = r->line;
    int used = snprintf(r->error, CONFIG_ERROR_SIZE, "%s:%d: ", r->path, r->line);
    if (used < CONFIG_ERROR_SIZE) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(r->error + used, (size_t)(CONFIG_ERROR_SIZE - used), format, arguments);
        va_end(arguments);
    }
}

void config_init(config *c) {
    memset(c, 0, sizeof *c);
    c->request.count = 2;
    snprintf(c->request.address[0], TRANSPORT_ADDRESS_SIZE, "ipc:///run/dynamicsd/dynamicsd.sock");
    snprintf(c->request.address[1], TRANSPORT_ADDRESS_SIZE, "tcp://127.0.0.1:7400");
    c->events.count = 2;
    snprintf(c->events.address[0], TRANSPORT_ADDRESS_SIZE, "ipc:///run/dynamicsd/events.sock");
    snprintf(c->events.address[1], TRANSPORT_ADDRESS_SIZE, "tcp://127.0.0.1:7401");
    c->ipc_mode = 0660;
    c->directories.count = 2;
    snprintf(c->directories.path[0], PATH_MAX, "/etc/dynamicsd/robots");
    snprintf(c->directories.path[1], PATH_MAX, "/usr/share/dynamicsd/robots");
    c->message_bytes = 64UL << 20;
    c->reply_bytes = 256UL << 20;
    c->samples = 1000000;
    c->models = 256;
    c->links = DYN_MAX_LINKS;
    c->constraints = 64;
    c->machine_elements = 1000;
    c->contact_surfaces = DYN_MAX_CONTACT_SURFACES;
    c->estimates = DYN_IDENTIFICATION_ESTIMATES;
    c->connections = 1024;
    c->request_time = 30;
    c->idle_time = 600;
    c->reply_time = 0.5;
    c->message_time = 30;
    c->simulations = 1024;
    c->streams = 64;
    c->topics = 128;
    c->stream_points = 100000;
    c->recording_bytes = 1UL << 30;
    c->recordings_bytes = 4UL << 30;
    c->recordings = 4096;
    c->disk_reserve_bytes = 64UL << 20;
    c->jobs = 64;
    c->job_time = 3600;
    c->job_result_time = 600;
    snprintf(c->state_directory, sizeof c->state_directory, "/var/lib/dynamicsd");
    c->save_interval = 60;
    c->lease_time = 60;
    c->contexts = 128;
    c->drain_time = 5;
    c->compile = COMPILE_OFF;
    c->compile_time = 120;
    c->compile_memory_bytes = 2UL << 30;
    c->compile_cache_bytes = 256UL << 20;
    c->level = LOG_LEVEL_INFO;
    c->format = LOG_FORMAT_AUTO;
    c->probe_interval = 0.1;
    c->probe_timeout = 0.15;
    c->worker_time = 5;
    c->access.unix_role = ACCESS_USER;
    c->access.tcp_role = ACCESS_NONE;
    c->access.nats_role = ACCESS_USER;
}

bool config_derive_ingest(config *c, char error[CONFIG_ERROR_SIZE]) {
    if (c->has_ingest) {
        return true;
    }
    memset(&c->ingest, 0, sizeof c->ingest);
    for (size_t i = 0; i < c->request.count; i++) {
        static const char suffix[] = ".ingest";
        const char *address = c->request.address[i], *colon = strrchr(address, ':');
        if (transport_is_nats(address)) {
            continue;
        }
        char *derived = c->ingest.address[c->ingest.count++];
        if (strncmp(address, "tcp://", 6) == 0 && colon) {
            snprintf(derived, TRANSPORT_ADDRESS_SIZE, "%.*s:0", (int)(colon - address), address);
            continue;
        }
        snprintf(derived, TRANSPORT_ADDRESS_SIZE, "%.240s%s", address, suffix);
        size_t length = strlen(address + strlen("ipc://")) + strlen(suffix);
        if (length > TRANSPORT_PATH_LENGTH) {
            snprintf(error, CONFIG_ERROR_SIZE,
                     "%s%s: the path of the socket for streams has %zu bytes, more than %d; choose a shorter path for "
                     "requests, or set the endpoint for streams (endpoints.ingest, or --ingest)",
                     address, suffix, length, TRANSPORT_PATH_LENGTH);
            return false;
        }
    }
    return true;
}

void config_free(config *c) {
    for (size_t i = 0; i < c->rule_count; i++) {
        free(c->rules[i].name);
        free(c->rules[i].file);
    }
    free(c->rules);
    c->rules = NULL;
    c->rule_count = 0;
}

bool config_parse_level(const char *text, log_level *level, char error[CONFIG_ERROR_SIZE]) {
    int number;
    if (!config_parse_word("level", text, level_words, LEVELS, &number, error)) {
        return false;
    }
    *level = (log_level)number;
    return true;
}

bool config_parse_format(const char *text, log_format *format, char error[CONFIG_ERROR_SIZE]) {
    int number;
    if (!config_parse_word("format", text, format_words, FORMATS, &number, error)) {
        return false;
    }
    *format = (log_format)number;
    return true;
}

static bool parse_compile_mode(const char *text, compile_mode *mode, char error[CONFIG_ERROR_SIZE]) {
    int number;
    if (!config_parse_word("mode", text, compile_words, COMPILE_MODES, &number, error)) {
        return false;
    }
    *mode = (compile_mode)number;
    return true;
}

static bool parse_switch(const char *name, const char *text, bool *is_on, char error[CONFIG_ERROR_SIZE]) {
    int number;
    if (!config_parse_word(name, text, switch_words, 2, &number, error)) {
        return false;
    }
    *is_on = number == 1;
    return true;
}

static bool parse_role(const char *name, const char *text, access_role *role, char error[CONFIG_ERROR_SIZE]) {
    int number;
    if (!config_parse_word(name, text, access_role_words, ACCESS_ROLES, &number, error)) {
        return false;
    }
    *role = (access_role)number;
    return true;
}

static bool parse_rules(const key *k, const char *text, access_policy *policy, char error[CONFIG_ERROR_SIZE]) {
    char reason[ACCESS_ERROR_SIZE];
    if (access_add_rules(policy, (access_role)k->low, text, reason)) {
        return true;
    }
    snprintf(error, CONFIG_ERROR_SIZE, "%s: %s", k->name, reason);
    return false;
}

static bool parse_path(const char *name, const char *text, char *value, char error[CONFIG_ERROR_SIZE]) {
    if (text[0] != '\0' && text[0] != '/') {
        snprintf(error, CONFIG_ERROR_SIZE, "%s = %s: set an absolute path, or nothing for none", name, text);
        return false;
    }
    snprintf(value, PATH_MAX, "%s", text);
    return true;
}

/* Parses one word, which may be part of a subject of NATS. */
static bool parse_name(const char *name, const char *text, char *value, char error[CONFIG_ERROR_SIZE]) {
    if (strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(text) ||
        strlen(text) > NAME_LENGTH) {
        snprintf(error, CONFIG_ERROR_SIZE, "%s = %s: set at most %d letters, digits, - and _", name, text, NAME_LENGTH);
        return false;
    }
    snprintf(value, PATH_MAX, "%s", text);
    return true;
}

/* Adds a directory to a list; an empty text adds nothing. Returns false, with an error, for a relative path or a full
 * list. */
static bool parse_directory(const char *name, const char *text, config_directories *list,
                            char error[CONFIG_ERROR_SIZE]) {
    if (text[0] == '\0') {
        return true;
    }
    if (list->count == CONFIG_DIRECTORIES) {
        snprintf(error, CONFIG_ERROR_SIZE, "%s = %s: there are %d directories already; that is the limit", name, text,
                 CONFIG_DIRECTORIES);
        return false;
    }
    if (!parse_path(name, text, list->path[list->count], error)) {
        return false;
    }
    list->count++;
    return true;
}

/* Parses one value and stores it. The first line of a list (`is_first`) replaces its default; later lines add to the
 * list. */
static bool set_value(config *c, const key *k, bool is_first, const char *text, char error[CONFIG_ERROR_SIZE]) {
    void *place = (char *)c + k->offset;
    unsigned long low = (unsigned long)k->low, high = (unsigned long)k->high;
    switch (k->type) {
    case KEY_ADDRESSES:
        if (is_first) {
            ((config_addresses *)place)->count = 0;
        }
        return config_parse_addresses(k->name, text, place, error);
    case KEY_DIRECTORIES:
        if (is_first) {
            ((config_directories *)place)->count = 0;
        }
        return parse_directory(k->name, text, place, error);
    case KEY_MODE:
        return config_parse_mode(k->name, text, place, error);
    case KEY_PATH:
        return parse_path(k->name, text, place, error);
    case KEY_TEXT:
        return parse_name(k->name, text, place, error);
    case KEY_COUNT:
    case KEY_BYTES:
        return config_parse_count(k->name, text, low, high, k->type == KEY_BYTES, place, error);
    case KEY_SECONDS:
        return config_parse_seconds(k->name, text, k->low, k->high, place, error);
    case KEY_LEVEL:
        return config_parse_level(text, place, error);
    case KEY_FORMAT:
        return config_parse_format(text, place, error);
    case KEY_COMPILE_MODE:
        return parse_compile_mode(text, place, error);
    case KEY_SWITCH:
        return parse_switch(k->name, text, place, error);
    case KEY_ROLE:
        return parse_role(k->name, text, place, error);
    case KEY_RULES:
        return parse_rules(k, text, place, error);
    }
    return false;
}

/* Returns the rule of a section [model NAME], and creates it the first time. Returns NULL when out of memory. */
static model_rule *find_rule(config *c, const char *name) {
    for (size_t i = 0; i < c->rule_count; i++) {
        if (strcmp(c->rules[i].name, name) == 0) {
            return &c->rules[i];
        }
    }
    model_rule *rules = realloc(c->rules, (c->rule_count + 1) * sizeof *rules);
    if (!rules) {
        return NULL;
    }
    c->rules = rules;
    model_rule *rule = &rules[c->rule_count];
    *rule = (model_rule){.name = strdup(name)};
    c->rule_count += rule->name != NULL;
    return rule->name ? rule : NULL;
}

/* Parses a key of the section [model NAME]; `model` is NAME. */
static void read_rule(reading *r, const char *model, const char *name, const char *value) {
    char error[CONFIG_ERROR_SIZE];
    int word = 0;
    bool is_good = true;
    if (strchr(model, '.')) {
        fail(r,
             "the name in [model %s] has a \".\"; names of models have none: choose another "
             "name, and set the file by its key",
             model);
        return;
    }
    model_rule *rule = find_rule(r->config, model);
    if (!rule) {
        fail(r, "out of memory");
        return;
    }
    if (strcmp(name, "file") == 0) {
        free(rule->file);
        rule->file = strdup(value);
    } else if (strcmp(name, "base") == 0) {
        is_good = config_parse_word(name, value, base_words, 2, &word, error);
        rule->options.base = word ? DYN_BASE_FLOATING : DYN_BASE_FIXED;
    } else if (strcmp(name, "mimic") == 0) {
        is_good = config_parse_word(name, value, mimic_words, 2, &word, error);
        rule->options.mimic = word ? DYN_MIMIC_POLICY_INDEPENDENT : DYN_MIMIC_POLICY_COUPLED;
    } else if (strcmp(name, "gravity") == 0) {
        is_good = config_parse_vector(name, value, rule->options.gravity, error);
        rule->options.has_gravity = true;
    } else if (strcmp(name, "strict") == 0) {
        is_good = parse_switch(name, value, &rule->options.strict, error);
        rule->has_strict = true;
    } else {
        fail(r, "unknown key \"%s\" in [model %s]; the keys are file, base, mimic, gravity and strict", name, model);
    }
    if (!is_good) {
        fail(r, "%s", error);
    }
}

/* Reports an unknown section, with the closest known one. */
static void check_section(reading *r, const char *section) {
    static const char sections[] =
        "the sections are endpoints, models, model NAME, limits, simulations, server, nats, compile, log, health, "
        "access and observe";
    text_guess guess = text_guess_start(section);
    if (strncmp(section, "model ", 6) == 0) {
        return;
    }
    for (size_t i = 0; i < KEYS; i++) {
        text_guess_consider(&guess, keys[i].section);
        if (strcmp(keys[i].section, section) == 0) {
            return;
        }
    }
    if (guess.closest) {
        fail(r, "unknown section [%s]; did you mean [%s]?", section, guess.closest);
    } else {
        fail(r, "unknown section [%s]; %s", section, sections);
    }
}

/* Reports an unknown section if a line is a heading, by the rules of the parser. An indented line after a key is no
 * heading: it continues the key's value. */
static void check_heading(reading *r, const char *line) {
    char section[LINE_SIZE + 1];
    line += r->line == 1 && strncmp(line, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    size_t indent = strspn(line, " \t");
    const char *end = strchr(line, ']');
    if (line[indent] != '[' || (indent > 0 && r->has_key) || !end) {
        return;
    }
    r->has_key = false;
    snprintf(section, sizeof section, "%.*s", (int)(end - line - (ptrdiff_t)indent - 1), line + indent + 1);
    check_section(r, section);
}

/* Reports a key that its section does not have, with the section that has the key or else the closest known key. */
static void fail_unknown(reading *r, const char *section, const char *name) {
    text_guess key_guess = text_guess_start(name);
    const char *home = NULL;
    for (size_t i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].section, section) == 0) {
            text_guess_consider(&key_guess, keys[i].name);
        }
        if (strcmp(keys[i].name, name) == 0) {
            home = keys[i].section;
        }
    }
    if (section[0] == '\0') {
        fail(r, "the key \"%s\" stands before the first section; write [%s] above it", name, home ? home : "limits");
    } else if (home) {
        fail(r, "the key \"%s\" belongs to the section [%s], not to [%s]", name, home, section);
    } else {
        char hint[TEXT_HINT_SIZE];
        fail(r, "unknown key \"%s\" in [%s]; %s", name, section,
             text_guess_hint(&key_guess, "the example dynamicsd.conf lists them", hint));
    }
}

/* Handles a line "name = value" for the parser. Always returns 1, so that the parser goes on: errors are stored by
 * fail. */
static int read_key(void *context, const char *section, const char *name, const char *value) {
    reading *r = context;
    char error[CONFIG_ERROR_SIZE];
    r->has_key = true;
    if (strncmp(section, "model ", 6) == 0) {
        read_rule(r, section + 6 + strspn(section + 6, " "), name, value);
        return 1;
    }
    size_t i = 0;
    while (i < KEYS && (strcmp(keys[i].section, section) != 0 || strcmp(keys[i].name, name) != 0)) {
        i++;
    }
    if (i == KEYS) {
        fail_unknown(r, section, name);
        return 1;
    }
    bool is_first = r->lines_seen[i] == 0;
    /* Allows repetition for lists only, which may continue in indented lines. */
    bool is_list = keys[i].type == KEY_ADDRESSES || keys[i].type == KEY_DIRECTORIES || keys[i].type == KEY_RULES;
    if (!is_first && !is_list) {
        fail(r, "\"%s\" was set already in line %d", name, r->lines_seen[i]);
        return 1;
    }
    r->lines_seen[i] = r->line;
    r->config->has_ingest = r->config->has_ingest || keys[i].offset == offsetof(config, ingest);
    if (!set_value(r->config, &keys[i], is_first, value, error)) {
        fail(r, "%s", error);
    }
    return 1;
}

/* Reads the next line for the parser, counts it and checks its heading. Returns NULL at the end of the file, and, with
 * an error stored, when the file cannot be read or a line is too long. */
static char *read_line(char *line, int size, void *context) {
    reading *r = context;
    char *result = fgets(line, size, r->file);
    r->line += result != NULL;
    if (!result && ferror(r->file)) {
        r->line++;
        fail(r, "%s", strerror(errno));
    }
    if (result && strlen(result) > LINE_SIZE - 1 && result[strlen(result) - 1] != '\n') {
        fail(r, "the line has more than %d bytes; continue it in a next line that is indented", LINE_SIZE);
        return NULL;
    }
    if (result) {
        check_heading(r, result);
    }
    return result;
}

/* Reports an address that two lists share. Port 0 may be in both, since the system chooses another port each time. */
static void check_apart(reading *r, const config_addresses *a, const char *a_name, const config_addresses *b,
                        const char *b_name) {
    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = 0; j < b->count; j++) {
            if (strcmp(a->address[i], b->address[j]) == 0 && !config_has_any_port(a->address[i])) {
                fail(r, "%s is named for %s and for %s; choose two", a->address[i], a_name, b_name);
            }
        }
    }
}

/* Copies of one request and one reply in memory. A request may be held as received, decoded, and twice more by its
 * method, and the next one must fit too. A reply is held as results and encoded. */
enum { REQUEST_COPIES = 5, REPLY_COPIES = 2, MEMORY_MARGIN = 4 << 20 };

static unsigned long memory_needed(const config *c) {
    return REQUEST_COPIES * c->message_bytes + REPLY_COPIES * c->reply_bytes + MEMORY_MARGIN;
}

bool config_fit_memory(config *c, size_t available) {
    if (c->memory_bytes > 0) {
        return false;
    }
    c->memory_bytes = available / 2;
    if (memory_needed(c) <= c->memory_bytes) {
        return false;
    }
    double room =
        c->memory_bytes > 2 * (unsigned long)MEMORY_MARGIN ? (double)c->memory_bytes - MEMORY_MARGIN : MEMORY_MARGIN;
    double factor = room / (double)(memory_needed(c) - MEMORY_MARGIN);
    c->message_bytes = (unsigned long)((double)c->message_bytes * factor);
    c->reply_bytes = (unsigned long)((double)c->reply_bytes * factor);
    return true;
}

static void check_memory(reading *r) {
    const config *c = r->config;
    if (c->memory_bytes > 0 && c->memory_bytes < memory_needed(c)) {
        fail(r,
             "memory_bytes = %lu is too little for one request of message_bytes = %lu and its reply of reply_bytes = "
             "%lu: make it %lu or more (%d message_bytes, %d reply_bytes and 4 MiB), or lower those",
             c->memory_bytes, c->message_bytes, c->reply_bytes, memory_needed(c), REQUEST_COPIES, REPLY_COPIES);
    }
}

/* Checks that the pages have one address at most, and one of tcp. */
static void check_observe(reading *r) {
    const config_addresses *list = &r->config->observe;
    char error[HTTP_ERROR_SIZE];
    if (list->count > 1) {
        fail(r, "observe.listen names %zu addresses; name one", list->count);
    } else if (list->count == 1 && !http_listener_check(list->address[0], error)) {
        fail(r, "observe.listen: %s", error);
    }
}

/* Checks that NATS carries requests only, and that keys that need each other are set. */
static void check_nats(reading *r) {
    const config *c = r->config;
    const config_addresses *lists[] = {&c->events, &c->ingest};
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < lists[i]->count; k++) {
            if (transport_is_nats(lists[i]->address[k])) {
                fail(r, "%s: NATS is an endpoint for requests; name it in endpoints.request only",
                     lists[i]->address[k]);
            }
        }
    }
    if ((c->nats.nkey[0] == '\0') != (c->nats.nkey_seed_file[0] == '\0')) {
        fail(r, "nats.nkey and nats.nkey_seed_file belong together: the public key and the file of its seed");
    }
    if ((c->nats.certificate_file[0] == '\0') != (c->nats.key_file[0] == '\0')) {
        fail(r, "nats.certificate_file and nats.key_file belong together");
    }
}

/* Checks rules between keys. */
static void check(reading *r) {
    const config *c = r->config;
    check_memory(r);
    if (c->request.count == 0) {
        fail(r, "endpoints.request names no endpoint");
    }
    check_nats(r);
    check_observe(r);
    check_apart(r, &c->request, "requests", &c->events, "events");
    check_apart(r, &c->request, "requests", &c->ingest, "streams");
    check_apart(r, &c->events, "events", &c->ingest, "streams");
}

bool config_read(const char *path, config *c, char error[CONFIG_ERROR_SIZE]) {
    reading r = {.config = c, .path = path, .error = error};
    config_init(c);
    r.file = regular_file_stream(path, 0);
    if (!r.file) {
        snprintf(error, CONFIG_ERROR_SIZE, "%s: %s", path, regular_file_error(errno));
        return false;
    }
    int bad_line = ini_parse_stream(read_line, &r, read_key, &r);
    if (bad_line > 0) {
        int last_line = r.line;
        r.line = bad_line;
        fail(&r, "write \"[section]\", \"key = value\" or a comment that starts with # or ;");
        r.line = last_line;
    }
    fclose(r.file);
    for (size_t i = 0; i < c->rule_count; i++) {
        model_rule *rule = &c->rules[i];
        rule->options.strict = rule->has_strict ? rule->options.strict : c->strict;
    }
    if (r.failed_line == 0) {
        check(&r);
    }
    if (r.failed_line > 0) {
        config_free(c);
    }
    return r.failed_line == 0;
}

/* Returns the size in bytes of the value of a key, by its type. Returns 0 for the types that no fixed key has. */
static size_t value_size(key_type type) {
    return type == KEY_ADDRESSES                    ? sizeof(config_addresses)
           : type == KEY_MODE                       ? sizeof(unsigned)
           : type == KEY_PATH || type == KEY_TEXT   ? PATH_MAX
           : type == KEY_COUNT || type == KEY_BYTES ? sizeof(unsigned long)
           : type == KEY_SECONDS                    ? sizeof(double)
           : type == KEY_COMPILE_MODE               ? sizeof(compile_mode)
                                                    : 0;
}

model_sources config_model_sources(const config *c) {
    return (model_sources){
        .paths = c->directories.path,
        .path_count = c->directories.count,
        .strict = c->strict,
        .rules = c->rules,
        .rule_count = c->rule_count,
        .links = c->links,
        .constraints = c->constraints,
    };
}

static bool has_same_value(const key *k, const void *a, const void *b) {
    if (k->type == KEY_PATH || k->type == KEY_TEXT) {
        return strcmp(a, b) == 0;
    }
    if (k->type == KEY_ADDRESSES) {
        const config_addresses *left = a, *right = b;
        bool is_same = left->count == right->count;
        for (size_t i = 0; is_same && i < left->count; i++) {
            is_same = strcmp(left->address[i], right->address[i]) == 0;
        }
        return is_same;
    }
    return memcmp(a, b, value_size(k->type)) == 0;
}

size_t config_keep_fixed(const config *running, config *next, char *changed, size_t size) {
    size_t count = 0, used = 0;
    changed[0] = '\0';
    for (size_t i = 0; i < KEYS; i++) {
        const void *present = (const char *)running + keys[i].offset;
        void *wanted = (char *)next + keys[i].offset;
        if (!keys[i].is_fixed || has_same_value(&keys[i], present, wanted)) {
            continue;
        }
        memcpy(wanted, present, value_size(keys[i].type));
        bool is_derived = keys[i].offset == offsetof(config, ingest) && !running->has_ingest && !next->has_ingest;
        if (is_derived) {
            continue;
        }
        int length =
            snprintf(changed + used, size - used, "%s%s.%s", count > 0 ? ", " : "", keys[i].section, keys[i].name);
        used = used + (size_t)length < size ? used + (size_t)length : size - 1;
        count++;
    }
    next->has_ingest = running->has_ingest;
    return count;
}
