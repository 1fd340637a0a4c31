/* SPDX-License-Identifier: BSD-2-Clause */
#include "sought.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/regressor.h>

#include "../model/error.h"
#include "consistent.h"
#include "elimination.h"

/* Share of the longest column of B below which what is left of a column is rounding. */
static const double NOISE = 1e-9;

/* ---- Bodies ------------------------------------------------------------------------------------------------------ */

/* Finds the joint that a link moves with. */
static dyn_status find_body(const dyn_model *model, const dyn_error_site *site, int link, int *body, dyn_error *error) {
    if (link < 0 || link >= dyn_model_link_count(model)) {
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, site, "there is no link %d; the model has %d", link,
                            dyn_model_link_count(model));
    }
    *body = dyn_model_link(model, link)->moving_joint;
    if (*body < 0) {
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, site,
                            "link %s is fixed to the world, so that no motion depends on its inertia; name a link that "
                            "moves",
                            dyn_model_link(model, link)->name);
    }
    return DYN_OK;
}

/* Lists the bodies of the links. */
static dyn_status list_bodies(const dyn_model *model, const dyn_identification_options *o, sought *s,
                              dyn_error *error) {
    for (size_t i = 0; i < o->link_count; i++) {
        const dyn_error_site site = {.argument = "links", .has_index = true, .index = i};
        dyn_status status = find_body(model, &site, o->links[i], &s->bodies[i], error);
        if (status != DYN_OK) {
            return status;
        }
        for (size_t k = 0; k < i; k++) {
            if (s->bodies[k] == s->bodies[i]) {
                return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                    "link %s moves with link %s, which the list has too; name one of them",
                                    dyn_model_link(model, o->links[i])->name, dyn_model_link(model, o->links[k])->name);
            }
        }
    }
    return DYN_OK;
}

/* Chooses the bodies. */
static dyn_status choose(const dyn_model *model, const dyn_identification_options *o, sought *s, dyn_error *error) {
    bool has_payload = o->payload_link >= 0;
    int joints = dyn_model_joint_count(model);
    if ((o->drives_only && (o->links || has_payload)) || (o->links && has_payload)) {
        const char *place = has_payload ? "payload_link" : "links";
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, place,
                             "%s is set together with another choice of the parameters; pass only one of links, "
                             "payload_link and drives_only",
                             place);
    }
    s->payload = has_payload ? o->payload_link : -1;
    s->is_whole = !o->drives_only && !o->links && !has_payload;
    s->count = o->drives_only ? 0 : o->links ? o->link_count : has_payload ? 1 : (size_t)joints;
    s->bodies = calloc(s->count + 1, sizeof *s->bodies);
    if (!s->bodies) {
        return dyn_error_memory(error);
    }
    for (int j = 0; j < joints && s->is_whole; j++) {
        s->bodies[j] = j;
    }
    if (has_payload) {
        const dyn_error_site site = {.argument = "payload_link"};
        return find_body(model, &site, o->payload_link, s->bodies, error);
    }
    return o->links ? list_bodies(model, o, s, error) : DYN_OK;
}

/* ---- Base parameters --------------------------------------------------------------------------------------------- */

/* Stores the parameters, in the frame of a joint, of a body with the parameters p in a frame with this pose in it. */
static void move_parameters(const dyn_pose *pose, const double p[LINK], double moved[LINK]) {
    double H[16] = {0}, P[16], HP[16] = {0}, result[16] = {0};
    for (int i = 0; i < 3; i++) {
        memcpy(H + 4 * i, pose->rotation + 3 * i, 3 * sizeof *H);
        H[4 * i + 3] = pose->position[i];
    }
    H[15] = 1;
    parameters_to_pseudo(p, P);
    for (int e = 0; e < 64; e++) {
        HP[4 * (e / 16) + e % 4] += H[4 * (e / 16) + e / 4 % 4] * P[4 * (e / 4 % 4) + e % 4];
    }
    for (int e = 0; e < 64; e++) {
        result[4 * (e / 16) + e % 4] += HP[4 * (e / 16) + e / 4 % 4] * H[4 * (e % 4) + e / 4 % 4];
    }
    pseudo_to_parameters(result, moved);
}

