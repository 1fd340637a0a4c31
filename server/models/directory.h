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
} model_rule;

typedef struct model_directory model_directory;

/* NULL when out of memory. */
model_directory *model_directory_create(model_store *store, logger *log);
void model_directory_free(model_directory *directory);

/* Reads files that are new or changed since the last scan, replaces their models, and takes out the models of files
 * that are gone. `path` may be "" for no directory. `links` is the most links of a model. */
void model_directory_scan(model_directory *directory, const char *path, const model_rule *rules, size_t rule_count,
                          size_t links);

/* Number of files that could not be loaded; `problem` receives the first one's error, or "". Any thread. */
size_t model_directory_problem(model_directory *directory, char *problem, size_t size);

#endif
