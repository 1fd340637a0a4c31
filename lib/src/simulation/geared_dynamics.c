/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/geared_dynamics.h>

#include <math.h>
#include <string.h>

#include <dynamics/forward_dynamics.h>
#include <dynamics/inverse_dynamics.h>
#include <dynamics/joint_wrench.h>
#include <dynamics/machine_element.h>

#include "../actuation/joint_properties.h"
#include "../model/description.h"
#include "../model/error.h"
#include "../model/normal_form.h"

enum { MOST_ITERATIONS = 100 };

static const double WEIGHTLESS[3] = {0, 0, 0};

/* Parts of the caller's memory. */
typedef struct geared_memory {
    double *r;        /* n x nv: passive forces */
    double *forces;   /* n x nv: tau + r, then a, or inverse dynamics */
    double *wrenches; /* n x joints x 6 */
    double *loads;    /* n x gears: F without losses, then F */
    double *factors;  /* gears: mu s sign(F) */
    double *response; /* gears x gears: D */
    double *matrix;   /* gears x gears: 1 + D Phi */
    double *unit, *a; /* nv each */
} geared_memory;

/* Lays out the parts from `memory` on; returns their size. */
static size_t lay_out(const dyn_model *model, size_t n, double *memory, geared_memory *m) {
    size_t nv = (size_t)model->nv, gears = (size_t)dyn_lossy_gears(model), used = 0;
    size_t coupled = model->rotor_count > 0 ? gears : 0;
    const struct {
        double **part;
        size_t numbers;
    } parts[] = {
        {&m->r, n * nv},
        {&m->forces, n * nv},
        {&m->wrenches, coupled ? n * 6 * (size_t)model->joint_count : 0},
        {&m->loads, n * gears},
        {&m->factors, gears},
        {&m->response, coupled * coupled},
        {&m->matrix, coupled * coupled},
        {&m->unit, nv},
        {&m->a, nv},
    };
    for (size_t i = 0; gears > 0 && i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = memory ? memory + used : NULL;
        used += parts[i].numbers;
    }
    return used;
}

size_t dyn_geared_memory(const dyn_model *model, size_t n) {
    geared_memory unused;
    return lay_out(model, n, NULL, &unused);
}

/* States of gears, with the parts of their memory. */
typedef struct geared {
    const dyn_model *model;
    dyn_workspace *workspace;
    const dyn_geared_states *states;
    geared_memory m;
    size_t nv, gears;
} geared;

/* Finds the next gear with losses from machine element *element on, and its element. Returns false after the last. */
static bool next_gear(const dyn_model *model, int *element, gear_law *law) {
    while (*element < dyn_machine_elements(model)) {
        if (dyn_element_gear(model, (*element)++, law)) {
            return true;
        }
    }
    return false;
}

/* Checks the arguments, clears the losses, and computes the passive forces. */
static dyn_status begin(const dyn_model *model, dyn_workspace *workspace, const dyn_geared_states *states,
                        double *losses, geared *g, dyn_error *error) {
    *g = (geared){.model = model,
                  .workspace = workspace,
                  .states = states,
                  .nv = (size_t)model->nv,
                  .gears = (size_t)dyn_lossy_gears(model)};
    memset(losses, 0, states->n * g->nv * sizeof *losses);
    if (g->gears == 0) {
        return DYN_OK;
    }
    lay_out(model, states->n, states->memory, &g->m);
    memset(g->m.r, 0, states->n * g->nv * sizeof *g->m.r);
    dyn_status status = dyn_check_gears(model, "gear_losses", error);
    return status == DYN_OK
               ? dyn_add_passive_forces(model, states->n, &states->parts, 1, states->q, states->v, g->m.r, error)
               : status;
}

/* ---- Loads ------------------------------------------------------------------------------------------------------- */

/* Computes the forces that the coordinates of the gears transmit in a motion, n x gears: inverse dynamics without the
 * rotors of each coordinate. */
