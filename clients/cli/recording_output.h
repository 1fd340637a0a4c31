/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contents of a recording: what it holds, and its states or points as CSV.
 */
#ifndef CLI_RECORDING_OUTPUT_H
#define CLI_RECORDING_OUTPUT_H

#include "arguments.h"

/* Describes a recording: what was recorded, how much, and whether it is complete. */
exit_code describe_recording(const arguments *args, dyn_client *client, const char *name, double timeout);

/* Writes the states of a simulation, or the points of a stream, as CSV that --states reads. */
exit_code export_recording(dyn_client *client, const char *name, double timeout);

#endif