/* Computes the parameters of the payload's joint from those in the frame of its link. */
static dyn_status find_carry(const dyn_model *model, sought *s, dyn_error *error) {
    s->carry = calloc(LINK * LINK, sizeof *s->carry);
    if (!s->carry) {
        return dyn_error_memory(error);
    }
    for (int c = 0; c < LINK; c++) {
        double unit[LINK] = {0}, moved[LINK];
        unit[c] = 1;
        move_parameters(&dyn_model_link(model, s->payload)->pose, unit, moved);
        for (int r = 0; r < LINK; r++) {
            s->carry[LINK * r + c] = moved[r];
        }
    }
    return DYN_OK;
}

/* Stores the columns of the whole matrix for the parameters sought, sources x LINK count. */
static void select_columns(const sought *s, const double *whole, double *A) {
    size_t columns = LINK * s->count;
    for (size_t r = 0; r < s->sources; r++) {
        for (size_t c = 0; c < columns; c++) {
            const double *row = whole + r * s->width + LINK * (size_t)s->bodies[c / LINK];
            if (!s->carry) {
                A[r * columns + c] = row[c % LINK];
                continue;
            }
            for (size_t k = 0; k < LINK; k++) {
                A[r * columns + c] += row[k] * s->carry[LINK * k + c];
            }
        }
    }
}

/* Reduces the columns of A to independent ones, and stores these and B. `sizes` and `order` have LINK count entries. */
static dyn_status reduce_columns(sought *s, double *A, double *sizes, size_t *order, dyn_error *error) {
    size_t columns = LINK * s->count;
    for (size_t c = 0; c < columns; c++) {
        for (size_t r = 0; r < s->sources; r++) {
            sizes[c] = fmax(sizes[c], fabs(A[r * columns + c]));
        }
        for (size_t r = 0; r < s->sources && sizes[c] > 0; r++) {
            A[r * columns + c] /= sizes[c];
        }
    }
    s->base_count = eliminate(s->sources, columns, NOISE, A, order);
    s->columns = calloc(s->base_count + 1, sizeof *s->columns);
    s->B = calloc(s->base_count * columns + 1, sizeof *s->B);
    if (!s->columns || !s->B) {
        return dyn_error_memory(error);
    }
    for (size_t i = 0; i < s->base_count; i++) {
        size_t body = order[i] / LINK, parameter = order[i] % LINK;
        s->columns[i] = (int)(s->carry ? parameter : LINK * (size_t)s->bodies[body] + parameter);
        s->B[i * columns + order[i]] = 1;
        for (size_t k = s->base_count; k < columns; k++) {
            double factor = sizes[order[k]] > 0 ? sizes[order[k]] / sizes[order[i]] : 0;
            s->B[i * columns + order[k]] = A[i * columns + order[k]] * factor;
        }
    }
    return DYN_OK;
}

/* Finds the independent columns of Y among those of the parameters sought. */
static dyn_status find_columns(sought *s, dyn_error *error) {
    size_t columns = LINK * s->count;
    double *whole = calloc(s->sources * s->width + 1, sizeof *whole), *sizes = calloc(columns + 1, sizeof *sizes);
    double *A = calloc(s->sources * columns + 1, sizeof *A);
    size_t *order = calloc(columns + 1, sizeof *order);
    dyn_status status = whole && sizes && A && order ? DYN_OK : dyn_error_memory(error);
    if (status == DYN_OK) {
        status = dyn_base_parameters_matrix(s->grouping, whole, error);
    }
    if (status == DYN_OK) {
        select_columns(s, whole, A);
        status = reduce_columns(s, A, sizes, order, error);
    }
    free(whole), free(sizes), free(A), free(order);
    return status;
}

/* Copies the columns and the matrix of the model's grouping. */
static dyn_status take_grouping(sought *s, dyn_error *error) {
    s->base_count = s->sources;
    s->columns = calloc(s->sources + 1, sizeof *s->columns);
    s->B = calloc(s->sources * s->width + 1, sizeof *s->B);
    if (!s->columns || !s->B) {
        return dyn_error_memory(error);
    }
    memcpy(s->columns, dyn_base_parameters_columns(s->grouping), s->sources * sizeof *s->columns);
    return dyn_base_parameters_matrix(s->grouping, s->B, error);
}

