/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/formulated_quantity.h"

#include <string.h>

#include "methods/passive_forces.h"

#define QUANTITY(name) DYNAMICS__V1__QUANTITY__QUANTITY_##name

static const double weightless[3] = {0, 0, 0};

/* States of a call, the formulation, and memory of count x nv numbers. */
typedef struct task {
    const states *s;
    dyn_formulation *by;
    double *memory;
} task;

static dyn_status inverse_dynamics(const task *t, double *out, dyn_error *error) {
    const states *s = t->s;
    dyn_status status = dyn_formulation_inverse_dynamics(t->by, s->count, s->gravity, s->q, s->v, s->a, out, error);
    if (status == DYN_OK) {
        status = passive_forces_add(s->model, s->count, s->passive, -1, s->q, s->v, out, error);
    }
    return status == DYN_OK ? quantities_add_gear_losses(s, NULL, -1, out, error) : status;
}

static dyn_status forward_dynamics(const task *t, double *out, dyn_error *error) {
    const states *s = t->s;
    const double *tau = s->tau;
    dyn_status status = DYN_OK;
    if (passive_forces_count(s->passive) || s->gear_losses) {
        const dyn_constraint_options options =
            DYN_CONSTRAINT_OPTIONS_INIT(.passive = passive_forces_count(s->passive) ? s->passive : NULL);
        status = passive_forces_sum(s->model, s->count, s->passive, s->q, s->v, tau, t->memory, error);
        if (status == DYN_OK) {
            status = quantities_add_gear_losses(s, &options, 1, t->memory, error);
        }
        tau = t->memory;
    }
    return status == DYN_OK ? dyn_formulation_forward_dynamics(t->by, s->count, s->gravity, s->q, s->v, tau, out, error)
                            : status;
}

static dyn_status mass_matrix(const task *t, double *out, dyn_error *error) {
    return dyn_formulation_mass_matrix(t->by, t->s->count, t->s->q, out, error);
}

/* Computes the columns of the inverse of M: the accelerations of unit forces, at rest and without gravity. */
static dyn_status inverse_mass_matrix(const task *t, double *out, dyn_error *error) {
    const states *s = t->s;
    size_t nq = (size_t)dyn_model_nq(s->model), nv = (size_t)dyn_model_nv(s->model);
    dyn_status status = DYN_OK;
    for (size_t k = 0; status == DYN_OK && k < s->count * nv; k++) {
        memset(t->memory, 0, nv * sizeof *t->memory);
        t->memory[k % nv] = 1;
        status = dyn_formulation_forward_dynamics(t->by, 1, weightless, s->q + k / nv * nq, NULL, t->memory,
                                                  out + k * nv, error);
        error->site.sample += status == DYN_OK ? 0 : k / nv;
        error->site.index += status == DYN_OK ? 0 : k / nv * error->site.width;
    }
    return status;
}

static dyn_status gravity_forces(const task *t, double *out, dyn_error *error) {
    const states *s = t->s;
    return dyn_formulation_inverse_dynamics(t->by, s->count, s->gravity, s->q, NULL, NULL, out, error);
}

static dyn_status bias_forces(const task *t, double *out, dyn_error *error) {
    const states *s = t->s;
    return dyn_formulation_inverse_dynamics(t->by, s->count, s->gravity, s->q, s->v, NULL, out, error);
}

static dyn_status external_forces(const task *t, double *out, dyn_error *error) {
    const states *s = t->s;
    dyn_status status = dyn_formulation_inverse_dynamics(t->by, s->count, weightless, s->q, NULL, NULL, out, error);
    for (size_t i = 0; status == DYN_OK && i < s->count * (size_t)dyn_model_nv(s->model); i++) {
        out[i] = 0 - out[i];
    }
    return status;
}

/* Names of the block that holds Gamma_ijk, by formulation. */
static const struct {
    const char *formulation, *block;
} symbol_blocks[] = {{"lagrange_euler", "h_ikm"}, {"christoffel", "Gamma"}};

static const char *symbol_block_of(const char *formulation) {
    for (size_t i = 0; i < sizeof symbol_blocks / sizeof *symbol_blocks; i++) {
        if (strcmp(symbol_blocks[i].formulation, formulation) == 0) {
            return symbol_blocks[i].block;
        }
    }
    return NULL;
}

/* Sets *symbols to the Gamma_ijk of state k, which the formulation owns. */
static dyn_status find_symbols(const task *t, size_t k, const double **symbols, dyn_error *error) {
    const dyn_formulation_block *found;
    const char *name = symbol_block_of(dyn_formulation_traits_of(t->by)->name);
    int count;
    dyn_status status = dyn_formulation_coefficients(t->by, weightless, t->s->q + k * (size_t)dyn_model_nq(t->s->model),
                                                     NULL, NULL, &found, &count, error);
    for (int i = 0; status == DYN_OK && i < count; i++) {
        if (strcmp(found[i].name, name) == 0) {
            *symbols = found[i].values;
        }
    }
    error->site.sample += status == DYN_OK ? 0 : k;
    error->site.index += status == DYN_OK ? 0 : k * error->site.width;
    return status;
}

