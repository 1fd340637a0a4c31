/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the joint, link, frame or constraint of a name.
 */
#ifndef CLI_ELEMENT_OUTPUT_H
#define CLI_ELEMENT_OUTPUT_H

#include <dynamics_client.h>

#include "arguments.h"

/* Writes all elements (joint, link, frame, constraint) that have the name, as text, or with --json as one object.
 * Reports an error if there is none. */
exit_code print_element(const arguments *args, const dyn_client_description *robot, const char *name);

#endif
