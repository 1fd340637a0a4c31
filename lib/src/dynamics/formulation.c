/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/formulation.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/configuration.h>

#include "../classical/array_check.h"
#include "../classical/classical.h"
#include "../classical/constraint_lanes.h"
#include "../classical/counted/counts.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "../model/scaled_joint.h"
#include "arguments.h"
#include "base_motion.h"
#include "instruction_set.h"

static const classical_instance *const classical = &dyn_classical_instance_classical;

/* Formulation of one model, with the memory of its calls. */
struct dyn_formulation {
    formulation_call call; /* of the joined model, where there is one */
    const dyn_model *model;
    dyn_model *joined; /* in which scaled joints have one body; NULL: the model has no scaled joints */
    dyn_tip_constraint tip[DYN_FORMULATION_MAX_TIP_CONSTRAINTS];
    dyn_external_forces forces;
    dyn_base_motion base;
    size_t size;    /* bytes of the memory of a call */
    double *result; /* scratch for counting operations: a result of nv x nv numbers, then q of nq */
    dyn_formulation_block blocks[DYN_FORMULATION_MAX_BLOCKS];
};

/* Levels of constraint_force in vectors of one instruction set. */
static const struct {
    const char *set;
    const struct constraint_lanes *lanes;
} vector_lanes[] = {
#if defined DYN_HAVE_AVX512
    {"avx512", &dyn_constraint_lanes_chain_avx512},
#endif
#if defined DYN_HAVE_AVX2
    {"avx2", &dyn_constraint_lanes_chain_avx2},
#endif
    {"scalar", NULL},
};

/* Returns the lanes for the instruction set of this processor; NULL: one lane. */
static const struct constraint_lanes *choose_lanes(void) {
    const char *set = dyn_choose_instruction_set()->name;
    for (size_t i = 0; i < sizeof vector_lanes / sizeof *vector_lanes; i++) {
        if (strcmp(vector_lanes[i].set, set) == 0) {
            return vector_lanes[i].lanes;
        }
    }
    return NULL;
}

int dyn_formulation_count(void) {
    return classical->count;
}

const dyn_formulation_traits *dyn_formulation_traits_at(int i) {
    return i >= 0 && i < classical->count ? classical->traits(i) : NULL;
}

/* Returns the number of the formulation of this name, or -1. `name` may be NULL. */
static int find_row(const char *name) {
    for (int i = 0; name && i < classical->count; i++) {
        if (strcmp(classical->traits(i)->name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* Sets the error for an unknown name, which lists all names. They have the room that a long unknown name leaves. */
static dyn_status refuse_name(const char *name, dyn_error *error) {
    enum { LONGEST_NAME = 64, ROOM = DYN_MESSAGE_SIZE - LONGEST_NAME - 64 };
    char names[ROOM] = "";
    size_t used = 0;
    for (int i = 0; i < classical->count; i++) {
        const char *known = classical->traits(i)->name;
        if (used + strlen(known) + 3 < sizeof names) {
            used += (size_t)sprintf(names + used, "%s%s", i ? ", " : "", known);
        }
    }
    return dyn_error_set(error, DYN_INVALID_ARGUMENT, "formulation",
                         "there is no formulation \"%.*s\"; choose one of %s", LONGEST_NAME, name ? name : "", names);
}

dyn_status dyn_formulation_applies(const dyn_model *model, const char *name, dyn_error *error) {
    dyn_model *joined;
    int row = find_row(name);
    dyn_status status = row < 0 ? refuse_name(name, error) : join_scaled_joints(model, &joined, error);
    if (status == DYN_OK) {
        status = dyn_check_formulation(classical->traits(row), joined ? joined : model, error);
        free(joined);
    }
    return status;
}

/* Returns the larger of the memories that a formulation needs for the model and for its joined form, if any. */
static size_t memory_of(int row, const dyn_model *model, const dyn_model *joined) {
    size_t size = classical->memory_size(row, model), of_joined = joined ? classical->memory_size(row, joined) : 0;
    return size > of_joined ? size : of_joined;
}

dyn_status dyn_formulation_create(const dyn_model *model, const char *name, dyn_formulation **formulation,
                                  dyn_error *error) {
    dyn_status status = dyn_formulation_applies(model, name, error);
    if (status != DYN_OK) {
        return status;
    }
    int row = find_row(name);
    dyn_formulation *f = calloc(1, sizeof *f);
    if (!f) {
        return dyn_error_memory(error);
    }
    f->model = model;
    status = join_scaled_joints(model, &f->joined, error);
    if (status != DYN_OK) {
        dyn_formulation_free(f);
        return status;
    }
    size_t numbers = (size_t)model->nv * (size_t)model->nv + (size_t)model->nq + 1;
    f->size = memory_of(row, model, f->joined);
    f->call = (formulation_call){.row = row,
                                 .model = f->joined ? f->joined : model,
                                 .gravity = model->gravity,
                                 .memory = malloc(f->size + 16),
                                 .tip = f->tip,
                                 .lanes = choose_lanes()};
    f->result = calloc(numbers, sizeof(double));
    if (!f->call.memory || !f->result) {
        dyn_formulation_free(f);
        return dyn_error_memory(error);
    }
    f->size += 16 + numbers * sizeof(double) + sizeof *f;
    *formulation = f;
    return DYN_OK;
}

void dyn_formulation_free(dyn_formulation *formulation) {
    if (formulation) {
        free(formulation->call.memory);
        free(formulation->result);
        free(formulation->joined);
        free(formulation);
    }
}

const dyn_formulation_traits *dyn_formulation_traits_of(const dyn_formulation *formulation) {
    return classical->traits(formulation->call.row);
}

size_t dyn_formulation_size(const dyn_formulation *formulation) {
    return formulation->size;
}

dyn_status dyn_formulation_constrain_tip(dyn_formulation *formulation, int count, const dyn_tip_constraint *constraints,
                                         dyn_error *error) {
    if (!classical->has_tip_constraints(formulation->call.row)) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "formulation",
                             "%s does not consider constraints of the last link; choose vereshchagin",
                             dyn_formulation_traits_of(formulation)->name);
    }
    if (count < 0 || count > DYN_FORMULATION_MAX_TIP_CONSTRAINTS) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "count", "count is %d; pass 0 to %d", count,
                             DYN_FORMULATION_MAX_TIP_CONSTRAINTS);
    }
    for (int i = 0; i < count; i++) {
        if (!dyn_are_finite(constraints[i].direction, 6) || !dyn_are_finite(&constraints[i].acceleration, 1)) {
            const dyn_error_site site = {
                .cause = DYN_CAUSE_NOT_FINITE, .argument = "constraints", .has_item = true, .item = (size_t)i};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "a number is not finite; pass finite numbers");
        }
        formulation->tip[i] = constraints[i];
    }
    formulation->call.tip_count = count;
    return DYN_OK;
}

