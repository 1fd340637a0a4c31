/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists all keys of the configuration with their values in effect, as a file would state them. */
#include "config_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_keys.h"

/* Writes a size in the largest unit of which it is a multiple. */
static void write_bytes(FILE *to, unsigned long bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    while (unit < 3 && bytes > 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    fprintf(to, "%lu %s", bytes, units[unit]);
}

static void write_addresses(FILE *to, const config_addresses *list) {
    for (size_t i = 0; i < list->count; i++) {
        fprintf(to, "%s%s", i > 0 ? " " : "", list->address[i]);
    }
}

/* Writes one directory a line, as a file has them. */
static void write_directories(FILE *to, const config_directories *list) {
    for (size_t i = 0; i < list->count; i++) {
        fprintf(to, "%s%s", i > 0 ? "\n" : "", list->path[i]);
    }
}

/* Writes the users and groups of a role by their numbers. */
static void write_rules(FILE *to, const access_policy *policy, access_role role) {
    const char *blank = "";
    for (size_t i = 0; i < policy->rule_count; i++) {
        const access_rule *rule = &policy->rules[i];
        if (rule->role != role) {
            continue;
        }
        if (rule->certificate[0]) {
            fprintf(to, "%scn:%s", blank, rule->certificate);
        } else {
            fprintf(to, "%s%s%u", blank, rule->is_group ? "@" : "", rule->number);
        }
        blank = " ";
    }
}

/* Returns the number of the word that is the value at `place`. */
static size_t word_number(config_key_type type, const void *place) {
    switch (type) {
    case KEY_LEVEL:
        return (size_t) * (const log_level *)place;
    case KEY_FORMAT:
        return (size_t) * (const log_format *)place;
    case KEY_COMPILE_MODE:
        return (size_t) * (const compile_mode *)place;
    case KEY_ROLE:
        return (size_t) * (const access_role *)place;
    default:
        return *(const bool *)place ? 1 : 0;
    }
}

static void write_value(FILE *to, const config *c, const config_key *k) {
    const void *place = (const char *)c + k->offset;
    const config_words words = config_key_words(k->type);
    switch (k->type) {
    case KEY_ADDRESSES:
        write_addresses(to, place);
        break;
    case KEY_DIRECTORIES:
        write_directories(to, place);
        break;
    case KEY_RULES:
        write_rules(to, place, (access_role)k->low);
        break;
    case KEY_MODE:
        fprintf(to, "%04o", *(const unsigned *)place);
        break;
    case KEY_PATH:
    case KEY_TEXT:
        fputs(place, to);
        break;
    case KEY_COUNT:
        fprintf(to, "%lu", *(const unsigned long *)place);
        break;
    case KEY_BYTES:
        write_bytes(to, *(const unsigned long *)place);
        break;
    case KEY_SECONDS:
        fprintf(to, "%.15g", *(const double *)place);
        break;
    default:
        fputs(words.words[word_number(k->type, place)], to);
    }
}

/* Returns the value of a key as text, which the caller frees. Returns NULL when out of memory. */
static char *value_text(const config *c, const config_key *k) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) {
        return NULL;
    }
    write_value(to, c, k);
    bool is_whole = ferror(to) == 0;
    if (fclose(to) != 0 || !is_whole) {
        free(text);
        return NULL;
    }
    return text;
}

bool config_list_settings(const config *c, const char *path, setting_list *list) {
    setting *settings = calloc(CONFIG_KEYS, sizeof *settings);
    char *file = strdup(path ? path : "");
    bool is_whole = settings && file;
    for (size_t i = 0; is_whole && i < CONFIG_KEYS; i++) {
        const config_key *k = &config_keys[i];
        settings[i] = (setting){
            .section = k->section,
            .key = k->name,
            .value = value_text(c, k),
            .origin = c->origins[i].from,
            .line = c->origins[i].line,
            .is_fixed = k->is_fixed,
        };
        is_whole = settings[i].value != NULL;
    }
    if (is_whole) {
        settings_replace(list, file, settings, CONFIG_KEYS);
    } else {
        settings_discard(file, settings, CONFIG_KEYS);
    }
    return is_whole;
}
