/* SPDX-License-Identifier: BSD-2-Clause */
/* Modes of a uniform beam that is clamped at one end, in closed form (model/beam_shape.h). */
#include <math.h>
#include <string.h>

#include <dynamics/flexible_chain.h>

#include "../model/beam_shape.h"
#include "../model/error.h"
#include "../model/vector3.h"
#include "array_check.h"

/* Checks a beam and computes its axes. */
static dyn_status open_beam(const dyn_beam *beam, int count, beam_axes *axes, dyn_error *error) {
    dyn_status status = dyn_check_array("beam.start", beam->start, 3, error);
    status = status == DYN_OK ? dyn_check_array("beam.end", beam->end, 3, error) : status;
    status = status == DYN_OK ? dyn_check_array("beam.direction", beam->direction, 3, error) : status;
    status = status == DYN_OK ? dyn_check_array("beam.rigidity", beam->rigidity, 2, error) : status;
    status = status == DYN_OK ? dyn_check_array("beam.mass", &beam->mass, 1, error) : status;
    if (status != DYN_OK) {
        return status;
    }
    if (count < 1 || count > DYN_BEAM_MODES) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "count", "count is %d; pass 1 to %d", count, DYN_BEAM_MODES);
    }
    if (!(beam->mass > 0) || !(beam->rigidity[0] > 0) || !(beam->rigidity[1] >= 0)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "beam",
                             "mass is %g and rigidity %g, %g; pass positive ones, or 0 for the second rigidity",
                             beam->mass, beam->rigidity[0], beam->rigidity[1]);
    }
    if (!beam_axes_between(beam->start, beam->end, axes)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "beam.end",
                             "the length is %g; pass an end other than the start", axes->length);
    }
    double size = sqrt(vector3_dot(beam->direction, beam->direction)), lean = vector3_dot(beam->direction, axes->along);
    if (!(fabs(size - 1) <= 1e-6) || !(fabs(lean) <= 1e-6)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "beam.direction",
                             "its length is %g, and its component along the beam %g; pass a unit vector normal to the "
                             "beam",
                             size, lean);
    }
    beam_axes_bend(beam->direction, axes);
    return DYN_OK;
}

/* Computes a mode that bends the beam along `across`. */
static dyn_flexible_mode mode_of(const dyn_beam *beam, const beam_axes *axes, const double across[3],
                                 beam_shape shape) {
    dyn_flexible_mode mode;
    double density = beam->mass / axes->length, turn[3];
    double mean = density * 2 * shape.c / shape.b, moment = density * 2 / (shape.b * shape.b);
    vector3_cross(axes->along, across, turn);
    for (int i = 0; i < 3; i++) {
        mode.end[i] = 2 * shape.sign * across[i];
        mode.rotation[i] = 2 * shape.sign * shape.b * shape.c * turn[i];
        mode.first_moment[i] = mean * across[i];
        for (int j = 0; j < 3; j++) {
            mode.moments[3 * i + j] = across[i] * (mean * beam->start[j] + moment * axes->along[j]);
        }
    }
    return mode;
}

dyn_status dyn_beam_modes(const dyn_beam *beam, int count, dyn_flexible_mode *modes, double *products,
                          double *stiffness, dyn_error *error) {
    beam_axes axes;
    dyn_status status = open_beam(beam, count, &axes, error);
    if (status != DYN_OK) {
        return status;
    }
    int total = beam->rigidity[1] > 0 ? 2 * count : count;
    for (int f = 0; f < total; f++) {
        beam_shape shape = beam_shape_of(f % count, axes.length);
        modes[f] = mode_of(beam, &axes, axes.across[f / count], shape);
        for (int g = 0; g < total; g++) {
            bool is_same_shape = f % count == g % count;
            for (int i = 0; i < 9; i++) {
                double dyad = axes.across[f / count][i / 3] * axes.across[g / count][i % 3];
                products[9 * (f * total + g) + i] = is_same_shape ? beam->mass * dyad : 0;
            }
            stiffness[f * total + g] = f == g ? beam->rigidity[f / count] * pow(shape.b, 4) * axes.length : 0;
        }
    }
    return DYN_OK;
}
