/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads models from files: directories of *.urdf, and files that the configuration lists. A file of a directory is
 * loaded under its own name without the suffix. A rule assigns one file another name or other options. A robot of an
 * earlier directory comes before a robot of the same name in a later one. A bad file is reported and does not affect
 * the others. One thread at a time may call these functions, except model_directory_problem.
 */
#ifndef SERVER_MODELS_DIRECTORY_H
#define SERVER_MODELS_DIRECTORY_H

#include <limits.h>

#include "models/store.h"
#include "observe/log.h"

/* Section [model NAME] of the configuration. */
typedef struct model_rule {
    char *name;
    char *file; /* absolute, or relative to the first directory that has it; NULL: "NAME.urdf" */
    model_options options;
    bool has_strict; /* the section states it */
} model_rule;

/* Sources of models. */
typedef struct model_sources {
    const char (*paths)[PATH_MAX]; /* paths of the directories */
    size_t path_count;
    bool strict; /* for files without a rule */
    const model_rule *rules;
    size_t rule_count;
    size_t links, constraints; /* largest numbers of links and of constraints of a model */
} model_sources;

typedef struct model_directory model_directory;

/* Creates a directory without models. Returns NULL when out of memory. */
model_directory *model_directory_create(model_store *store, logger *log);
void model_directory_free(model_directory *directory);

/* Loads files that are new or changed since the last scan, replaces their models, and removes the models of files that
 * are gone. */
void model_directory_scan(model_directory *directory, const model_sources *sources);

/* Returns the number of directories and listed files that the last scan did not find. */
size_t model_directory_missing(const model_directory *directory);

/* Returns the number of files that could not be loaded. `problem` receives the first one's error, or "". Any thread. */
size_t model_directory_problem(model_directory *directory, char *problem, size_t size);

#endif
