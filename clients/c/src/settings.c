/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests the daemon's configuration: its keys with their values in effect.
 */
#include "requests.h"

#include <stdlib.h>

#include "error.h"
#include "wire.h"

/* Public result, with the reply that owns its strings. */
typedef struct settings_result {
    dyn_client_settings settings;
    Dynamics__V1__GetSettingsReply *reply;
    dyn_client_setting entries[];
} settings_result;

dyn_client_status dyn_client_get_settings(dyn_client *client, double timeout, dyn_client_settings **settings,
                                          dyn_client_error *error) {
    *settings = NULL;
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    Dynamics__V1__GetSettingsRequest question = DYNAMICS__V1__GET_SETTINGS_REQUEST__INIT;
    Dynamics__V1__GetSettingsReply *answer;
    dyn_client_status status = request_get_settings(client, &question, within(timeout), &answer, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    settings_result *result = calloc(1, sizeof *result + answer->n_settings * sizeof *result->entries);
    if (!result) {
        dynamics__v1__get_settings_reply__free_unpacked(answer, NULL);
        return fail_memory(error);
    }
    result->reply = answer;
    for (size_t i = 0; i < answer->n_settings; i++) {
        const Dynamics__V1__Setting *from = answer->settings[i];
        result->entries[i] = (dyn_client_setting){
            .section = from->section,
            .key = from->key,
            .value = from->value,
            .origin = (dyn_client_setting_origin)from->origin,
            .line = from->line,
            .needs_restart = from->needs_restart,
        };
    }
    result->settings = (dyn_client_settings){answer->file, answer->n_settings, result->entries};
    *settings = &result->settings;
    return DYN_CLIENT_OK;
}

void dyn_client_settings_free(dyn_client_settings *settings) {
    settings_result *result = (settings_result *)settings;
    if (result) {
        dynamics__v1__get_settings_reply__free_unpacked(result->reply, NULL);
        free(result);
    }
}
