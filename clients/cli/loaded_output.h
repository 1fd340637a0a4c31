/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the result of the commands load and derive: the new model and its report.
 */
#ifndef CLI_LOADED_OUTPUT_H
#define CLI_LOADED_OUTPUT_H

#include <dynamics/v1/model.pb-c.h>

#include "arguments.h"

/* Prints a line about the model and the warnings of its report, or with --json the model and the whole report as JSON.
 * `done` is a participle such as "loaded". `from` may be NULL, which is an error of the reply. */
exit_code report_loaded(const arguments *args, const char *done, const Dynamics__V1__LoadedModel *from);

#endif
