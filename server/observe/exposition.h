/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes numbers in Prometheus' text format, version 0.0.4 ("Exposition formats" in the documentation of Prometheus).
 *
 *     exposition_family(file, "dynamicsd_requests_total", "counter", "Answered requests.");
 *     exposition_number(file, "dynamicsd_requests_total", labels, 12);
 */
#ifndef SERVER_OBSERVE_EXPOSITION_H
#define SERVER_OBSERVE_EXPOSITION_H

#include <stdint.h>
#include <stdio.h>

/* Label of a number. The value may be any text. */
typedef struct exposition_label {
    const char *name, *value; /* name NULL: ends a list */
} exposition_label;

/* Writes the head of a family of numbers of one name: `type` is "counter", "gauge" or "histogram". */
void exposition_family(FILE *file, const char *name, const char *type, const char *help);

/* Writes a whole number with its labels (NULL: none). */
void exposition_count(FILE *file, const char *name, const exposition_label *labels, uint64_t value);

/* Writes a number with its labels (NULL: none). */
void exposition_number(FILE *file, const char *name, const exposition_label *labels, double value);

/* Writes the head and the number of a family that has one number without labels. */
void exposition_single(FILE *file, const char *name, const char *type, const char *help, double value);

#endif
