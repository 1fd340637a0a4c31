/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes heads, labels and numbers in Prometheus' text format. */
#include "observe/exposition.h"

#include <inttypes.h>

void exposition_family(FILE *file, const char *name, const char *type, const char *help) {
    fprintf(file, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Writes the value of a label: a backslash precedes backslashes and quotation marks, and \n stands for a new line. */
static void write_value(FILE *file, const char *value) {
    for (; *value; value++) {
        if (*value == '\n') {
            fputs("\\n", file);
            continue;
        }
        if (*value == '\\' || *value == '"') {
            fputc('\\', file);
        }
        fputc(*value, file);
    }
}

static void write_name(FILE *file, const char *name, const exposition_label *labels) {
    fputs(name, file);
    for (size_t i = 0; labels && labels[i].name; i++) {
        fprintf(file, "%s%s=\"", i == 0 ? "{" : ",", labels[i].name);
        write_value(file, labels[i].value);
        fputs(labels[i + 1].name ? "\"" : "\"}", file);
    }
}

void exposition_count(FILE *file, const char *name, const exposition_label *labels, uint64_t value) {
    write_name(file, name, labels);
    fprintf(file, " %" PRIu64 "\n", value);
}

void exposition_number(FILE *file, const char *name, const exposition_label *labels, double value) {
    write_name(file, name, labels);
    fprintf(file, " %.17g\n", value);
}

void exposition_single(FILE *file, const char *name, const char *type, const char *help, double value) {
    exposition_family(file, name, type, help);
    exposition_number(file, name, NULL, value);
}
