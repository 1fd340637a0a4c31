/* SPDX-License-Identifier: BSD-2-Clause */
#include "arguments.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "../kernels/compiled_object.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "precision.h"
#include "workspace.h"

dyn_status dyn_check_workspace(const dyn_model *model, const dyn_workspace *workspace, dyn_error *error) {
    if (model != workspace->model && model != workspace->loaded) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "workspace", "the workspace was created for another model");
    }
    return DYN_OK;
}

/* Kernels of an instruction set, and their precision. */
typedef struct number_range {
    dyn_precision precision;
    const kernel_table *kernels;
} number_range;

static number_range range_of(const dyn_workspace *w) {
    return (number_range){w->precision, w->kernels->wide};
}

static number_range range_of_doubles(void) {
    return (number_range){DYN_PRECISION_DOUBLE, dyn_choose_instruction_set()->kernels[DYN_PRECISION_DOUBLE].wide};
}

/* Returns whether `count` numbers are in the range of the precision. */
static bool holds_all(number_range range, const double *x, size_t count) {
    return range.precision == DYN_PRECISION_DOUBLE
               ? range.kernels->all_finite(x, count)
               : range.kernels->all_within(x, count, dyn_largest_number(range.precision));
}

static size_t first_out_of_range(dyn_precision precision, const double *x, size_t count) {
    double most = dyn_largest_number(precision);
    size_t i = 0;
    while (i < count && fabs(x[i]) <= most) {
        i++;
    }
    return i;
}

/* Returns the advice for a number that is refused. */
static const char *advice(double x) {
    return isfinite(x) ? "beyond single precision; request double precision" : "pass a finite number";
}

/* Returns the joint that owns coordinate k of q, or of v where of_q is false. */
static int coordinate_owner(const dyn_model *model, int k, bool of_q) {
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        int first = of_q ? joint->q_index : joint->v_index, count = of_q ? joint->nq : joint->nv;
        if (k >= first && k < first + count) {
            return j;
        }
    }
    return 0;
}

static dyn_status check_rows(const dyn_model *model, number_range range, const char *name, bool of_q, size_t n,
                             const double *rows, dyn_error *error) {
    size_t width = (size_t)(of_q ? model->nq : model->nv);
    if (holds_all(range, rows, n * width)) {
        return DYN_OK;
    }
    size_t i = first_out_of_range(range.precision, rows, n * width);
    const dyn_error_site site = {.cause = isfinite(rows[i]) ? DYN_CAUSE_PRECISION : DYN_CAUSE_NOT_FINITE,
                                 .argument = name,
                                 .has_index = true,
                                 .index = i,
                                 .width = width,
                                 .has_sample = true,
                                 .sample = i / width,
                                 .has_joint = true,
                                 .joint = coordinate_owner(model, (int)(i % width), of_q)};
    return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "joint %s: the value is %g; %s",
                        model->joints[site.joint].name, rows[i], advice(rows[i]));
}

static bool has_quaternion(const dyn_joint *joint) {
    return dyn_joint_type_traits(joint->type)->quaternion >= 0;
}

static double quaternion_norm(const double *x) {
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
}

bool dyn_has_unit_quaternions(const dyn_model *model, size_t n, const double *q) {
    size_t nq = (size_t)model->nq;
    int left = model->nq - model->nv;
    for (int j = 0; left > 0; j++) {
        const dyn_joint *joint = &model->joints[j];
        if (!has_quaternion(joint)) {
            continue;
        }
        for (size_t s = 0; s < n; s++) {
            double norm = quaternion_norm(q + s * nq + (size_t)(joint->q_index + joint->nq - 4));
            if (!(fabs(norm - 1) <= QUATERNION_TOLERANCE)) {
                return false;
            }
        }
        left--;
    }
    return true;
}

/* Checks the quaternion of one joint in all samples. */
static dyn_status check_quaternion(const dyn_model *model, const dyn_joint *joint, const char *name, size_t n,
                                   const double *q, dyn_error *error) {
    size_t nq = (size_t)model->nq, first = (size_t)(joint->q_index + joint->nq - 4);
    for (size_t s = 0; s < n; s++) {
        const double *x = q + s * nq + first;
        double norm = quaternion_norm(x);
        if (!(fabs(norm - 1) <= QUATERNION_TOLERANCE)) {
            const dyn_error_site site = {.cause = DYN_CAUSE_NOT_UNIT,
                                         .argument = name,
                                         .has_index = true,
                                         .index = s * nq + first,
                                         .width = nq,
                                         .has_sample = true,
                                         .sample = s,
                                         .has_joint = true,
                                         .joint = (int)(joint - model->joints)};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                "joint %s: the quaternion (x y z w) that begins here has norm %g; make it 1",
                                joint->name, norm);
        }
    }
    return DYN_OK;
}