/* Returns whether a force acts on a body inside a scaled joint, which the joined model does not have. */
static bool acts_inside_joint(const dyn_formulation *f, const dyn_external_forces *forces) {
    bool found = false;
    for (size_t i = 0; f->joined && i < forces->count; i++) {
        int frame = forces->force[i].frame;
        found = found || (f->model->frames[frame].body >= 0 && f->joined->frames[frame].body < 0);
    }
    return found;
}

dyn_status dyn_formulation_apply_forces(dyn_formulation *formulation, const dyn_external_forces *forces,
                                        dyn_error *error) {
    dyn_status status = DYN_OK;
    for (size_t i = 0; forces && status == DYN_OK && i < forces->count; i++) {
        status = dyn_check_frame(formulation->call.model, forces->force[i].frame, error);
    }
    bool whole = status == DYN_OK && forces && acts_inside_joint(formulation, forces);
    if (whole) {
        status = dyn_check_formulation(dyn_formulation_traits_of(formulation), formulation->model, error);
    }
    if (status == DYN_OK) {
        formulation->forces = forces ? *forces : (dyn_external_forces){0};
        formulation->call.model = formulation->joined && !whole ? formulation->joined : formulation->model;
    }
    return status;
}

bool dyn_formulation_spreads(const dyn_formulation *formulation) {
    return classical->spreads(formulation->call.row);
}

void dyn_formulation_spread(dyn_formulation *formulation, const dyn_spread *spread) {
    formulation->call.spread = spread;
}

void dyn_formulation_move_base(dyn_formulation *formulation, const dyn_base_motion *base) {
    formulation->base = base ? *base : (dyn_base_motion){0};
}

/* Refuses inverse dynamics and the mass matrix of a chain whose last link is constrained: they would be derived from a
 * forward dynamics with constraints. */
static dyn_status check_free_tip(const dyn_formulation *f, dyn_error *error) {
    return f->call.tip_count == 0
               ? DYN_OK
               : dyn_error_set(error, DYN_FAILED_PRECONDITION, "formulation",
                               "the last link has %d constraints, with which there is forward dynamics only; remove "
                               "them by dyn_formulation_constrain_tip with a count of 0",
                               f->call.tip_count);
}

/* Input of a call: x is a or tau, called `name`. */
typedef struct formulation_input {
    const double *gravity, *q, *v;
    const char *name;
    const double *x;
} formulation_input;