/* Stores the model's own values of the parameters sought, and the base parameters of the others. */
static dyn_status split_parameters(const dyn_model *model, sought *s, dyn_error *error) {
    s->p = calloc(s->width + 1, sizeof *s->p);
    s->prior = calloc(LINK * s->count + 1, sizeof *s->prior), s->b = calloc(s->base_count + 1, sizeof *s->b);
    s->held = s->is_whole ? NULL : calloc(s->sources + 1, sizeof *s->held);
    double *others = calloc(s->width + 1, sizeof *others);
    if (!s->p || !s->prior || !s->b || !others || (!s->is_whole && !s->held)) {
        free(others);
        return dyn_error_memory(error);
    }
    dyn_model_parameters(model, s->p);
    memcpy(others, s->p, s->width * sizeof *others);
    for (size_t k = 0; k < s->count && !s->carry; k++) {
        double *own = others + LINK * (size_t)s->bodies[k];
        memcpy(s->prior + LINK * k, own, LINK * sizeof *own);
        memset(own, 0, LINK * sizeof *own);
    }
    dyn_status status = s->held ? dyn_base_parameters_reduce(s->grouping, others, s->held, error) : DYN_OK;
    free(others);
    return status == DYN_OK ? sought_reduce(s, s->prior, s->b, error) : status;
}

/* ---- Interface --------------------------------------------------------------------------------------------------- */

dyn_status sought_create(const dyn_model *model, const dyn_identification_options *o, sought *s, dyn_error *error) {
    *s = (sought){.width = (size_t)dyn_model_parameter_count(model)};
    dyn_status status = choose(model, o, s, error);
    if (status == DYN_OK) {
        status = dyn_base_parameters_create(model, o->gravity, &s->grouping, error);
    }
    if (status == DYN_OK) {
        s->sources = (size_t)dyn_base_parameters_count(s->grouping);
        status = s->payload >= 0 ? find_carry(model, s, error) : DYN_OK;
    }
    if (status == DYN_OK) {
        status = s->is_whole ? take_grouping(s, error) : find_columns(s, error);
    }
    return status == DYN_OK ? split_parameters(model, s, error) : status;
}

void sought_free(sought *s) {
    dyn_base_parameters_free(s->grouping);
    free(s->bodies), free(s->columns), free(s->B), free(s->p), free(s->prior), free(s->b), free(s->held);
    free(s->carry);
}

dyn_status sought_reduce(const sought *s, const double *x, double *b, dyn_error *error) {
    size_t columns = LINK * s->count;
    if (s->is_whole) {
        return dyn_base_parameters_reduce(s->grouping, x, b, error);
    }
    for (size_t i = 0; i < s->base_count; i++) {
        b[i] = 0;
        for (size_t c = 0; c < columns; c++) {
            b[i] += s->B[i * columns + c] * x[c];
        }
    }
    return DYN_OK;
}

double sought_row(const sought *s, const double *Y, double *row) {
    const int *sources = dyn_base_parameters_columns(s->grouping);
    double known = 0;
    for (size_t c = 0; c < s->base_count; c++) {
        row[c] = s->carry ? 0 : Y[s->columns[c]];
        for (size_t k = 0; k < LINK && s->carry; k++) {
            row[c] += Y[LINK * (size_t)s->bodies[0] + k] * s->carry[LINK * k + (size_t)s->columns[c]];
        }
    }
    for (size_t c = 0; c < s->sources && s->held; c++) {
        known += Y[sources[c]] * s->held[c];
    }
    return known;
}

void sought_expand(const sought *s, const double *x, double *parameters) {
    memcpy(parameters, s->p, s->width * sizeof *parameters);
    for (size_t k = 0; k < s->count; k++) {
        double *body = parameters + LINK * (size_t)s->bodies[k];
        for (size_t r = 0; r < LINK && s->carry; r++) {
            for (size_t c = 0; c < LINK; c++) {
                body[r] += s->carry[LINK * r + c] * x[c];
            }
        }
        if (!s->carry) {
            memcpy(body, x + LINK * k, LINK * sizeof *body);
        }
    }
}
