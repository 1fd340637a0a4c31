/* SPDX-License-Identifier: BSD-2-Clause */
#include "regression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/regressor.h>
#include <dynamics/rotor_force.h>

#include "../model/error.h"
#include "triangle.h"

/* Samples whose rows are computed at once. */
enum { BLOCK = 64 };

/* Entries of a regressor, relative to its largest one, that are zero but for rounding. */
static const double ROUNDING = 1e-12;

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

/* Lists the columns of drives, or counts them if `drives` is NULL. */
static size_t list_drives(const dyn_model *model, const dyn_identification_options *o, drive_column *drives) {
    size_t count = 0;
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        for (int term = 0; term < DYN_DRIVE_TERMS && joint->nv == 1; term++) {
            if (o->drive_terms[term] && drives) {
                drives[count] = (drive_column){joint->v_index, (dyn_drive_term)term};
            }
            count += o->drive_terms[term];
        }
    }
    return count;
}

/* Stores the model's own viscous and Coulomb friction. */
static void store_friction(regression *g) {
    for (int j = 0; j < dyn_model_joint_count(g->model); j++) {
        const dyn_joint *joint = dyn_model_joint(g->model, j);
        for (size_t t = 0; t < g->term_count && joint->nv == 1; t++) {
            if (g->drives[t].coordinate == joint->v_index) {
                g->prior[g->base_count + t] = g->drives[t].term == DYN_DRIVE_TERM_VISCOUS   ? joint->damping
                                              : g->drives[t].term == DYN_DRIVE_TERM_COULOMB ? joint->friction
                                                                                            : 0;
            }
        }
    }
}

/* Returns the entry of a term of a drive: the force of a term of size 1. `load` is the torque of the bodies. */
static double drive_value(const regression *g, dyn_drive_term term, double v, double a, double load) {
    double bend = g->options->friction_velocity, ratio = v / g->options->stribeck_velocity;
    double direction = v / sqrt(v * v + bend * bend);
    switch (term) {
    case DYN_DRIVE_TERM_VISCOUS:
        return v;
    case DYN_DRIVE_TERM_COULOMB:
        return direction;
    case DYN_DRIVE_TERM_OFFSET:
        return 1;
    case DYN_DRIVE_TERM_INERTIA:
        return a;
    case DYN_DRIVE_TERM_STRIBECK:
        return direction / (1 + ratio * ratio);
    case DYN_DRIVE_TERM_LOAD:
        return direction * fabs(load);
    }
    return 0;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* Sets entries of the regressor of one sample to zero that are zero but for rounding. A column of such entries would
 * count as excited. */
static void drop_rounding(size_t count, double *Y) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(Y[i]));
    }
    for (size_t i = 0; i < count; i++) {
        Y[i] = fabs(Y[i]) > ROUNDING * largest ? Y[i] : 0;
    }
}

/* Computes Y and the forces of the rotors of `count` samples from `first` on. */
static dyn_status fill_regressor(regression *g, size_t first, size_t count, dyn_error *error) {
    const record *r = g->record;
    const double *q = r->q + first * r->nq, *v = r->v + first * r->nv, *a = r->a + first * r->nv;
    dyn_status status = dyn_torque_regressor(g->model, g->workspace, count, g->options->gravity, q, v, a, g->Y, error);
    for (size_t s = 0; s < count && status == DYN_OK; s++) {
        drop_rounding(g->nv * g->width, g->Y + s * g->nv * g->width);
    }
    return status == DYN_OK
               ? dyn_rotor_forces(g->model, g->workspace, count, g->options->gravity, q, v, a, g->rotors, error)
               : status;
}

/* Returns the torque of the model's own bodies and of known loads in row i, whose regressor is Y. */
static double load_of(const regression *g, size_t i, const double *Y) {
    double torque = g->record->known ? g->record->known[i] : 0;
    for (size_t p = 0; p < g->width; p++) {
        torque += Y[p] * g->sought.p[p];
    }
    return torque;
}

/* Computes the row of one coordinate of sample `first` + `s`. Returns the known torque, which is taken off tau. */
static double fill_row(const regression *g, size_t first, size_t s, size_t coordinate, double *row) {
    const record *r = g->record;
    size_t i = (first + s) * g->nv + coordinate;
    double rotor = g->rotors[s * g->nv + coordinate], known = r->known ? r->known[i] : 0;
    const double *Y = g->Y + (s * g->nv + coordinate) * g->width;
    double held = sought_row(&g->sought, Y, row);
    row[g->count] = r->tau[i] - rotor - known - held;
    double load = g->options->drive_terms[DYN_DRIVE_TERM_LOAD] ? load_of(g, i, Y) : 0;
    for (size_t t = 0; t < g->term_count; t++) {
        bool is_own = (size_t)g->drives[t].coordinate == coordinate;
        row[g->base_count + t] = is_own ? drive_value(g, g->drives[t].term, r->v[i], r->a[i], load) : 0;
    }
    return rotor + known + held;
}

