/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random trees of every joint type, known to the library in this process and, by their description, to a daemon.
 *
 * A mismatch ends the Check test.
 */
#ifndef DYNAMICS_TESTS_WIRE_TREE_H
#define DYNAMICS_TESTS_WIRE_TREE_H

#include <dynamics/dynamics.h>
#include <dynamics_client.h>

#include "support/random_tree.h"

typedef struct wire_tree {
    dyn_model *model;
    dyn_workspace *workspace;
    dyn_client *client;
    char name[32]; /* in the daemon */
    char digest[80];
    dyn_client_query query;  /* for one sample */
    double *q, *v, *a, *tau; /* a state */
} wire_tree;

/* Creates a random tree, loads its description into the daemon under a name, and draws a state. wire_tree_close frees
 * the tree. */
void wire_tree_open(dyn_client *client, random_source *random, const random_tree_options *options, const char *name,
                    wire_tree *opened);

/* Unloads the model from the daemon and frees the tree. */
void wire_tree_close(wire_tree *closed);

/* Returns the description of a model in the client's form; wire_description_free frees it. */
dyn_client_model_description *wire_description(const dyn_model *model);
void wire_description_free(dyn_client_model_description *freed);

/* Ends the Check test with a message when a call has failed. */
void wire_require(dyn_client_status status, const dyn_client_error *error);

#endif
