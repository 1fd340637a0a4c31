/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the Query of a request: the model, the order of joints, gravity, payloads and precision.
 *
 * Batches of samples have a query, as do simulations and streams, which outlive their request and may come from a file.
 * Functions without a call fill a refusal and return false on an error. Fields of errors begin with "query.".
 */
#ifndef SERVER_METHODS_QUERY_H
#define SERVER_METHODS_QUERY_H

#include <dynamics/constrained_inverse_dynamics.h>
#include <dynamics/passive_force.h>
#include <dynamics/payload.h>
#include <dynamics/precision.h>

#include "dynamics/v1/query.pb-c.h"
#include "methods/call.h"
#include "methods/robot_values.h"

/* Parts of a Query that a method supports, as flags; every method supports `model`. */
typedef enum query_parts {
    QUERY_MODEL = 0,
    QUERY_JOINT_NAMES = 1,
    QUERY_GRAVITY = 2,
    QUERY_PAYLOADS = 4, /* and requests without rotors: all changes of inertias */
    QUERY_FORCES = 8,
    QUERY_PRECISION = 16,
    QUERY_ALL = QUERY_JOINT_NAMES | QUERY_GRAVITY | QUERY_PAYLOADS | QUERY_FORCES | QUERY_PRECISION,
    QUERY_ON_ERROR = 32,
    QUERY_CONSTRAINTS = 64, /* a model with constraints, which the method considers, or refuses itself */
    QUERY_FORMULATION = 128,
    QUERY_PASSIVE_FORCES = 256,
    QUERY_ADDED_CONSTRAINTS = 512, /* constraints of the request */
    QUERY_TIP_CONSTRAINTS = 1024,
    QUERY_TIME = 2048, /* of prescribed motions */
    QUERY_BASE_MOTION = 4096,
    QUERY_ROWS = 8192,                                                    /* rows that the request states */
    QUERY_MOTION_OPTIONS = 16384,                                         /* of inverse dynamics with constraints */
    QUERY_SIMULATED = (QUERY_ALL & ~QUERY_PRECISION) | QUERY_CONSTRAINTS, /* of motion forward in time */
} query_parts;

/* Parts of a query other than the robot. Arrays are in the arena of the call. */
typedef struct query_values {
    const double *gravity; /* m/s^2, world axes; NULL: the model's own */
    size_t payload_count;
    const dyn_payload *payloads; /* expressed in the frames of their links */
    dyn_passive_parts passive;   /* passive forces that count */
    dyn_precision precision;
    double time; /* s: instant of prescribed motions */
    /* Tolerance and weights of inverse dynamics with constraints; the other members are defaults. */
    dyn_constrained_inverse_options motion;
    bool is_marking; /* failed samples are marked, and do not end the call */
} query_values;

/* Checks that the query exists and has only parts that the method supports. `method_name` appears in the messages. */
bool query_check(const Dynamics__V1__Query *query, query_parts supported, const char *method_name, refusal *why);

/* Checks that the model has the digest that the query expects, if it expects one. */
bool query_check_digest(const Dynamics__V1__Query *query, const model_entry *entry, refusal *why);

/* Checks the query of a request, finds its model and names it in the reply. Returns a reference to the model, which the
 * caller releases; NULL, and the call has ended, on failure. */
model_entry *query_find_model(call *c, const Dynamics__V1__Query *query, query_parts supported);

/* Reads the gravity of a query into the arena. NULL: the query has none, and that of the model applies. */
bool query_read_gravity(const Dynamics__V1__Query *query, arena *memory, const double **gravity, refusal *why);

/* Opens the robot with the joint names of the query (robot_open), and reads all values except the external forces. */
bool query_read(const Dynamics__V1__Query *query, model_entry *entry, arena *memory, robot *r, query_values *values,
                refusal *why);

/* Reads the payloads of a query into `values`, in memory of the arena. */
bool query_read_payloads(const robot *r, size_t count, Dynamics__V1__Payload *const *payloads, arena *memory,
                         query_values *values, refusal *why);

/* Returns the field of a query, such as "query.gravity", for an argument of the library's functions; NULL: the argument
 * is not from the query. */
const char *query_field(const char *argument);

#endif
