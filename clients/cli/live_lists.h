/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints lists of streams.
 */
#ifndef CLI_LIVE_LISTS_H
#define CLI_LIVE_LISTS_H

#include <dynamics_client.h>

#include "arguments.h"

/* Writes the counters of streams in the form that the arguments name, and frees the list. */
exit_code print_streams(const arguments *args, dyn_client_stream_list *list);

#endif
