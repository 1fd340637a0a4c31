/* SPDX-License-Identifier: BSD-2-Clause */
#include "agreement.h"

#include <math.h>
#include <stdio.h>

#include "../model/error.h"

/* Share of the largest terms that a residual may have where all loops are closed, and what a closure error of 1 m or 1
 * rad adds to it. Share of them that rounding errors account for. */
static const double least_noise = 1e-6, noise_of_opening = 10, rounding_share = 1e-10;

/* Returns the constraint that row r belongs to, or -1 for one of the caller. */
static int constraint_of(const dyn_model *model, int r) {
    int i = model->constraint_count - 1;
    while (i >= 0 && model->constraints[i].first_row > r) {
        i--;
    }
    return i >= 0 && r < model->constraint_rows ? i : -1;
}

/* Sets the error for row r, which misses its acceleration by `residual`. */
static dyn_status refuse(const dyn_model *model, int r, double residual, size_t sample, dyn_error *error) {
    static const char advice[] = "close the loops by an assembly, or accept a compromise by a larger tolerance";
    const dyn_error_site site = {.argument = "q", .has_sample = true, .sample = sample};
    const int i = constraint_of(model, r);
    if (i < 0) {
        return dyn_error_at(error, DYN_FAILED_PRECONDITION, &site,
                            "row %d of the request contradicts other rows: its acceleration is off by %.3g; %s",
                            r - model->constraint_rows, residual, advice);
    }
    const dyn_constraint *constraint = &model->constraints[i];
    const dyn_constraint_row row = dyn_model_constraint_row(model, i, r - constraint->first_row);
    return dyn_error_at(error, DYN_FAILED_PRECONDITION, &site,
                        "constraint %s contradicts other constraints: its acceleration along \"%s\" is off by %.3g "
                        "%s; %s",
                        constraint->name, row.direction, residual, row.is_angular ? "rad/s^2" : "m/s^2", advice);
}

/* Returns A_r a - c_r; *size is the sum of the sizes of its terms. */
static double residual_of(const solved_rows *rows, int r, double *size) {
    double rest = -rows->c[(size_t)r * rows->lanes + rows->lane];
    *size = fabs(rest);
    for (int i = 0; i < rows->nv; i++) {
        const double A = rows->A[(size_t)(r * rows->nv + i) * rows->lanes + rows->lane];
        const double term = A * rows->a[(size_t)i * rows->lanes + rows->lane];
        rest += term;
        *size += fabs(term);
    }
    return rest;
}

dyn_status agreement_check(const solved_rows *rows, double tolerance, const dyn_model *model, size_t sample,
                           dyn_error *error) {
    double largest = rows->freed, size, most = 0, residual = 0;
    int worst = -1;
    if (!(tolerance > 0 && tolerance < 1)) {
        return DYN_OK;
    }
    for (int r = 0; r < rows->m; r++) {
        residual_of(rows, r, &size);
        largest = fmax(largest, size);
    }
    const double of_q = fmin(tolerance, least_noise + noise_of_opening * rows->opening) * largest;
    for (int r = 0; r < rows->m; r++) {
        const double rest = fabs(residual_of(rows, r, &size));
        const double noise = r < model->constraint_rows ? of_q : least_noise * size + rounding_share * largest;
        const double beyond = rest - tolerance * fabs(rows->c[(size_t)r * rows->lanes + rows->lane]) - noise;
        if (beyond > most) {
            worst = r, most = beyond, residual = rest;
        }
    }
    return worst >= 0 ? refuse(model, worst, residual, sample, error) : DYN_OK;
}
