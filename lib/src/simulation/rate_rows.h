/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rates of gears and shafts, u = g' v, in steps of a simulation. Each coordinate that such a rate depends on is a row,
 * so that the response of one rate to a force at another is a sum over both, and forces at rates are forces of the
 * coordinates.
 *
 *     rate_rows_clear, rate_rows_add ...                  choose the coordinates
 *     constraint_rows_respond(&r->rows ...)               computes their response in all lanes
 *     rate_rows_begin, rate_rows_push ...                 sum the forces g f of the coordinates in one lane
 *     constraint_rows_apply(&r->rows ...)                 adds their response
 */
#ifndef DYNAMICS_SIMULATION_RATE_ROWS_H
#define DYNAMICS_SIMULATION_RATE_ROWS_H

#include "../actuation/joint_properties.h"
#include "../constraint/rows.h"

typedef struct rate_rows {
    constraint_rows rows;
    int *row_of; /* row of each coordinate of the model; -1: no rate depends on it */
} rate_rows;

/* Lays out the memory of up to `coordinates` rows from `base` on; returns its size (carve.h). */
size_t rate_rows_lay_out(const dyn_model *model, int coordinates, size_t lanes, uintptr_t base, rate_rows *r);

/* Removes all rows. */
void rate_rows_clear(const dyn_model *model, rate_rows *r);

/* Adds the coordinates of a rate. */
void rate_rows_add(rate_rows *r, const shaft_rates *rates);

/* Returns the rate at the packed rates v of a lane. */
double rate_rows_speed(const shaft_rates *rates, sample_block block, size_t lane, const double *v);

/* Returns g_a' M^-1 g_b of two rates in a lane. */
double rate_rows_response(const rate_rows *r, const shaft_rates *a, const shaft_rates *b, sample_block block,
                          size_t lane);

/* Clears the forces of the coordinates. */
void rate_rows_begin(rate_rows *r);

/* Adds a force at a rate to those of its coordinates. */
void rate_rows_push(rate_rows *r, const shaft_rates *rates, double force);

#endif
