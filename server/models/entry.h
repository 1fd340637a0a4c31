/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loaded model: the robot, the report of its reader, and a pool of workspaces. An entry is immutable but for its pool
 * of workspaces and its compiled algorithms. It is reference-counted: it lives until the store and every request that
 * uses it have released it. All functions may be called from any thread.
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
    MODEL_PRECISIONS = DYN_PRECISION_SINGLE + 1
};

/* Options for building a model from a description. */
typedef struct model_options {
    dyn_base base;
    dyn_mimic_policy mimic;
    bool has_gravity;
    double gravity[3]; /* m/s^2; read if has_gravity */
    bool strict;       /* reject a model whose report contains a warning */
} model_options;

/* State of the compilation of a model's algorithms. */
typedef enum model_compilation {
    MODEL_COMPILATION_WAITS, /* queued, or waiting for the first use; or compiling is off */
    MODEL_COMPILING,
    MODEL_COMPILED,
    MODEL_NOT_COMPILED, /* failed, for the stated reason */
} model_compilation;

enum { COMPILATION_REASON_SIZE = 256 };

typedef struct model_entry {
    char name[MODEL_NAME_SIZE];
    char digest[DIGEST_SIZE];
    char *source;                     /* file of the model; "" if loaded by request */
    char loaded_by[MODEL_PEER_SIZE];  /* peer that loaded it, set before the store holds it; "": loaded from a file */
    char belongs_to[MODEL_PEER_SIZE]; /* caller that may change it, set like loaded_by; "": nobody */
    atomic_bool is_persistent;        /* stored on the disk, over restarts of the daemon */
    dyn_model *model;
    dyn_report *report;
    model_options options;
    atomic_uint references;
    pthread_mutex_t mutex;
    dyn_workspace *idle[MODEL_PRECISIONS][MODEL_IDLE_WORKSPACES]; /* created when first leased */
    size_t idle_count[MODEL_PRECISIONS];
    atomic_bool is_used; /* a workspace was leased */
    model_compilation compilation;
    char compilation_reason[COMPILATION_REASON_SIZE];
    dyn_compiled *compiled;   /* NULL until compiled; then constant */
    char object[DIGEST_SIZE]; /* digest of its object file */
    struct model_entry *bare; /* the model without its rotors, or NULL until it was asked for */
} model_entry;

/* Converts the name of a file or a robot to that of a model: '.' becomes '_'. Names of models have no '.', which
 * separates the parts of topics. */
void model_name_adapt(char *name);

/* Creates an entry from a URDF text. An empty name selects the robot's own, adapted. `links` is the largest number of
 * links allowed. The caller owns one reference to the result. Errors are as in urdf.h, and with place "name" for a name
 * that is not allowed. */
dyn_status model_entry_create(const char *text, size_t length, const char *name, const char *source,
                              const model_options *options, size_t links, dyn_error *error, model_entry **result);

/* Builds the model that a builder describes and creates an entry of it. The entry takes ownership of `report`, also on
 * failure; the builder's reader may have added to it (NULL: none yet). The other arguments are those of
 * model_entry_create. Errors are as in builder.h, and with place "name", or "links" for too many. */
dyn_status model_entry_build(dyn_builder *builder, dyn_report *report, const char *name, const char *source,
                             const model_options *options, size_t links, dyn_error *error, model_entry **result);

/* Returns a reference to the model without the inertia of its rotors (dyn_builder_remove_rotors), which is in no store:
 * built once, and `entry` itself where it has none. Errors are as in builder.h. */
dyn_status model_entry_without_rotors(model_entry *entry, dyn_error *error, model_entry **bare);

/* Acquires a reference. Returns `entry`. */
model_entry *model_entry_retain(model_entry *entry);

/* Releases a reference; the last release frees the entry. NULL is ignored. */
void model_entry_release(model_entry *entry);

/* Leases a workspace of a precision, for one thread until model_entry_return. Creates one only when none is idle.
 * Errors are as in dyn_workspace_create_in. */
dyn_status model_entry_lease(model_entry *entry, dyn_precision precision, dyn_error *error, dyn_workspace **workspace);

/* Returns a leased workspace to the entry, which frees it if MODEL_IDLE_WORKSPACES are idle already. */
void model_entry_return(model_entry *entry, dyn_workspace *workspace);

/* Returns whether a workspace was ever leased, or model_entry_compiled called. */
bool model_entry_is_used(model_entry *entry);

/* Sets the state of the compilation and its reason. With MODEL_COMPILED it also sets the algorithms for every workspace
 * leased from now on, and the digest of their object; the entry owns the algorithms. Once an entry is compiled, calls
 * change nothing and free `compiled`. */
void model_entry_set_compilation(model_entry *entry, model_compilation state, const char *reason,
                                 dyn_compiled *compiled, const char *object);

/* Returns the compiled algorithms and the digest of their object: NULL and "" if there are none yet. Counts as a use of
 * the model. */
const dyn_compiled *model_entry_compiled(model_entry *entry, char object[DIGEST_SIZE]);

/* Copies the digest of the object of the compiled algorithms: "" if there are none yet. */
void model_entry_object(model_entry *entry, char object[DIGEST_SIZE]);

/* Size of the text that computed_with writes, and the text before the digest of an object in it. */
enum { COMPUTED_WITH_SIZE = DIGEST_SIZE + 40 };
#define COMPUTED_WITH_COMPILED ", compiled "
/* Writes the name of the code that computes, for comparisons of bits: the instruction set, and the digest of the object
 * of compiled algorithms ("": none), as in simulation.proto. */
void computed_with(const char *object, char text[COMPUTED_WITH_SIZE]);

/* Returns the state of the compilation. `reason` (may be NULL) receives its reason, or "" if there is none. */
model_compilation model_entry_compilation(model_entry *entry, char reason[COMPILATION_REASON_SIZE]);

#endif
