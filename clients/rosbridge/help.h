/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the text of --help.
 */
#ifndef ROSBRIDGE_HELP_H
#define ROSBRIDGE_HELP_H

#include <stdio.h>

void help_write(FILE *to);

#endif
