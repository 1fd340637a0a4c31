/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads reference values of real robots and compares results of the daemon, through libdynamicsclient, with them.
 *
 * The values come from another library, computed in extended precision; they are in DYNAMICS_REFERENCE_DIR, golden/ and
 * robots/. A quantity agrees when the norm of the difference is below 1e-10 of the norm of the reference. A mismatch
 * ends the Check test.
 */
#ifndef DYNAMICS_TESTS_REFERENCE_H
#define DYNAMICS_TESTS_REFERENCE_H

#include <jansson.h>

#include <dynamics_client.h>

#include "system/quantity_question.h"

/* Returns the names of the files with reference values of robots that have a description; reference_files_free frees
 * them. */
char **reference_files(int *count);
void reference_files_free(char **files, int count);

/* Robot with its reference states. */
typedef struct reference {
    json_t *root;
    json_t *joints;
    json_t *states;
    size_t count;  /* of states */
    size_t nq, nv; /* of the reference, whose continuous joints have two coordinates */
    dyn_client *client;
    dyn_client_description *robot;
    dyn_client_query query;
    size_t *v_map; /* index in the robot's v of each entry of the reference's */
    double *q, *v, *a, *tau;
    const double *dq, *dv, *da, *dtau; /* a direction in the reference's order; NULL: zeros */
    const char **names;                /* of joints, in the reference's order; NULL: not used */
} reference;

/* Reads a file, and loads its robot into the daemon at `address`. A failure ends the Check test. */
void reference_open(reference *of, const char *address, const char *file);
void reference_close(reference *of);

/* Sets the query to name the joints in the reference's order, and reorders q, v, a and tau of the reference
 * accordingly. Results have that order from then on. */
void reference_use_names(reference *of);

/* Returns whether the first state of the reference has a field. */
bool has(const reference *of, const char *field);

/* Returns the name of the frame of the reference's "ee" fields. */
const char *frame_of(const reference *of);

/* Evaluates quantities of the reference's states, direction and frame; the caller frees the evaluation. */
dyn_client_evaluation *reference_evaluate(const reference *of, size_t count, const dyn_client_quantity *quantities,
                                          dyn_client_reference_frame reference_frame);

/* Multiplies the matrix of sample s in a block by a vector of nv numbers: sums over the block's last axis. */
void reference_multiply(const reference *of, const dyn_client_block *matrix, size_t s, const double *vector,
                        double *product);

const dyn_client_joint *find_joint(const dyn_client_description *robot, const char *name);

/* Returns the integer member `key` of a JSON object. */
size_t read_size(const json_t *object, const char *key);

/* Returns the number at an index of a JSON array. */
double at(const json_t *list, size_t index);

/* ---- comparison -------------------------------------------------------------------------------------------------- */

/* Sum of squared differences from a reference, and sum of squared references. */
typedef struct deviation {
    double difference, norm;
} deviation;

void add(deviation *to, double computed, double expected);
void check(const reference *of, const char *quantity, size_t state, deviation found);
void check_within(const reference *of, const char *quantity, size_t state, deviation found, double tolerance);

/* Prints the number of robots and the largest deviation that was found. */
void reference_summarize(int robots);

/* Ends the Check test with a message when a call has failed. */
void must(const reference *of, const char *call, dyn_client_status status, const dyn_client_error *error);

#endif
