/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands models, describe and unload, which list, describe and remove models of the daemon.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "description_output.h"
#include "done_output.h"
#include "element_output.h"
#include "listing.h"
#include "numbers.h"

/* ---- models ------------------------------------------------------------------------------------------------------ */

static const listing_column MODELS[] = {
    {"name", "model", TABLE_NAME},    {"digest", NULL, TABLE_LEFT},       {"base", "base", TABLE_LEFT},
    {"nq", "nq", TABLE_RIGHT},        {"nv", "nv", TABLE_RIGHT},          {"links", "links", TABLE_RIGHT},
    {"joints", NULL, TABLE_RIGHT},    {"mass", "mass [kg]", TABLE_RIGHT}, {"kept", "kept", TABLE_LEFT},
    {"source", "source", TABLE_LEFT}, {"loaded_by", NULL, TABLE_LEFT}};

static void add_model(listing *to, const dyn_client_model *model) {
    char source[256];
    snprintf(source, sizeof source, "request of %.200s", model->loaded_by);
    listing_text(to, model->name, NULL);
    listing_text(to, model->digest, NULL);
    listing_text(to, model->base == DYN_CLIENT_BASE_FLOATING ? "floating" : "fixed", NULL);
    listing_count(to, model->nq);
    listing_count(to, model->nv);
    listing_count(to, model->links);
    listing_count(to, model->joints);
    listing_number(to, model->mass, "%.3f", model->mass);
    listing_flag(to, model->kept);
    listing_text(to, model->source, model->source[0] != '\0' ? NULL : source);
    listing_text(to, model->loaded_by, NULL);
}

exit_code run_models(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    double timeout;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    dyn_client_error error;
    dyn_client_model_list *list;
    if (dyn_client_list_models(client, timeout, &list, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    listing rows;
    code = listing_open(args, sizeof MODELS / sizeof *MODELS, MODELS, &rows);
    for (size_t i = 0; code == EXIT_OK && i < list->count; i++) {
        add_model(&rows, &list->models[i]);
    }
    dyn_client_model_list_free(list);
    return listing_close(&rows, "no models (load one: dynamicsctl load FILE.urdf)", code);
}

/* ---- describe ---------------------------------------------------------------------------------------------------- */

exit_code run_describe(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    double timeout;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    dyn_client_error error;
    dyn_client_description *robot;
    if (dyn_client_describe_model(client, args->positional[0], timeout, &robot, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    bool complete = true;
    if (args->positional_count > 1) {
        code = print_element(args, robot, args->positional[1]);
    } else if (args->value[OPTION_JSON]) {
        write_description(robot);
    } else {
        complete = print_description(robot);
    }
    dyn_client_description_free(robot);
    return complete ? code : complain_memory();
}

/* ---- unload ------------------------------------------------------------------------------------------------------ */

exit_code run_unload(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    double timeout;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    dyn_client_error error;
    if (dyn_client_unload_model(client, args->positional[0], timeout, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    print_done(args, args->positional[0], "unloaded");
    return EXIT_OK;
}
