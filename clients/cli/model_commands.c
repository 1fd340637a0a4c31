/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands models, describe and unload.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "description_output.h"
#include "json_writer.h"
#include "numbers.h"
#include "table.h"

/* ---- models ------------------------------------------------------------------------------------------------------ */

static void write_models(const dyn_client_model_list *list) {
    json_writer writer = {.stream = stdout, .pretty = true};
    emit_begin_object(&writer);
    emit_key(&writer, "models");
    emit_begin_array(&writer);
    for (size_t i = 0; i < list->count; i++) {
        write_model(&writer, &list->models[i]);
    }
    emit_end_array(&writer);
    emit_end_object(&writer);
    emit_finish(&writer);
}

static bool print_models(const dyn_client_model_list *list) {
    static const char *const headings[] = {"model", "base", "nq",     "nv",   "links",
                                           "mass",  "",     "digest", "kept", "source"};
    static const table_align align[] = {TABLE_LEFT,  TABLE_LEFT, TABLE_RIGHT, TABLE_RIGHT, TABLE_RIGHT,
                                        TABLE_RIGHT, TABLE_UNIT, TABLE_LEFT,  TABLE_LEFT,  TABLE_LEFT};
    table *lines = table_create();
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        table_add_column(lines, headings[i], align[i]);
    }
    for (size_t i = 0; i < list->count; i++) {
        const dyn_client_model *model = &list->models[i];
        table_add_cell(lines, "%s", model->name);
        table_add_cell(lines, "%s", model->base == DYN_CLIENT_BASE_FLOATING ? "floating" : "fixed");
        table_add_cell(lines, "%u", model->nq);
        table_add_cell(lines, "%u", model->nv);
        table_add_cell(lines, "%u", model->links);
        table_add_cell(lines, "%.3f", model->mass);
        table_add_cell(lines, "kg");
        table_add_cell(lines, "%.15s", model->digest);
        table_add_cell(lines, "%s", model->kept ? "yes" : "no");
        table_add_cell(lines, model->source[0] != '\0' ? "%s" : "request of %s",
                       model->source[0] != '\0' ? model->source : model->loaded_by);
    }
    if (list->count == 0) {
        puts("no models (load one: dynamicsctl load FILE.urdf)");
    }
    bool printed = list->count == 0 || table_print(lines, 0);
    table_free(lines);
    return printed;
}

exit_code run_models(const command *self, const arguments *given, dyn_client *client) {
    (void)self;
    double timeout;
    exit_code code = arguments_timeout(given, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    dyn_client_error error;
    dyn_client_model_list *list;
    if (dyn_client_list_models(client, timeout, &list, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    bool complete = true;
    if (given->value[OPTION_JSON]) {
        write_models(list);
    } else {
        complete = print_models(list);
    }
    dyn_client_model_list_free(list);
    return complete ? EXIT_OK : complain_memory();
}

/* ---- describe ---------------------------------------------------------------------------------------------------- */

exit_code run_describe(const command *self, const arguments *given, dyn_client *client) {
    (void)self;
    double timeout;
    exit_code code = arguments_timeout(given, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    dyn_client_error error;
    dyn_client_description *robot;
    if (dyn_client_describe_model(client, given->positional[0], timeout, &robot, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    bool complete = true;
    if (given->value[OPTION_JSON]) {
        write_description(robot);
    } else {
        complete = print_description(robot);
    }
    dyn_client_description_free(robot);
    return complete ? EXIT_OK : complain_memory();
}

/* ---- unload ------------------------------------------------------------------------------------------------------ */

exit_code run_unload(const command *self, const arguments *given, dyn_client *client) {
    (void)self;
    double timeout;
    exit_code code = arguments_timeout(given, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    dyn_client_error error;
    if (dyn_client_unload_model(client, given->positional[0], timeout, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    if (!given->value[OPTION_JSON]) {
        printf("%s: unloaded\n", given->positional[0]);
    }
    return EXIT_OK;
}
