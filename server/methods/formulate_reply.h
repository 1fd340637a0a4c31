/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reply of Formulate: joint forces, and blocks of inner quantities of all states.
 */
#ifndef SERVER_METHODS_FORMULATE_REPLY_H
#define SERVER_METHODS_FORMULATE_REPLY_H

#include <dynamics/formulation.h>
#include <pthread.h>

#include "methods/batch.h"

/* Blocks of one state. */
typedef struct block_set {
    int count;
    dyn_formulation_block blocks[DYN_FORMULATION_CONSTRAINT_BLOCKS + DYN_FORMULATION_MAX_BLOCKS];
} block_set;

/* Blocks of all states of a batch, whose shapes are equal: those of the first state that is stored. */
typedef struct formulated_blocks {
    call *call;
    size_t n;
    pthread_mutex_t lock;      /* of shapes and of values while they are made */
    bool has_shapes, is_short; /* is_short: there is no memory for the values */
    block_set shapes;          /* values: those of all states, in memory of the call */
    uint64_t bytes;            /* of all values, where they are too many; 0: they are not */
} formulated_blocks;

/* Prepares the blocks of the states of a batch. */
void formulated_blocks_open(const batch *b, formulated_blocks *found);

/* Ends the use of the blocks, before the call ends. */
void formulated_blocks_close(formulated_blocks *found);

/* Stores the blocks of one state, of which it copies the values. Several threads call it at once, for other states.
 * Stores nothing where all states would exceed half of
 * limits.reply_bytes. Errors: DYN_RESOURCE_EXHAUSTED. */
dyn_status formulated_blocks_store(formulated_blocks *found, size_t state, const block_set *set, dyn_error *error);

/* Returns whether the blocks of all states are too large, so that no further state is of use. Any thread. */
bool formulated_blocks_exceed(formulated_blocks *found);

/* Answers Formulate with the joint forces, n x nv, and the blocks of all states by a formulation, which exists; or
 * refuses a reply that is too large. */
void formulate_reply(batch *b, const char *formulation, double *tau, const formulated_blocks *found);

#endif