dyn_status regression_rows(regression *g, size_t first, size_t count, double *rows, dyn_error *error) {
    size_t size = g->count + 2;
    dyn_status status = fill_regressor(g, first, count, error);
    for (size_t i = 0; i < count * g->nv && status == DYN_OK; i++) {
        double *row = rows + i * size;
        if (g->record->is_saturated[first * g->nv + i]) {
            memset(row, 0, size * sizeof *row);
        } else {
            row[g->count] = fill_row(g, first, i / g->nv, i % g->nv, row);
            row[g->count + 1] = g->record->tau[first * g->nv + i];
        }
    }
    return status;
}

size_t regression_row_count(const regression *g, size_t coordinate, size_t without) {
    size_t rows = 0;
    for (size_t part = 0; part < g->parts; part++) {
        rows += part != without ? g->rows[part * g->nv + coordinate] : 0;
    }
    return rows;
}

/* Rows that become a factor: (columns, tau), or with `is_split` (columns, known torque, tau). */
typedef struct row_kind {
    bool is_split;
    size_t size;
} row_kind;

/* Appends the rows of one coordinate of a block of samples to a factor. Returns their number. */
static size_t append_rows(regression *g, row_kind kind, size_t first, size_t count, size_t coordinate,
                          double *triangle) {
    size_t rows = 0;
    for (size_t s = 0; s < count; s++) {
        size_t i = (first + s) * g->nv + coordinate;
        double *row = g->block + rows * kind.size;
        double known = fill_row(g, first, s, coordinate, row);
        if (g->record->is_saturated[i]) {
            for (size_t c = 0; c < g->count; c++) {
                g->is_cut[c] = g->is_cut[c] || row[c] != 0;
            }
            continue;
        }
        if (kind.is_split) {
            row[g->count] = known, row[g->count + 1] = g->record->tau[i];
        }
        for (size_t c = 0; c < kind.size && g->weights; c++) {
            row[c] *= g->weights[i];
        }
        rows++;
    }
    triangle_append(kind.size, triangle, rows, g->block, g->scratch);
    return rows;
}

/* Adds all rows of the record to the factors `triangles`, which must be zero. Parts are of consecutive samples. */
static dyn_status reduce(regression *g, row_kind kind, double *triangles, dyn_error *error) {
    const dyn_identification_options *o = g->options;
    size_t n = g->record->n;
    memset(g->rows, 0, g->parts * g->nv * sizeof *g->rows);
    memset(g->is_cut, 0, g->count * sizeof *g->is_cut);
    for (size_t part = 0; part < g->parts; part++) {
        size_t end = n * (part + 1) / g->parts;
        for (size_t first = n * part / g->parts; first < end; first += BLOCK) {
            size_t count = end - first < BLOCK ? end - first : BLOCK;
            dyn_status status = fill_regressor(g, first, count, error);
            if (status != DYN_OK) {
                return status;
            }
            for (size_t k = 0; k < g->nv; k++) {
                double *triangle = triangles + (part * g->nv + k) * kind.size * kind.size;
                g->rows[part * g->nv + k] += append_rows(g, kind, first, count, k, triangle);
            }
            double fraction = kind.is_split ? 0 : 0.5 * (double)(first + count) / (double)n;
            if (o->proceed && !o->proceed(o->context, fraction)) {
                return dyn_error_set(error, DYN_CANCELLED, "", "the identification was cancelled");
            }
        }
    }
    return DYN_OK;
}

dyn_status regression_split(regression *g, double *factors, dyn_error *error) {
    return reduce(g, (row_kind){.is_split = true, .size = g->count + 2}, factors, error);
}

dyn_status regression_weigh(regression *g, dyn_error *error) {
    size_t size = g->count + 1, total = g->parts * g->nv * size * size;
    if (g->weighted == g->triangles) {
        g->weighted = calloc(total + 1, sizeof *g->weighted);
    }
    if (!g->weighted) {
        g->weighted = g->triangles;
        return dyn_error_memory(error);
    }
    memset(g->weighted, 0, total * sizeof *g->weighted);
    return reduce(g, (row_kind){.size = size}, g->weighted, error);
}

