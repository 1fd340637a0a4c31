/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text of any origin as a JSON string.
 */
#ifndef ROSBRIDGE_JSON_TEXT_H
#define ROSBRIDGE_JSON_TEXT_H

#include <jansson.h>

/* The text; where it is not UTF-8 (it quotes a name that was cut within a letter), with "?" for each byte that is not
 * ASCII. NULL when out of memory. */
json_t *json_text(const char *text);

#endif
