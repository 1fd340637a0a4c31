/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Query of a command that sends one request about one model: the model's description, the order of its joints and the
 * options of queries.
 */
#ifndef CLI_ROBOT_QUERY_H
#define CLI_ROBOT_QUERY_H

#include "layout.h"
#include "progress_bar.h"
#include "query_options.h"

typedef struct robot_query {
    const arguments *args;
    dyn_client *client;
    dyn_client_description *description;
    layout robot;
    query_options options;
    dyn_client_query query; /* refers to the other members */
    progress_bar bar;
} robot_query;

/* Describes the model that the first argument names, reads --joints and the options of queries, and fills the query for
 * zero samples. Reports errors. The result must not move. The caller closes it with robot_query_close, after an error
 * too. */
exit_code robot_query_open(const arguments *args, dyn_client *client, robot_query *opened);

/* Prepares the query for a long request: sets its timeout, and shows its progress on a terminal, where Ctrl-C then
 * cancels the request. Reports errors. */
exit_code robot_query_prepare_long(robot_query *prepared);

void robot_query_close(robot_query *closed);

#endif
