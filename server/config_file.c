/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the configuration: parser of the INI file, and checks between keys. */
#include "config_file.h"

#include <dynamics/identification.h>
#include <dynamics/text.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_derived.h"
#include "config_keys.h"
#include "config_value.h"
#include "files/regular_file.h"
#include "methods/text.h"
#include "observe/http_listener.h"

/* Longest line that the parser reads completely. */
enum { LINE_SIZE = 197, NAME_LENGTH = 64 };

static const char *const base_words[] = {"fixed", "floating"};
static const char *const mimic_words[] = {"coupled", "independent"};

/* State of reading the file. */
typedef struct reading {
    config *config;
    const char *path;
    FILE *file;
    int line;
    bool has_key;                /* the present section has one, so an indented line continues its value */
    int lines_seen[CONFIG_KEYS]; /* line of each key, 0: not yet */
    int failed_line;             /* line of the stored error, 0: none */
    char *error;
} reading;

static void fail(reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Stores an error with its file and line, unless an error of the same or an earlier line is stored already. Makes it
 * printable, because it may quote the file. */
static void fail(reading *r, const char *format, ...) {
    if (r->failed_line > 0 && r->failed_line <= r->line) {
        return;
    }
    r->failed_line = r->line;
    int used = snprintf(r->error, CONFIG_ERROR_SIZE, "%s:%d: ", r->path, r->line);
    if (used < CONFIG_ERROR_SIZE) {
        char text[CONFIG_ERROR_SIZE];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        dyn_text_print(text, r->error + used, (size_t)(CONFIG_ERROR_SIZE - used));
    }
}

/* Parses a word of a type, whose number `number` receives. */
static bool parse_word(config_key_type type, const char *name, const char *text, int *number,
                       char error[CONFIG_ERROR_SIZE]) {
    const config_words all = config_key_words(type);
    return config_parse_word(name, text, all.words, all.count, number, error);
}

bool config_parse_level(const char *text, log_level *level, char error[CONFIG_ERROR_SIZE]) {
    int number;
    if (!parse_word(KEY_LEVEL, "level", text, &number, error)) {
        return false;
    }
    *level = (log_level)number;
    return true;
}

bool config_parse_format(const char *text, log_format *format, char error[CONFIG_ERROR_SIZE]) {
    int number;
    if (!parse_word(KEY_FORMAT, "format", text, &number, error)) {
        return false;
    }
    *format = (log_format)number;
    return true;
}

static bool parse_compile_mode(const char *text, compile_mode *mode, char error[CONFIG_ERROR_SIZE]) {
    int number;
    if (!parse_word(KEY_COMPILE_MODE, "mode", text, &number, error)) {
        return false;
    }
    *mode = (compile_mode)number;
    return true;
}

static bool parse_switch(const char *name, const char *text, bool *is_on, char error[CONFIG_ERROR_SIZE]) {
    int number;
    if (!parse_word(KEY_SWITCH, name, text, &number, error)) {
        return false;
    }
    *is_on = number == 1;
    return true;
}

static bool parse_role(const char *name, const char *text, access_role *role, char error[CONFIG_ERROR_SIZE]) {
    int number;
    if (!parse_word(KEY_ROLE, name, text, &number, error)) {
        return false;
    }
    *role = (access_role)number;
    return true;
}

static bool parse_rules(const config_key *k, const char *text, access_policy *policy, char error[CONFIG_ERROR_SIZE]) {
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
static bool set_value(config *c, const config_key *k, bool is_first, const char *text, char error[CONFIG_ERROR_SIZE]) {
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
        "the sections are endpoints, models, model NAME, limits, simulations, server, tls, nats, compile, log, "
        "health, access and observe";
    text_guess guess = text_guess_start(section);
    if (strncmp(section, "model ", 6) == 0) {
        return;
    }
    for (size_t i = 0; i < CONFIG_KEYS; i++) {
        text_guess_consider(&guess, config_keys[i].section);
        if (strcmp(config_keys[i].section, section) == 0) {
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
    for (size_t i = 0; i < CONFIG_KEYS; i++) {
        if (strcmp(config_keys[i].section, section) == 0) {
            text_guess_consider(&key_guess, config_keys[i].name);
        }
        if (strcmp(config_keys[i].name, name) == 0) {
            home = config_keys[i].section;
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
    while (i < CONFIG_KEYS &&
           (strcmp(config_keys[i].section, section) != 0 || strcmp(config_keys[i].name, name) != 0)) {
        i++;
    }
    if (i == CONFIG_KEYS) {
        fail_unknown(r, section, name);
        return 1;
    }
    bool is_first = r->lines_seen[i] == 0;
    /* Allows repetition for lists only, which may continue in indented lines. */
    bool is_list = config_keys[i].type == KEY_ADDRESSES || config_keys[i].type == KEY_DIRECTORIES ||
                   config_keys[i].type == KEY_RULES;
    if (!is_first && !is_list) {
        fail(r, "\"%s\" was set already in line %d", name, r->lines_seen[i]);
        return 1;
    }
    r->lines_seen[i] = r->line;
    if (is_first) {
        r->config->origins[i] = (config_origin){SETTING_FILE, (unsigned)r->line};
    }
    r->config->has_ingest = r->config->has_ingest || config_keys[i].offset == offsetof(config, ingest);
    if (!set_value(r->config, &config_keys[i], is_first, value, error)) {
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

static void check_memory(reading *r) {
    const config *c = r->config;
    if (c->memory_bytes > 0 && c->memory_bytes < config_memory_needed(c)) {
        fail(r,
             "memory_bytes = %lu is too little for one request of message_bytes = %lu and its reply of reply_bytes = "
             "%lu: make it %lu or more (%d message_bytes, %d reply_bytes and 4 MiB), or lower those",
             c->memory_bytes, c->message_bytes, c->reply_bytes, config_memory_needed(c), CONFIG_REQUEST_COPIES,
             CONFIG_REPLY_COPIES);
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

/* Checks that files for TLS that need each other are set. */
static void check_tls(reading *r) {
    const config_tls *t = &r->config->tls;
    if ((t->certificate_file[0] == '\0') != (t->key_file[0] == '\0')) {
        fail(r, "tls.certificate_file and tls.key_file belong together");
    } else if (t->ca_file[0] != '\0' && t->certificate_file[0] == '\0') {
        fail(r, "tls.ca_file needs tls.certificate_file and tls.key_file");
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
    check_tls(r);
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
