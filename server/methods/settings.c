/* SPDX-License-Identifier: BSD-2-Clause */
/* Stores the settings of the daemon, and describes them. */
#include "methods/settings.h"

#include <stdlib.h>
#include <string.h>

#include "methods/methods.h"

void settings_init(setting_list *list) {
    memset(list, 0, sizeof *list);
    pthread_mutex_init(&list->mutex, NULL);
}

void settings_discard(char *file, setting *settings, size_t count) {
    for (size_t i = 0; settings && i < count; i++) {
        free(settings[i].value);
    }
    free(settings);
    free(file);
}

void settings_free(setting_list *list) {
    settings_discard(list->file, list->settings, list->count);
    pthread_mutex_destroy(&list->mutex);
}

void settings_replace(setting_list *list, char *file, setting *settings, size_t count) {
    pthread_mutex_lock(&list->mutex);
    char *old_file = list->file;
    setting *old = list->settings;
    size_t old_count = list->count;
    list->file = file;
    list->settings = settings;
    list->count = count;
    pthread_mutex_unlock(&list->mutex);
    settings_discard(old_file, old, old_count);
}

/* Replaces the level of the log, which SetLogLevel may have changed, by the present one. */
static void note_level(call *c, Dynamics__V1__Setting *entry) {
    const char *present = log_level_words[atomic_load(&c->service->log->level)];
    bool is_level = strcmp(entry->section, "log") == 0 && strcmp(entry->key, "level") == 0;
    if (is_level && strcmp(entry->value, present) != 0) {
        entry->value = (char *)(uintptr_t)present;
        entry->origin = DYNAMICS__V1__SETTING_ORIGIN__SETTING_ORIGIN_REQUEST;
        entry->line = 0;
    }
}

/* Copies settings to the reply. Called with the mutex. */
static void copy_settings(call *c, const setting_list *list, Dynamics__V1__GetSettingsReply *reply) {
    static const Dynamics__V1__SettingOrigin origins[] = {
        [SETTING_DEFAULT] = DYNAMICS__V1__SETTING_ORIGIN__SETTING_ORIGIN_DEFAULT,
        [SETTING_FILE] = DYNAMICS__V1__SETTING_ORIGIN__SETTING_ORIGIN_FILE,
        [SETTING_COMMAND_LINE] = DYNAMICS__V1__SETTING_ORIGIN__SETTING_ORIGIN_COMMAND_LINE,
        [SETTING_DERIVED] = DYNAMICS__V1__SETTING_ORIGIN__SETTING_ORIGIN_DERIVED,
    };
    Dynamics__V1__Setting *entries = call_allocate(c, list->count, sizeof *entries);
    reply->settings = call_allocate(c, list->count, sizeof *reply->settings);
    reply->file = call_string(c, list->file ? list->file : "");
    for (size_t i = 0; entries && reply->settings && i < list->count; i++) {
        const setting *from = &list->settings[i];
        dynamics__v1__setting__init(&entries[i]);
        entries[i].section = call_string(c, from->section);
        entries[i].key = call_string(c, from->key);
        entries[i].value = call_string(c, from->value);
        entries[i].origin = origins[from->origin];
        entries[i].line = from->line;
        entries[i].needs_restart = from->is_fixed;
        if (call_has_ended(c)) {
            return;
        }
        note_level(c, &entries[i]);
        reply->settings[reply->n_settings++] = &entries[i];
    }
}

void method_get_settings(call *c) {
    Dynamics__V1__GetSettingsReply *reply = create_get_settings_reply(c);
    setting_list *list = c->service->settings;
    if (!reply || !list) {
        return;
    }
    pthread_mutex_lock(&list->mutex);
    copy_settings(c, list, reply);
    pthread_mutex_unlock(&list->mutex);
}
