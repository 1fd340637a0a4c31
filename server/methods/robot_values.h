/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of one robot from a caller, for simulations and streams that outlive a request: checks them, and converts them
 * to the model's order and back. Functions that fail fill a refusal and return false.
 */
#ifndef SERVER_METHODS_ROBOT_VALUES_H
#define SERVER_METHODS_ROBOT_VALUES_H

#include "dynamics/v1/dynamics.pb-c.h"
#include "methods/joint_order.h"
#include "methods/refusal.h"
#include "models/entry.h"
#include "simulations/stepper.h"

/* Range of a number of a request, and the default that replaces zero. */
typedef struct value_range {
    const char *field;
    double standard, low, high;
} value_range;

/* Replaces a zero by the default, and checks the range. */
bool value_fill(const value_range *range, double *value, refusal *why);

/* Checks that a value of an enumeration is one of its `count` values, which start at 0. */
bool value_check_choice(const char *field, int value, int count, refusal *why);

/* Model with the joint order of its caller. */
typedef struct robot {
    model_entry *entry;
    const dyn_model *model;
    joint_order order;
    size_t nq, nv;
    size_t name_count; /* 0: the model's own order */
    char *const *names;
} robot;

/* Opens a robot: refuses a model without moving joints, and computes the order of the names in the memory of the arena.
 * The names must live as long as the robot. Fields of refusals are those of a Query. */
bool robot_open(robot *r, model_entry *entry, size_t name_count, char *const *names, arena *memory, refusal *why);

/* Reads a row of q into the model's order: nq finite numbers, with quaternions of norm one. */
bool robot_read_q(const robot *r, const char *field, size_t count, const double *values, double *q, refusal *why);

/* Reads a row of v, a or tau into the model's order: nv finite numbers. */
bool robot_read_v(const robot *r, const char *field, size_t count, const double *values, double *v, refusal *why);

/* Reads gains or deviations into memory of the arena, in the model's order: none (NULL), one for all joints, or nv.
 * They must be finite and not negative. */
bool robot_read_gains(const robot *r, const char *field, size_t count, const double *values, arena *memory,
                      const double **result, refusal *why);

/* Reads the motion of the base of one state; NULL: none is set. `field` is its path in the request. */
bool robot_read_base(const char *field, const Dynamics__V1__BaseMotion *wire, stepper_base *base, refusal *why);

/* Reads the external forces of one state, at most STEPPER_FORCES. `field` is the path of the list in the request. */
bool robot_read_forces(const robot *r, const char *field, size_t count, Dynamics__V1__ExternalForce *const *list,
                       stepper_forces *forces, refusal *why);

/* Converts rows of q to the model's order. The arrays must not overlap. */
void robot_q_to_model(const robot *r, size_t rows, const double *caller, double *model);

/* Converts rows of v, a or tau to the model's order. The arrays must not overlap. */
void robot_v_to_model(const robot *r, size_t rows, const double *caller, double *model);

/* Converts rows of q to the caller's order. The arrays must not overlap. */
void robot_q_to_caller(const robot *r, size_t rows, const double *model, double *caller);

/* Converts rows of v, a or tau to the caller's order. The arrays must not overlap. */
void robot_v_to_caller(const robot *r, size_t rows, const double *model, double *caller);

#endif
