/* SPDX-License-Identifier: BSD-2-Clause */
#include "precision.h"

#include <float.h>
#include <math.h>

#include "../model/error.h"
#include "../model/normal_form.h"

/* A double beyond FLT_MAX rounds to FLT_MAX if it exceeds it by less than half a unit in the last place. This is the
 * last such double; the next one, a tie, rounds to infinity. */
double dyn_largest_number(dyn_precision precision) {
    return precision == DYN_PRECISION_SINGLE ? 0x1.fffffefffffffp127 : DBL_MAX;
}

const char *dyn_precision_name(dyn_precision precision) {
    return precision == DYN_PRECISION_SINGLE ? "single" : "double";
}

/* Constants of one owner that share a name in errors. */
typedef struct constants {
    const char *name;
    const double *x;
    int count;
    bool is_positive; /* zero is allowed too */
} constants;

static dyn_status check_range(const char *owner, const constants *c, dyn_error *error) {
    for (int i = 0; i < c->count; i++) {
        double size = fabs(c->x[i]);
        if (size > dyn_largest_number(DYN_PRECISION_SINGLE) || (c->is_positive && size > 0 && size < (double)FLT_MIN)) {
            return dyn_error_because(
                error, DYN_FAILED_PRECONDITION, DYN_CAUSE_PRECISION, "model",
                "%s: %s is %g, which single precision cannot hold (%g to %g); use double precision", owner, c->name,
                c->x[i], (double)FLT_MIN, (double)FLT_MAX);
        }
    }
    return DYN_OK;
}

static dyn_status check_ranges(const char *owner, const constants *all, size_t count, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (size_t i = 0; status == DYN_OK && i < count; i++) {
        status = check_range(owner, &all[i], error);
    }
    return status;
}

static dyn_status check_body(const char *joint, const body *b, dyn_error *error) {
    const double moments[3] = {b->inertia[0], b->inertia[3], b->inertia[5]};
    const constants all[] = {{"the mass that it moves", &b->mass, 1, true},
                             {"a moment of inertia that it moves", moments, 3, true},
                             {"a product of inertia that it moves", b->inertia, 6, false},
                             {"the first moment of the mass that it moves", b->first_moment, 3, false},
                             {"its position in its parent", b->position, 3, false},
                             {"its pitch", &b->pitch, 1, false},
                             {"its mimic multiplier", &b->ratio, 1, false},
                             {"its mimic offset", &b->offset, 1, false}};
    return check_ranges(joint, all, sizeof all / sizeof all[0], error);
}

/* Checks the grouped masses that inverse dynamics uses: those of a subtree can exceed each single mass. */
static dyn_status check_grouped(const char *joint, const mass_grouping *g, dyn_error *error) {
    const constants all[] = {{"the mass that is grouped with it", &g->mass, 1, false},
                             {"the first moment of the mass that is grouped with it", g->first_moment, 3, false},
                             {"a second moment of the mass that is grouped with it", g->moments, 6, false}};
    return check_ranges(joint, all, sizeof all / sizeof all[0], error);
}

/* Checks the numbers of the functions of custom joints. */
static dyn_status check_stages(const dyn_model *model, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (int k = 0; k < model->stage_count && status == DYN_OK; k++) {
        const stage *s = &model->stages[k];
        for (int i = 0; i < s->piece_count && status == DYN_OK; i++) {
            const function_piece *piece = &s->pieces[i];
            const constants all[] = {{"a knot of its functions", &piece->from, 1, false},
                                     {"a coefficient of its functions", piece->terms, DYN_MAX_FUNCTION_TERMS, false}};
            status =
                check_ranges(model->joints[model->bodies[s->body].joint].name, all, sizeof all / sizeof all[0], error);
        }
    }
    return status;
}

dyn_status dyn_check_constants(dyn_precision precision, const dyn_model *model, dyn_error *error) {
    const constants gravity = {"gravity", model->gravity, 3, false};
    if (precision != DYN_PRECISION_SINGLE) {
        return DYN_OK;
    }
    dyn_status status = check_range(model->name, &gravity, error);
    for (int i = 0; status == DYN_OK && i < model->body_count; i++) {
        status = check_body(model->joints[model->bodies[i].joint].name, &model->bodies[i], error);
    }
    for (int i = 0; status == DYN_OK && i < model->body_count; i++) {
        const char *joint = model->joints[model->bodies[i].joint].name;
        status = check_grouped(joint, &model->bodies[i].grouped, error);
        status = status == DYN_OK ? check_grouped(joint, &model->bodies[i].carried, error) : status;
    }
    if (status == DYN_OK) {
        status = check_stages(model, error);
    }
    for (int i = 0; status == DYN_OK && i < model->link_count; i++) {
        const constants position = {"its position on its body", model->frames[i].pose.position, 3, false};
        status = check_range(model->links[i].name, &position, error);
    }
    return dyn_error_of_argument(error, status, "model");
}