/* Checks that the wrenches of n samples are finite. */
static dyn_status check_wrenches(const dyn_formulation *f, size_t n, dyn_error *error) {
    for (size_t i = 0; i < f->forces.count; i++) {
        const dyn_external_force *force = &f->forces.force[i];
        for (size_t s = 0; s < (force->stride ? n : 1); s++) {
            if (!dyn_are_finite(force->wrench + s * force->stride, 6)) {
                const dyn_error_site site = {.cause = DYN_CAUSE_NOT_FINITE,
                                             .argument = "external_forces",
                                             .has_item = true,
                                             .item = i,
                                             .has_sample = force->stride != 0,
                                             .sample = s};
                return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "a number is not finite; pass finite numbers");
            }
        }
    }
    return DYN_OK;
}

static dyn_status check_input(const dyn_formulation *f, size_t n, const formulation_input *in, dyn_error *error) {
    const dyn_model *model = f->call.model;
    dyn_status status = dyn_check_gravity(DYN_PRECISION_DOUBLE, in->gravity, error);
    if (status == DYN_OK) {
        status = dyn_check_configuration(model, "q", n, in->q, error);
    }
    if (status == DYN_OK && in->v) {
        status = dyn_check_tangent(model, "v", n, in->v, error);
    }
    return status == DYN_OK && in->x ? dyn_check_tangent(model, in->name, n, in->x, error) : status;
}

static dyn_status check_loaded_input(const dyn_formulation *f, size_t n, const formulation_input *in,
                                     dyn_error *error) {
    dyn_status status = check_input(f, n, in, error);
    if (status == DYN_OK && f->base.twist) {
        status = dyn_check_base_motion(n, &f->base, error);
    }
    return status == DYN_OK ? check_wrenches(f, n, error) : status;
}

/* Returns the numbers of sample s of an input, or NULL where the input is NULL. */
static const double *row_at(const double *rows, size_t s, int width) {
    return rows ? rows + s * (size_t)width : NULL;
}

/* Returns the call of sample 0. */
static formulation_call call_at(const dyn_formulation *f, const double *gravity) {
    formulation_call call = f->call;
    call.forces = &f->forces;
    call.base = &f->base;
    call.gravity = gravity ? gravity : call.gravity;
    return call;
}

/* Checks that a result of one sample is finite. */
static dyn_status check_result(const char *name, const double *x, size_t count, size_t sample, dyn_error *error) {
    if (dyn_are_finite(x, count)) {
        return DYN_OK;
    }
    const dyn_error_site site = {.cause = DYN_CAUSE_OVERFLOW, .argument = name, .has_sample = true, .sample = sample};
    return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                        "%s is beyond the range of double precision; the inputs are too large", name);
}

/* Refuses a model whose mass matrix is singular in every configuration. */
static dyn_status check_resistance(const dyn_model *model, dyn_error *error) {
    if (model->unresisted < 0) {
        return DYN_OK;
    }
    const dyn_error_site site = {
        .cause = DYN_CAUSE_SINGULAR_MASS_MATRIX, .argument = "model", .has_joint = true, .joint = model->unresisted};
    return dyn_error_at(error, DYN_FAILED_PRECONDITION, &site,
                        "joint %s: the mass matrix is singular, no inertia resists the joint; set a mass and an "
                        "inertia for the links that it moves",
                        model->joints[model->unresisted].name);
}

/* Refuses such a model where the library derives inverse dynamics and M from forward dynamics. */
static dyn_status check_derivation(const dyn_formulation *f, dyn_error *error) {
    const dyn_formulation_traits *traits = dyn_formulation_traits_at(f->call.row);
    return traits->inverse_dynamics || traits->mass_matrix ? DYN_OK : check_resistance(f->call.model, error);
}

dyn_status dyn_formulation_inverse_dynamics(dyn_formulation *formulation, size_t n, const double *gravity,
                                            const double *q, const double *v, const double *a, double *tau,
                                            dyn_error *error) {
    const formulation_input in = {gravity, q, v, "a", a};
    formulation_call call = call_at(formulation, gravity);
    int nq = call.model->nq, nv = call.model->nv;
    dyn_status status = check_free_tip(formulation, error);
    status = status == DYN_OK ? check_derivation(formulation, error) : status;
    status = status == DYN_OK ? check_loaded_input(formulation, n, &in, error) : status;
    for (size_t s = 0; status == DYN_OK && s < n; s++) {
        double *out = tau + s * (size_t)nv;
        call.sample = s;
        classical->inverse(&call, row_at(q, s, nq), row_at(v, s, nv), row_at(a, s, nv), out);
        status = check_result("tau", out, (size_t)nv, s, error);
    }
    return status;
}

