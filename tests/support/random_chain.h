/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds random robots with joints of given types: serial chains and trees.
 */
#ifndef DYNAMICS_TESTS_RANDOM_CHAIN_H
#define DYNAMICS_TESTS_RANDOM_CHAIN_H

#include <dynamics/builder.h>

#include "random.h"

typedef struct random_chain_options {
    int joints;                  /* less than 100000 */
    const dyn_joint_type *types; /* each joint has a random one of them */
    int type_count;
    bool branches; /* the parent of a joint is a random earlier link; otherwise it is the last one */
    bool scaled;   /* joints "jointI" of one coordinate, and mimic joints "jointI:rest" about the same screws */
    dyn_base base;
} random_chain_options;

/* Builds a random robot; every link has a positive definite inertia. The caller frees it. */
dyn_model *random_chain(random_source *random, const random_chain_options *options);

#endif
