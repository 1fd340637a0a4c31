/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of load and derive about the new model.
 */
#ifndef CLI_LOADED_OUTPUT_H
#define CLI_LOADED_OUTPUT_H

#include <dynamics/v1/model.pb-c.h>

#include "arguments.h"

/* Writes a line about the model and the warnings of its report, or all of it as JSON. `done` is a participle such as
 * "loaded". */
exit_code report_loaded(const arguments *args, const char *done, const Dynamics__V1__LoadedModel *from);

#endif
