/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A model that the daemon keeps: the robot, what was said while it was read, and workspaces for those who compute.
 *
 * An entry is immutable but for its pool of workspaces and its compiled algorithms. It is counted: it lives until the
 * store and every request that uses it have released it. All functions may be called from any thread.
 */
#ifndef SERVER_MODELS_ENTRY_H
#define SERVER_MODELS_ENTRY_H

#include <dynamics/dynamics.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "models/digest.h"

enum {
    MODEL_NAME_SIZE = 129,
    MODEL_PEER_SIZE = 64,
    MODEL_IDLE_WORKSPACES = 64,
    MODEL_PRECISIONS = DYN_SINGLE_PRECISION + 1
};

/* How a description becomes a model. */
typedef struct model_options {
    dyn_base base;
    dyn_mimic_policy mimic;
    bool has_gravity;
    double gravity[3]; /* m/s^2; read if has_gravity */
    bool strict;       /* refuse a model whose report holds a warning */
} model_options;

/* State of the compilation of a model's algorithms. */
typedef enum model_compilation {
    MODEL_COMPILATION_WAITS, /* for its turn or for the first use, or compiling is off */
    MODEL_COMPILING,
    MODEL_COMPILED,
    MODEL_NOT_COMPILED, /* for the reason that is stated */
} model_compilation;

enum { COMPILATION_REASON_SIZE = 256 };

typedef struct model_entry {
    char name[MODEL_NAME_SIZE];
    char digest[DIGEST_SIZE];
    char *source;                    /* file that it came from; "" when it came by request */
    char loaded_by[MODEL_PEER_SIZE]; /* peer whose request it came by, set before the store has it; "": of a file */
    atomic_bool is_kept;             /* it is on the disk and outlives the daemon */
    dyn_model *model;
    dyn_report *report;
    model_options options;
    atomic_uint references;
    pthread_mutex_t mutex;
    dyn_workspace *idle[MODEL_PRECISIONS][MODEL_IDLE_WORKSPACES]; /* made when first leased */
    size_t idle_count[MODEL_PRECISIONS];
    atomic_bool is_used; /* a workspace was leased */
    model_compilation compilation;
    char compilation_reason[COMPILATION_REASON_SIZE];
    dyn_compiled *compiled;   /* NULL until compiled; then it stays */
    char object[DIGEST_SIZE]; /* of its file */
} model_entry;

/* Makes a name of a model out of that of a file or a robot: a '.' becomes '_'. Names of models have no '.', which
 * separates the parts of topics. */
void model_name_adapt(char *name);

/* Reads a URDF text. An empty name stands for the robot's own, adapted. `links` is the most links that are allowed.
 * The caller owns one reference to the result. Errors as in urdf.h, and with place "name" for a name that is not
 * allowed. */
dyn_status model_entry_create(const char *text, size_t length, const char *name, const char *source,
                              const model_options *options, size_t links, dyn_error *error, model_entry **result);

/* Builds what a builder describes, and keeps the model with its report, to which the builder's reader may have added
 * (NULL: none yet) and which is the entry's from now on, also on failure. `options` as above. Errors as in builder.h,
 * and with place "name", or "links" for too many. */
dyn_status model_entry_build(dyn_builder *builder, dyn_report *report, const char *name, const char *source,
                             const model_options *options, size_t links, dyn_error *error, model_entry **result);

/* Takes and gives back a reference; the last one frees the entry. NULL is allowed in release. */
model_entry *model_entry_retain(model_entry *entry);
void model_entry_release(model_entry *entry);

/* Takes a workspace of a precision, creating one only when none is idle, and gives it back. Errors: as
 * dyn_workspace_create_in; there is no workspace then. */
dyn_status model_entry_lease(model_entry *entry, dyn_precision precision, dyn_error *error, dyn_workspace **workspace);
void model_entry_return(model_entry *entry, dyn_workspace *workspace);

/* Returns whether a workspace was ever leased. */
bool model_entry_is_used(model_entry *entry);

/* Sets the state, and with MODEL_COMPILED the algorithms that every workspace leased from now on computes with, from an
 * object of that digest; the entry owns them. What is compiled stays so: nothing changes then. */
void model_entry_set_compilation(model_entry *entry, model_compilation state, const char *reason,
                                 dyn_compiled *compiled, const char *object);

/* The algorithms, and the digest of their object: NULL and "" where there are none yet. Counts as use. */
const dyn_compiled *model_entry_compiled(model_entry *entry, char object[DIGEST_SIZE]);

/* Name of the code that computes, for bit comparisons: the instruction set, and the object of compiled algorithms ("":
 * none), as in simulation.proto. */
enum { COMPUTED_WITH_SIZE = DIGEST_SIZE + 40 };
#define COMPUTED_WITH_COMPILED ", compiled "
void computed_with(const char *object, char text[COMPUTED_WITH_SIZE]);

/* The state, and the reason (NULL is allowed): "" where there is none to state. */
model_compilation model_entry_compilation(model_entry *entry, char reason[COMPILATION_REASON_SIZE]);

#endif