static dyn_status check_configuration(const dyn_model *model, number_range range, const char *name, size_t n,
                                      const double *q, dyn_error *error) {
    if (n > 0 && model->nq > 0 && !q) {
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_MISSING, name, "%s is missing", name);
    }
    dyn_status status = check_rows(model, range, name, true, n, q, error);
    int quaternions = model->nq - model->nv;
    for (int j = 0; status == DYN_OK && quaternions > 0 && j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        if (has_quaternion(joint)) {
            status = check_quaternion(model, joint, name, n, q, error);
        }
    }
    return status;
}

dyn_status dyn_check_q(const dyn_workspace *workspace, size_t n, const double *q, dyn_error *error) {
    return check_configuration(workspace->model, range_of(workspace), "q", n, q, error);
}

dyn_status dyn_check_configuration(const dyn_model *model, const char *name, size_t n, const double *q,
                                   dyn_error *error) {
    return check_configuration(model, range_of_doubles(), name, n, q, error);
}

dyn_status dyn_check_v(const dyn_workspace *workspace, const char *name, size_t n, const double *v, dyn_error *error) {
    return v ? check_rows(workspace->model, range_of(workspace), name, false, n, v, error) : DYN_OK;
}

dyn_status dyn_check_tangent(const dyn_model *model, const char *name, size_t n, const double *v, dyn_error *error) {
    if (n > 0 && model->nv > 0 && !v) {
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_MISSING, name, "%s is missing", name);
    }
    return check_rows(model, range_of_doubles(), name, false, n, v, error);
}

dyn_status dyn_check_gravity(dyn_precision precision, const double *gravity, dyn_error *error) {
    if (gravity && first_out_of_range(precision, gravity, 3) < 3) {
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_NOT_FINITE, "gravity",
                                 "gravity is (%g, %g, %g); pass finite numbers%s", gravity[0], gravity[1], gravity[2],
                                 precision == DYN_PRECISION_SINGLE ? " that single precision can hold" : "");
    }
    return DYN_OK;
}

dyn_status dyn_check_state(const dyn_model *model, const dyn_workspace *workspace, size_t n, const double *gravity,
                           const double *q, const double *v, dyn_error *error) {
    dyn_status status = dyn_check_workspace(model, workspace, error);
    if (status == DYN_OK) {
        status = dyn_check_gravity(workspace->precision, gravity, error);
    }
    if (status == DYN_OK) {
        status = dyn_check_q(workspace, n, q, error);
    }
    return status == DYN_OK ? dyn_check_v(workspace, "v", n, v, error) : status;
}

dyn_status dyn_check_mass(const dyn_model *model, dyn_error *error) {
    if (!(dyn_model_mass(model) > 0)) {
        return dyn_error_because(error, DYN_FAILED_PRECONDITION, DYN_CAUSE_NO_MASS, "model",
                                 "the links have no mass, and so no centre of mass; set the mass of one link or more");
    }
    return DYN_OK;
}

dyn_status dyn_check_frame(const dyn_model *model, int frame, dyn_error *error) {
    if (frame != DYN_WORLD_FRAME && (frame < 0 || frame >= model->link_count)) {
        return dyn_error_because(error, DYN_NOT_FOUND, DYN_CAUSE_FRAME, "frame",
                                 "there is no frame %d; the model has %d", frame, model->link_count);
    }
    return DYN_OK;
}

static dyn_status check_force(const dyn_workspace *w, size_t n, const dyn_external_force *f, size_t j,
                              dyn_error *error) {
    dyn_status status = dyn_check_frame(w->model, f->frame, error);
    if (status != DYN_OK) {
        return status;
    }
    for (size_t s = 0; s < (f->stride ? n : 1); s++) {
        size_t i = first_out_of_range(w->precision, f->wrench + s * f->stride, 6);
        if (i < 6) {
            double x = f->wrench[s * f->stride + i];
            const dyn_error_site site = {.cause = isfinite(x) ? DYN_CAUSE_PRECISION : DYN_CAUSE_NOT_FINITE,
                                         .argument = "external_forces",
                                         .has_item = true,
                                         .item = j,
                                         .part = i < 3 ? "torque" : "force",
                                         .has_index = true,
                                         .index = s * 3 + i % 3,
                                         .width = f->stride ? 3 : 0,
                                         .has_sample = f->stride != 0,
                                         .sample = s};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "the value is %g; %s", x, advice(x));
        }
    }
    return DYN_OK;
}

dyn_status dyn_check_forces(const dyn_workspace *workspace, size_t n, const dyn_external_forces *forces,
                            dyn_error *error) {
    size_t count = forces ? forces->count : 0;
    if (count > workspace->wrench_capacity) {
        return dyn_error_because(error, DYN_RESOURCE_EXHAUSTED, DYN_CAUSE_TOO_MANY, "external_forces",
                                 "%zu external forces; this model takes up to %zu in one call", count,
                                 workspace->wrench_capacity);
    }
    dyn_status status = DYN_OK;
    for (size_t j = 0; status == DYN_OK && j < count; j++) {
        status = check_force(workspace, n, &forces->force[j], j, error);
    }
    return status;
}

