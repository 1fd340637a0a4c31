/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command config, which shows the daemon's configuration: its keys with their values in effect, and their origins.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "listing.h"

static const listing_column COLUMNS[] = {
    {"section", "section", TABLE_LEFT}, {"key", "key", TABLE_LEFT}, {"value", "value", TABLE_LEFT},
    {"origin", "origin", TABLE_LEFT},   {"line", NULL, TABLE_LEFT}, {"needs_restart", "needs restart", TABLE_LEFT},
};

enum { COLUMN_COUNT = sizeof COLUMNS / sizeof *COLUMNS, ORIGIN_SIZE = 32 };

static const char *origin_name(dyn_client_setting_origin origin) {
    static const char *const names[] = {
        [DYN_CLIENT_SETTING_ORIGIN_DEFAULT] = "default",           [DYN_CLIENT_SETTING_ORIGIN_FILE] = "file",
        [DYN_CLIENT_SETTING_ORIGIN_COMMAND_LINE] = "command line", [DYN_CLIENT_SETTING_ORIGIN_DERIVED] = "derived",
        [DYN_CLIENT_SETTING_ORIGIN_REQUEST] = "request",
    };
    bool is_known = origin > 0 && (size_t)origin < sizeof names / sizeof *names;
    return is_known ? names[origin] : "unknown";
}

/* Returns whether the operand, "SECTION" or "SECTION.KEY", names a setting. NULL names all of them. */
static bool is_named(const dyn_client_setting *s, const char *operand) {
    if (!operand) {
        return true;
    }
    size_t length = strlen(s->section);
    return strncmp(operand, s->section, length) == 0 &&
           (operand[length] == '\0' || (operand[length] == '.' && strcmp(operand + length + 1, s->key) == 0));
}

/* Adds a value. Tables have one line for a setting, so that its own line ends become blanks. */
static void add_value(listing *to, const char *value) {
    char *shown = strdup(value);
    for (char *end = shown ? strchr(shown, '\n') : NULL; end; end = strchr(end, '\n')) {
        *end = ' ';
    }
    listing_text(to, value, shown);
    free(shown);
}

static void add_setting(listing *to, const dyn_client_setting *s) {
    char origin[ORIGIN_SIZE];
    snprintf(origin, sizeof origin, "line %" PRIu64, s->line);
    listing_text(to, s->section, NULL);
    listing_text(to, s->key, NULL);
    add_value(to, s->value);
    listing_text(to, origin_name(s->origin), s->line > 0 ? origin : NULL);
    listing_count(to, s->line);
    listing_flag(to, s->needs_restart);
}

static exit_code show(const arguments *args, const dyn_client_settings *settings) {
    const char *operand = args->positional_count > 0 ? args->positional[0] : NULL;
    listing list;
    size_t i = 0;
    while (i < settings->count && !is_named(&settings->settings[i], operand)) {
        i++;
    }
    if (i == settings->count) {
        return complain(EXIT_USAGE, "there is no setting %s; dynamicsctl config lists them", operand ? operand : "");
    }
    exit_code code = listing_open(args, COLUMN_COUNT, COLUMNS, &list);
    if (code == EXIT_OK && list.form == OUTPUT_TABLE) {
        printf("%s\n", settings->file[0] != '\0' ? settings->file : "no configuration file");
    }
    for (; code == EXIT_OK && i < settings->count; i++) {
        if (is_named(&settings->settings[i], operand)) {
            add_setting(&list, &settings->settings[i]);
        }
    }
    return listing_close(&list, "", code);
}

exit_code run_config(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    double timeout;
    dyn_client_error error;
    dyn_client_settings *settings;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    if (dyn_client_get_settings(client, timeout, &settings, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    code = show(args, settings);
    dyn_client_settings_free(settings);
    return code;
}
