/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Models that come from files: a directory of *.urdf, and files that the configuration names.
 *
 * A file of the directory is loaded under its own name without the suffix. A rule gives one file another name or other
 * options. A bad file is reported and stands in nobody's way. One thread at a time, but for model_directory_problem.
 */
#ifndef SERVER_MODELS_DIRECTORY_H
#define SERVER_MODELS_DIRECTORY_H

#include "models/store.h"
#include "observe/log.h"

/* A section [model NAME] of the configuration. */
typedef struct model_rule {
    char *name;
    char *file; /* absolute, or relative to the directory; NULL: "NAME.urdf" */
    model_options options;
    bool has_strict; /* the section states it */
} model_rule;

/* Where models come from. */
typedef struct model_sources {
    const char *path; /* of the directory; "" for none */
    bool strict;      /* of files that no rule names */
    const model_rule *rules;
    size_t rule_count;
    size_t links; /* most links of a model */
} model_sources;

typedef struct model_directory model_directory;

/* NULL when out of memory. */
model_directory *model_directory_create(model_store *store, logger *log);
void model_directory_free(model_directory *directory);

/* Reads files that are new or changed since the last scan, replaces their models, and takes out the models of files
 * that are gone. */
void model_directory_scan(model_directory *directory, const model_sources *sources);

/* Number of files that could not be loaded; `problem` receives the first one's error, or "". Any thread. */
size_t model_directory_problem(model_directory *directory, char *problem, size_t size);

#endif
