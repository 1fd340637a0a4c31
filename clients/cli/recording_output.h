/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the contents of a recording: a description, or its states or points as CSV.
 */
#ifndef CLI_RECORDING_OUTPUT_H
#define CLI_RECORDING_OUTPUT_H

#include "arguments.h"

/* Prints a description of a recording: its source, its entries, its times, and whether it is complete. */
exit_code describe_recording(const arguments *args, dyn_client *client, const char *name, double timeout);

/* Writes the states of a simulation, or the points of a stream, as CSV that the option --states can read. */
exit_code export_recording(dyn_client *client, const char *name, double timeout);

#endif
