/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Query of a command that sends one request about one model.
 */
#include "robot_query.h"

#include "exchange.h"

exit_code robot_query_open(const arguments *args, dyn_client *client, robot_query *opened) {
    dyn_client_error error;
    *opened = (robot_query){.args = args, .client = client};
    if (dyn_client_describe_model(client, args->positional[0], 0, &opened->description, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    exit_code code = layout_create(opened->description, args->value[OPTION_JOINTS], &opened->robot);
    if (code == EXIT_OK) {
        code = query_options_read(args, &opened->options);
    }
    if (code != EXIT_OK) {
        return code;
    }
    const layout *robot = &opened->robot;
    opened->query =
        (dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = args->positional[0], .nq = robot->nq, .nv = robot->nv,
                                                .joint_count = robot->name_count, .joint_names = robot->names);
    query_options_apply(&opened->options, &opened->query);
    return EXIT_OK;
}

exit_code robot_query_prepare_long(robot_query *prepared) {
    if (progress_bar_has_reader()) {
        progress_bar_catch_interrupts();
        prepared->query.progress = progress_bar_draw;
        prepared->query.progress_context = &prepared->bar;
    }
    return long_timeout(prepared->args, prepared->client, &prepared->query.timeout);
}

void robot_query_close(robot_query *closed) {
    query_options_free(&closed->options);
    layout_free(&closed->robot);
    dyn_client_description_free(closed->description);
}