/* Stores the matrices G_k of C = sum over k of v_k G_k, whose entry (i, j) is Gamma_ijk. */
static dyn_status christoffel_symbols(const task *t, double *out, dyn_error *error) {
    size_t nv = (size_t)dyn_model_nv(t->s->model);
    dyn_status status = DYN_OK;
    for (size_t s = 0; status == DYN_OK && s < t->s->count; s++, out += nv * nv * nv) {
        const double *symbols = NULL;
        status = find_symbols(t, s, &symbols, error);
        for (size_t i = 0; symbols && i < nv * nv * nv; i++) {
            out[i % nv * nv * nv + i / nv] = symbols[i];
        }
    }
    return status;
}

/* Stores C_ij, the sum over k of Gamma_ijk v_k. */
static dyn_status coriolis_matrix(const task *t, double *out, dyn_error *error) {
    size_t nv = (size_t)dyn_model_nv(t->s->model);
    const double *v = t->s->v;
    dyn_status status = DYN_OK;
    memset(out, 0, t->s->count * nv * nv * sizeof *out);
    for (size_t s = 0; v && status == DYN_OK && s < t->s->count; s++, out += nv * nv, v += nv) {
        const double *symbols = NULL;
        status = find_symbols(t, s, &symbols, error);
        for (size_t i = 0; symbols && i < nv * nv * nv; i++) {
            out[i / nv] += symbols[i] * v[i % nv];
        }
    }
    return status;
}

/* Quantities that formulations compute, and the inputs that the formulation itself counts. */
static const struct row {
    Dynamics__V1__Quantity quantity;
    dyn_status (*run)(const task *t, double *out, dyn_error *error);
    bool has_forces, has_base;
    bool is_of_symbols; /* it needs the symbols of Christoffel among the coefficients */
} rows[] = {
    {QUANTITY(INVERSE_DYNAMICS), inverse_dynamics, true, true, false},
    {QUANTITY(FORWARD_DYNAMICS), forward_dynamics, true, true, false},
    {QUANTITY(MASS_MATRIX), mass_matrix, false, false, false},
    {QUANTITY(INVERSE_MASS_MATRIX), inverse_mass_matrix, false, false, false},
    {QUANTITY(CORIOLIS_MATRIX), coriolis_matrix, false, false, true},
    {QUANTITY(CHRISTOFFEL_SYMBOLS), christoffel_symbols, false, false, true},
    {QUANTITY(GRAVITY_FORCES), gravity_forces, false, false, false},
    {QUANTITY(BIAS_FORCES), bias_forces, false, true, false},
    {QUANTITY(EXTERNAL_FORCES), external_forces, true, false, false},
};

static const struct row *find_row(Dynamics__V1__Quantity quantity) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].quantity == quantity) {
            return &rows[i];
        }
    }
    return NULL;
}

bool formulated_quantity_is_one(Dynamics__V1__Quantity quantity) {
    return find_row(quantity) != NULL;
}

static bool is_known(const char *name) {
    bool found = false;
    for (int i = 0; i < dyn_formulation_count(); i++) {
        found = found || strcmp(dyn_formulation_traits_at(i)->name, name) == 0;
    }
    return found;
}

bool formulated_quantity_check(Dynamics__V1__Quantity quantity, const char *name, refusal *why) {
    return !find_row(quantity)->is_of_symbols || symbol_block_of(name) || !is_known(name) ||
           refuse(why, REASON_CONFLICTING_FIELDS, "query.formulation",
                  "%s has no Christoffel symbols among its coefficients; choose lagrange_euler or christoffel, or no "
                  "formulation",
                  name);
}

bool formulated_gear_losses_are_possible(const batch *b) {
    bool is_refused = b->values.passive.gear_losses && b->query->n_tip_constraints > 0;
    if (is_refused) {
        call_blame(b->call, "query.passive_forces.gear_losses");
        call_fail(b->call, REASON_CONFLICTING_FIELDS,
                  "losses of gears do not count with constraints of the tip; leave gear_losses or tip_constraints out, "
                  "or state the constraints in query.constraints");
    }
    return !is_refused;
}

dyn_status formulated_quantity(const states *s, dyn_formulation *by, Dynamics__V1__Quantity quantity, double *memory,
                               double *out, dyn_error *error) {
    const struct row *of = find_row(quantity);
    const task t = {s, by, memory};
    dyn_status status = dyn_formulation_apply_forces(by, of->has_forces ? s->forces : NULL, error);
    dyn_formulation_move_base(by, of->has_base ? s->base : NULL);
    return status == DYN_OK ? of->run(&t, out, error) : status;
}