static dyn_status find_transmitted(const geared *g, const dyn_geared_states *s, const double *a, double *transmitted,
                                   dyn_error *error) {
    const dyn_model *model = g->model;
    bool has_rotors = model->rotor_count > 0;
    size_t wrench_numbers = 6 * (size_t)model->joint_count;
    dyn_status status =
        has_rotors
            ? dyn_joint_wrenches(model, g->workspace, s->n, s->gravity, s->q, s->v, a, s->forces, g->m.wrenches, error)
            : dyn_rnea(model, g->workspace, s->n, s->gravity, s->q, s->v, a, s->forces, g->m.forces, error);
    for (size_t i = 0; status == DYN_OK && i < s->n; i++) {
        gear_law law;
        for (int element = 0; next_gear(model, &element, &law);) {
            *transmitted++ = has_rotors ? dyn_transmitted_force(model, law.v_index, g->m.wrenches + i * wrench_numbers)
                                        : g->m.forces[i * g->nv + (size_t)law.v_index];
        }
    }
    return status;
}

/* Returns r_m at the rate v of a coordinate. */
static double rotor_friction(const geared *g, int v_index, double v) {
    const dyn_machine_element_description *elements = g->model->description->machine_elements;
    const dyn_passive_parts *parts = &g->states->parts;
    double sum = 0;
    for (int i = 0; (parts->damping || parts->friction) && i < dyn_machine_elements(g->model); i++) {
        friction_law law;
        if (elements[i].friction.side == DYN_GEAR_SIDE_ROTOR && dyn_element_friction(g->model, i, &law) &&
            law.v_index == v_index) {
            sum += dyn_friction_force(&law, parts, v);
        }
    }
    return sum;
}

/* Returns the rate of coordinate k in a sample. */
static double rate_of(const geared *g, size_t sample, int k) {
    return g->states->v ? g->states->v[sample * g->nv + (size_t)k] : 0;
}

/* Computes F = T - (r - r_m) in a motion, with the transmitted forces T. */
static dyn_status find_loads(const geared *g, const double *a, dyn_error *error) {
    dyn_status status = find_transmitted(g, g->states, a, g->m.loads, error);
    double *load = g->m.loads;
    for (size_t i = 0; status == DYN_OK && i < g->states->n; i++) {
        gear_law law;
        for (int element = 0; next_gear(g->model, &element, &law); load++) {
            double r = g->m.r[i * g->nv + (size_t)law.v_index];
            *load -= r - rotor_friction(g, law.v_index, rate_of(g, i, law.v_index));
        }
    }
    return status;
}

/* Returns phi = mu s sign(F), with which l = -phi F. A self-locking gear has mu = 1 where it is driven back. */
static double factor_of(const geared *g, const gear_law *law, double v, double F) {
    double w = g->states->parts.friction_velocity, s = v / sqrt(v * v + w * w);
    return F * v > 0 ? law->driving * fabs(s) : -fmin(1, law->back_driving) * fabs(s);
}

/* Writes the losses l = -phi F of one sample. */
static void write_losses(const geared *g, size_t sample, const double *loads, double *losses) {
    gear_law law;
    for (int element = 0; next_gear(g->model, &element, &law); loads++) {
        double phi = factor_of(g, &law, rate_of(g, sample, law.v_index), *loads);
        losses[sample * g->nv + (size_t)law.v_index] = -phi * *loads;
    }
}

dyn_status dyn_gear_losses_of_motion(const dyn_model *model, dyn_workspace *workspace, const dyn_geared_states *states,
                                     const double *a, double *losses, dyn_error *error) {
    geared g;
    dyn_status status = begin(model, workspace, states, losses, &g, error);
    if (status == DYN_OK && g.gears > 0) {
        status = find_loads(&g, a, error);
    }
    for (size_t i = 0; status == DYN_OK && g.gears > 0 && i < states->n; i++) {
        write_losses(&g, i, g.m.loads + i * g.gears, losses);
    }
    return status;
}

/* ---- Forward dynamics -------------------------------------------------------------------------------------------- */

/* Computes D in one sample: loads of the accelerations that forces of one cause at rest and without weight. */
static dyn_status find_response(const geared *g, size_t sample, dyn_error *error) {
    const dyn_geared_states at_rest = {
        .n = 1, .gravity = WEIGHTLESS, .q = g->states->q + sample * (size_t)g->model->nq};
    double *column = g->m.factors;
    gear_law law;
    dyn_status status = DYN_OK;
    size_t i = 0;
    for (int element = 0; status == DYN_OK && next_gear(g->model, &element, &law); i++) {
        memset(g->m.unit, 0, g->nv * sizeof *g->m.unit);
        g->m.unit[law.v_index] = 1;
        status = dyn_aba(g->model, g->workspace, 1, WEIGHTLESS, at_rest.q, NULL, g->m.unit, NULL, g->m.a, error);
        if (status == DYN_OK) {
            status = find_transmitted(g, &at_rest, g->m.a, column, error);
        }
        for (size_t k = 0; status == DYN_OK && k < g->gears; k++) {
            g->m.response[k * g->gears + i] = column[k];
        }
    }
    return status;
}

