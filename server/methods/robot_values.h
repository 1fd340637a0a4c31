/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of one robot from a caller, for simulations and streams that outlive a request: checked and converted to the
 * model's order, and back.
 */
#ifndef SERVER_METHODS_ROBOT_VALUES_H
#define SERVER_METHODS_ROBOT_VALUES_H

#include "dynamics/v1/dynamics.pb-c.h"
#include "methods/joint_order.h"
#include "methods/refusal.h"
#include "models/entry.h"
#include "simulations/stepper.h"

/* Range of a number of a request, and its default in place of zero. */
typedef struct value_range {
    const char *field;
    double standard, low, high;
} value_range;

/* Fills a zero with the default and checks the range. */
bool value_fill(const value_range *range, double *value, refusal *why);

/* Checks a value of an enumeration that has `count` of them from 0 on. */
bool value_check_choice(const char *field, int value, int count, refusal *why);

/* Robot and the joint order of its caller. */
typedef struct robot {
    model_entry *entry;
    const dyn_model *model;
    joint_order order;
    size_t nq, nv;
    size_t name_count; /* 0: the model's own order */
    char *const *names;
} robot;

/* Computes the order of the names, which must live as long as the robot, in the memory of the arena. Fields of refusals
 * are those of a Query. */
bool robot_open(robot *r, model_entry *entry, size_t name_count, char *const *names, arena *memory, refusal *why);

/* Reads a row of q, or of v, a or tau, into the model's order: finite numbers, `count` of them nq or nv. */
bool robot_read_q(const robot *r, const char *field, size_t count, const double *values, double *q, refusal *why);
bool robot_read_v(const robot *r, const char *field, size_t count, const double *values, double *v, refusal *why);

/* Reads gains or deviations into memory of the arena, in the model's order: none (NULL), one for all, or nv; not
 * negative. */
bool robot_read_gains(const robot *r, const char *field, size_t count, const double *values, arena *memory,
                      const double **result, refusal *why);

/* Reads the external forces of one state, at most STEPPER_FORCES. `field` is the path of the list in the request. */
bool robot_read_forces(const robot *r, const char *field, size_t count, Dynamics__V1__ExternalForce *const *list,
                       stepper_forces *forces, refusal *why);

/* Convert rows to the model's order, and to the caller's. */
void robot_q_to_model(const robot *r, size_t rows, const double *caller, double *model);
void robot_v_to_model(const robot *r, size_t rows, const double *caller, double *model);
void robot_q_to_caller(const robot *r, size_t rows, const double *model, double *caller);
void robot_v_to_caller(const robot *r, size_t rows, const double *model, double *caller);

#endif