/* Sets the error for an acceleration that is not finite: M is singular here, or the inputs are too large. */
static dyn_status refuse_acceleration(size_t sample, dyn_error *error) {
    const dyn_error_site site = {
        .cause = DYN_CAUSE_SINGULAR_MASS_MATRIX, .argument = "model", .has_sample = true, .sample = sample};
    return dyn_error_at(
        error, DYN_FAILED_PRECONDITION, &site,
        "the accelerations are not finite: the mass matrix is singular at this q, or the inputs are too "
        "large; choose another q, or smaller inputs");
}

dyn_status dyn_formulation_forward_dynamics(dyn_formulation *formulation, size_t n, const double *gravity,
                                            const double *q, const double *v, const double *tau, double *a,
                                            dyn_error *error) {
    const formulation_input in = {gravity, q, v, "tau", tau};
    formulation_call call = call_at(formulation, gravity);
    int nq = call.model->nq, nv = call.model->nv;
    dyn_status status = check_loaded_input(formulation, n, &in, error);
    if (status == DYN_OK && n > 0) {
        status = check_resistance(call.model, error);
    }
    for (size_t s = 0; status == DYN_OK && s < n; s++) {
        double *out = a + s * (size_t)nv;
        call.sample = s;
        classical->forward(&call, row_at(q, s, nq), row_at(v, s, nv), row_at(tau, s, nv), out);
        if (!dyn_are_finite(out, (size_t)nv)) {
            status = refuse_acceleration(s, error);
        }
    }
    return status;
}

dyn_status dyn_formulation_mass_matrix(dyn_formulation *formulation, size_t n, const double *q, double *M,
                                       dyn_error *error) {
    const formulation_input in = {NULL, q, NULL, "a", NULL};
    const formulation_call call = formulation->call;
    size_t entries = (size_t)call.model->nv * (size_t)call.model->nv;
    dyn_status status = check_free_tip(formulation, error);
    status = status == DYN_OK ? check_derivation(formulation, error) : status;
    status = status == DYN_OK ? check_input(formulation, n, &in, error) : status;
    for (size_t s = 0; status == DYN_OK && s < n; s++) {
        classical->mass_matrix(&call, row_at(q, s, call.model->nq), M + s * entries);
        status = check_result("M", M + s * entries, entries, s, error);
    }
    return status;
}

dyn_status dyn_formulation_coefficients(dyn_formulation *formulation, const double *gravity, const double *q,
                                        const double *v, const double *a, const dyn_formulation_block **blocks,
                                        int *count, dyn_error *error) {
    const formulation_input in = {gravity, q, v, "a", a};
    const formulation_call call = call_at(formulation, gravity);
    dyn_status status = check_loaded_input(formulation, 1, &in, error);
    if (status != DYN_OK) {
        return status;
    }
    *count = classical->coefficients(&call, q, v, a, formulation->blocks);
    *blocks = formulation->blocks;
    for (int i = 0; status == DYN_OK && i < *count; i++) {
        dyn_formulation_block *block = &formulation->blocks[i];
        size_t numbers = 1;
        block->traits = dyn_formulation_find_block(dyn_formulation_traits_of(formulation)->name, block->name);
        for (int k = 0; k < block->dimensions; k++) {
            numbers *= (size_t)block->extents[k];
        }
        status = check_result(block->name, block->values, numbers, 0, error);
    }
    return status;
}

#if defined DYN_HAVE_COUNTED

dyn_status dyn_formulation_operations(dyn_formulation *formulation, dyn_formulation_result result,
                                      dyn_operation_counts *counts, dyn_error *error) {
    const classical_instance *counted = &dyn_classical_instance_counted;
    formulation_call counted_call = formulation->call;
    const formulation_call *call = &counted_call;
    counted_call.lanes = NULL, counted_call.spread = NULL;
    /* The numbers of both instances have the same size. */
    double *out = formulation->result, *q = out + (size_t)call->model->nv * (size_t)call->model->nv;
    (void)error;
    dyn_zero_configuration(call->model, q);
    dyn_counts = (dyn_operation_counts){0};
    switch (result) {
    case DYN_FORMULATION_RESULT_INVERSE_DYNAMICS:
        counted->inverse(call, q, NULL, NULL, out);
        break;
    case DYN_FORMULATION_RESULT_FORWARD_DYNAMICS:
        counted->forward(call, q, NULL, NULL, out);
        break;
    case DYN_FORMULATION_RESULT_MASS_MATRIX:
        counted->mass_matrix(call, q, out);
        break;
    }
    *counts = dyn_counts;
    return DYN_OK;
}

#else

dyn_status dyn_formulation_operations(dyn_formulation *formulation, dyn_formulation_result result,
                                      dyn_operation_counts *counts, dyn_error *error) {
    (void)formulation, (void)result, (void)counts;
    return dyn_error_set(error, DYN_FAILED_PRECONDITION, "formulation",
                         "this library was built without a C++ compiler, and counts no operations");
}

#endif