/* Solves A x = b of order n by elimination with partial pivots; x is b before. Returns false for a singular A. */
static bool eliminate(size_t n, double *A, double *x) {
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++) {
            pivot = fabs(A[i * n + k]) > fabs(A[pivot * n + k]) ? i : pivot;
        }
        double row = x[k];
        x[k] = x[pivot], x[pivot] = row;
        for (size_t j = k; j < n; j++) {
            double entry = A[k * n + j];
            A[k * n + j] = A[pivot * n + j], A[pivot * n + j] = entry;
        }
        for (size_t i = k + 1; i < n && A[k * n + k] != 0; i++) {
            double factor = A[i * n + k] / A[k * n + k];
            x[i] -= factor * x[k];
            for (size_t j = k; j < n; j++) {
                A[i * n + j] -= factor * A[k * n + j];
            }
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++) {
            x[k] -= A[k * n + j] * x[j];
        }
        x[k] /= A[k * n + k];
    }
    for (size_t k = 0; k < n; k++) {
        if (!isfinite(x[k])) {
            return false;
        }
    }
    return true;
}

/* Computes the factors of the loads F. Returns whether they are those of the last call. */
static bool update_factors(const geared *g, size_t sample, const double *F) {
    bool is_same = true;
    gear_law law;
    size_t i = 0;
    for (int element = 0; next_gear(g->model, &element, &law); i++) {
        double phi = factor_of(g, &law, rate_of(g, sample, law.v_index), F[i]);
        is_same = is_same && phi == g->m.factors[i];
        g->m.factors[i] = phi;
    }
    return is_same;
}

/* Moves the loads F_0 of one sample to F. Returns false where they are not determined. */
static bool solve_loads(const geared *g, size_t sample, double *free_loads, double *F) {
    size_t n = g->gears;
    bool has_rotors = g->model->rotor_count > 0;
    memcpy(F, free_loads, n * sizeof *F);
    for (size_t i = 0; i < n; i++) {
        g->m.factors[i] = NAN;
    }
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        if (update_factors(g, sample, F)) {
            memcpy(free_loads, F, n * sizeof *F);
            return true;
        }
        memcpy(F, free_loads, n * sizeof *F);
        for (size_t i = 0; !has_rotors && i < n; i++) {
            F[i] /= 1 + g->m.factors[i];
            if (!isfinite(F[i])) {
                return false;
            }
        }
        for (size_t i = 0; has_rotors && i < n * n; i++) {
            g->m.matrix[i] = (i % (n + 1) == 0) + g->m.response[i] * g->m.factors[i % n];
        }
        if (has_rotors && !eliminate(n, g->m.matrix, F)) {
            return false;
        }
    }
    return false;
}

dyn_status dyn_gear_losses_under_forces(const dyn_model *model, dyn_workspace *workspace,
                                        const dyn_geared_states *states, const double *tau, double *losses,
                                        dyn_error *error) {
    geared g;
    dyn_status status = begin(model, workspace, states, losses, &g, error);
    if (status != DYN_OK || g.gears == 0) {
        return status;
    }
    for (size_t i = 0; i < states->n * g.nv; i++) {
        g.m.forces[i] = g.m.r[i] + (tau ? tau[i] : 0);
    }
    status = dyn_aba(model, workspace, states->n, states->gravity, states->q, states->v, g.m.forces, states->forces,
                     g.m.forces, error);
    if (status == DYN_OK) {
        status = find_loads(&g, g.m.forces, error);
    }
    for (size_t i = 0; status == DYN_OK && i < states->n; i++) {
        double *loads = g.m.loads + i * g.gears;
        status = model->rotor_count > 0 ? find_response(&g, i, error) : DYN_OK;
        if (status == DYN_OK && !solve_loads(&g, i, loads, g.m.unit)) {
            return dyn_error_at(error, DYN_FAILED_PRECONDITION,
                                &(dyn_error_site){.argument = "gear_losses", .has_sample = true, .sample = i},
                                "the gears jam: their loads are not determined; state a larger friction velocity, or "
                                "ignore the losses");
        }
        write_losses(&g, i, loads, losses);
    }
    return status;
}