dyn_status regression_residuals(regression *g, const double *x, const double *gains, double *residuals,
                                dyn_error *error) {
    dyn_status status = DYN_OK;
    size_t n = g->record->n;
    for (size_t first = 0; first < n && status == DYN_OK; first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;
        status = fill_regressor(g, first, count, error);
        for (size_t i = first * g->nv; i < (first + count) * g->nv && status == DYN_OK; i++) {
            double known = fill_row(g, first, i / g->nv - first, i % g->nv, g->block);
            double torque = gains ? gains[i % g->nv] * g->record->tau[i] - known : g->block[g->count];
            residuals[i] = g->record->is_saturated[i] ? 0 : torque;
            for (size_t c = 0; c < g->count && !g->record->is_saturated[i]; c++) {
                residuals[i] -= g->block[c] * x[c];
            }
        }
    }
    return status;
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static dyn_status check_size(const regression *g, dyn_error *error) {
    size_t equations = g->record->n * g->nv;
    size_t most = g->options->most_estimates > 0 ? g->options->most_estimates : DYN_IDENTIFICATION_ESTIMATES;
    if (g->count > most) {
        return dyn_error_because(error, DYN_RESOURCE_EXHAUSTED, DYN_CAUSE_TOO_MANY, "most_estimates",
                                 "%zu base parameters and terms of drives are to be estimated; the limit is %zu: take "
                                 "a part of the model, or ask for fewer links or terms",
                                 g->count, most);
    }
    if (g->count == 0) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "motion",
                             "nothing can be estimated: %s, and no drive has a term that is asked for",
                             g->nv == 0 ? "no joint of the model moves" : "no inertia is sought");
    }
    if (equations <= g->count) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "motion",
                             "%zu samples of %zu coordinates are %zu equations for %zu unknowns; pass a record of at "
                             "least %zu samples, or ask for fewer terms of drives",
                             g->record->n, g->nv, equations, g->count, g->count / g->nv + 1);
    }
    return DYN_OK;
}

/* Allocates the arrays. */
static bool allocate(regression *g) {
    size_t size = g->count + 1, factors = g->parts * g->nv;
    g->drives = calloc(g->term_count + 1, sizeof *g->drives);
    g->prior = calloc(size, sizeof *g->prior);
    g->triangles = calloc(factors * size * size + 1, sizeof *g->triangles);
    g->rows = calloc(factors + 1, sizeof *g->rows);
    g->is_cut = calloc(size, sizeof *g->is_cut);
    g->Y = calloc(BLOCK * g->nv * g->width + 1, sizeof *g->Y);
    g->rotors = calloc(BLOCK * g->nv + 1, sizeof *g->rotors);
    g->block = calloc(BLOCK * (size + 1), sizeof *g->block);
    g->scratch = calloc(size + 1, sizeof *g->scratch);
    g->weighted = g->triangles;
    return g->drives && g->prior && g->triangles && g->rows && g->is_cut && g->Y && g->rotors && g->block && g->scratch;
}

dyn_status regression_create(const dyn_model *model, const dyn_identification_options *o, const record *r,
                             regression *g, dyn_error *error) {
    *g = (regression){.model = model, .options = o, .record = r, .nv = r->nv};
    g->width = (size_t)dyn_model_parameter_count(model);
    g->parts = o->folds > 1 ? o->folds : 1;
    dyn_status status = sought_create(model, o, &g->sought, error);
    if (status == DYN_OK) {
        g->base_count = g->sought.base_count;
        g->term_count = list_drives(model, o, NULL);
        g->count = g->base_count + g->term_count;
        status = check_size(g, error);
    }
    if (status == DYN_OK) {
        status = dyn_workspace_create(model, &g->workspace, error);
    }
    if (status == DYN_OK && !allocate(g)) {
        status = dyn_error_memory(error);
    }
    if (status != DYN_OK) {
        return status;
    }
    list_drives(model, o, g->drives);
    memcpy(g->prior, g->sought.b, g->base_count * sizeof *g->prior);
    store_friction(g);
    return DYN_OK;
}

dyn_status regression_reduce(regression *g, dyn_error *error) {
    size_t size = g->count + 1;
    memset(g->triangles, 0, g->parts * g->nv * size * size * sizeof *g->triangles);
    return reduce(g, (row_kind){.size = size}, g->triangles, error);
}

void regression_combine(regression *g, const double *factors, double *triangle, double *rows) {
    size_t size = g->count + 1;
    for (size_t k = 0; k < g->nv; k++) {
        const double *factor = regression_triangle(g, g->triangles, 0, k);
        for (size_t i = 0; i < size * size; i++) {
            rows[i] = factors[k] * factor[i];
        }
        triangle_append(size, triangle, size, rows, g->scratch);
    }
}

void regression_free(regression *g) {
    sought_free(&g->sought);
    dyn_workspace_free(g->workspace);
    if (g->weighted != g->triangles) {
        free(g->weighted);
    }
    free(g->drives), free(g->prior), free(g->triangles), free(g->rows), free(g->is_cut);
    free(g->weights), free(g->errors), free(g->Y), free(g->rotors), free(g->block), free(g->scratch);
}