dyn_status dyn_check_inputs(const dyn_model *model, const dyn_workspace *workspace, size_t n, const dynamics_inputs *in,
                            dyn_error *error) {
    dyn_status status = dyn_check_state(model, workspace, n, in->gravity, in->q, in->v, error);
    if (status == DYN_OK) {
        status = dyn_check_v(workspace, in->name, n, in->third, error);
    }
    return status == DYN_OK ? dyn_check_forces(workspace, n, in->forces, error) : status;
}

static dyn_status refuse_result(dyn_precision precision, const char *name, size_t sample, dyn_error *error) {
    bool is_single = precision == DYN_PRECISION_SINGLE;
    const dyn_error_site site = {.cause = DYN_CAUSE_OVERFLOW, .argument = name, .has_sample = true, .sample = sample};
    return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                        "%s is beyond the range of %s precision; the inputs are too large%s", name,
                        dyn_precision_name(precision), is_single ? ", request double precision" : "");
}

dyn_status dyn_refuse_result(const dyn_workspace *workspace, const char *name, size_t sample, dyn_error *error) {
    return refuse_result(workspace->precision, name, sample, error);
}

/* Checks n x width results, already doubles, for numbers that are not finite. The error names the precision in which
 * they were computed. */
static dyn_status check_result(const dyn_workspace *workspace, dyn_precision precision, const char *name, size_t n,
                               size_t width, const double *result, dyn_error *error) {
    if (workspace->kernels->wide->all_finite(result, n * width)) {
        return DYN_OK;
    }
    return refuse_result(precision, name, first_out_of_range(DYN_PRECISION_DOUBLE, result, n * width) / width, error);
}

dyn_status dyn_check_result(const dyn_workspace *workspace, const char *name, size_t n, size_t width,
                            const double *result, dyn_error *error) {
    return check_result(workspace, workspace->precision, name, n, width, result, error);
}

dyn_status dyn_check_double_result(const dyn_workspace *workspace, const char *name, size_t n, size_t width,
                                   const double *result, dyn_error *error) {
    return check_result(workspace, DYN_PRECISION_DOUBLE, name, n, width, result, error);
}

/* Returns whether all pivots of a block are positive; lanes without a sample repeat the last one. */
static bool pivots_are_positive(const dyn_workspace *w, sample_block block) {
    return block.kernels->all_positive(w->pivots, (size_t)w->model->nv);
}

/* Sets the error for a sample whose pivot at a joint is not positive, or belongs to a joint that no inertia resists. */
static dyn_status refuse_pivot(const dyn_workspace *w, const dyn_joint *joint, size_t sample, double pivot,
                               dyn_error *error) {
    const dyn_error_site site = {.cause = DYN_CAUSE_SINGULAR_MASS_MATRIX,
                                 .argument = "model",
                                 .has_sample = true,
                                 .sample = sample,
                                 .has_joint = true,
                                 .joint = (int)(joint - w->model->joints)};
    if (pivot < 0) {
        return dyn_error_at(error, DYN_FAILED_PRECONDITION, &site,
                            "joint %s: the mass matrix is indefinite, the inertia that resists the joint is negative; "
                            "correct the inertias of the links that it moves",
                            joint->name);
    }
    return dyn_error_at(
        error, DYN_FAILED_PRECONDITION, &site,
        "joint %s: the mass matrix is singular, no inertia resists the joint; set a mass and an inertia "
        "for the links that it moves%s",
        joint->name, w->precision == DYN_PRECISION_SINGLE ? ", or request double precision" : "");
}

dyn_status dyn_check_pivots(const dyn_model *model, const dyn_workspace *w, sample_block block, dyn_error *error) {
    if (model->unresisted >= 0) {
        return refuse_pivot(w, &model->joints[model->unresisted], block.first, 0, error);
    }
    if (pivots_are_positive(w, block)) {
        return DYN_OK;
    }
    /* A pivot of zero corrupts those above it in the tree: the last one is the cause. */
    for (int j = model->joint_count - 1; j >= 0; j--) {
        const dyn_joint *joint = &model->joints[j];
        for (size_t k = (size_t)joint->nv; k-- > 0;) {
            for (size_t l = 0; l < block.count; l++) {
                double pivot = dyn_packed_number(w->pivots, (size_t)joint->v_index + k, block, l);
                if (!(pivot > 0)) {
                    return refuse_pivot(w, joint, block.first + l, pivot, error);
                }
            }
        }
    }
    return DYN_OK;
}
