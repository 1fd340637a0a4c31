/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings of the daemon: the keys of its configuration with their values in effect and the origins of these, for
 * GetSettings. All functions may be called from any thread, except settings_init and settings_free.
 */
#ifndef SERVER_METHODS_SETTINGS_H
#define SERVER_METHODS_SETTINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Origin of the value of a setting. */
typedef enum setting_origin {
    SETTING_DEFAULT,
    SETTING_FILE,
    SETTING_COMMAND_LINE,
    SETTING_DERIVED, /* computed from the machine, or from other settings */
} setting_origin;

/* Key of the configuration with its value. */
typedef struct setting {
    const char *section, *key; /* constants */
    char *value;               /* as in a configuration file */
    setting_origin origin;
    unsigned line; /* of the file; 0: another origin */
    bool is_fixed; /* the daemon reads it at its start only */
} setting;

/* List of settings. */
typedef struct setting_list {
    pthread_mutex_t mutex; /* guards the members below */
    char *file;            /* configuration that was read; "": none */
    setting *settings;
    size_t count;
} setting_list;

void settings_init(setting_list *list);
void settings_free(setting_list *list);

/* Replaces all settings. The list owns `file`, `settings` and their values from now on; each of them was allocated. */
void settings_replace(setting_list *list, char *file, setting *settings, size_t count);

/* Frees settings that no list owns. */
void settings_discard(char *file, setting *settings, size_t count);

#endif
