/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/flexible_chain.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../model/error.h"
#include "../model/placement.h"
#include "../model/scaled_joint.h"
#include "array_check.h"
#include "base_motion.h"
#include "book_flexible.h"
#include "formulation.h"

struct dyn_flexible_chain {
    const dyn_model *model; /* `joined` where there is one */
    dyn_model *joined;      /* in which scaled joints have one body; NULL: the model has no scaled joints */
    int size;               /* coordinates of joints and modes */
    flexible_bodies bodies; /* body_count of them */
    flexible_body *body;
    flexible_mode *modes; /* of all bodies, and their products and stiffness */
    double *products, *stiffness;
    double *M; /* size x size */
    void *memory;
    bool base_moves;
    double base[12]; /* twist and acceleration, as in dyn_base_motion */
};

/* ---- Modes in the axes of the bodies ----------------------------------------------------------------------------- */

/* Stores [A u; 0 0]. */
static void set_matrix(const double A[9], const double u[3], double matrix[16]) {
    memset(matrix, 0, 16 * sizeof *matrix);
    for (int i = 0; i < 3; i++) {
        memcpy(matrix + 4 * i, A + 3 * i, 3 * sizeof *A);
        matrix[4 * i + 3] = u[i];
    }
}

/* Computes R A R'. */
static void turn_matrix(const double R[9], const double A[9], double turned[9]) {
    double back[9], half[9];
    rotation_transpose(R, back);
    rotation_multiply(A, back, half);
    rotation_multiply(R, half, turned);
}

/* Converts a mode of a link to the axes and origin of its body, whose next joint is at p. */
static void convert_mode(const dyn_flexible_mode *from, const dyn_pose *pose, const double p[3], flexible_mode *to) {
    double phi[3], theta[3], moment[3], moments[9];
    rotation_apply(pose->rotation, from->end, phi);
    rotation_apply(pose->rotation, from->rotation, theta);
    rotation_apply(pose->rotation, from->first_moment, moment);
    turn_matrix(pose->rotation, from->moments, moments);
    for (int i = 0; i < 9; i++) {
        moments[i] += moment[i / 3] * pose->position[i % 3];
    }
    set_matrix(moments, moment, to->C);
    const double turn[9] = {0, -theta[2], theta[1], theta[2], 0, -theta[0], -theta[1], theta[0], 0};
    for (int i = 0; i < 3; i++) {
        phi[i] -= turn[3 * i] * p[0] + turn[3 * i + 1] * p[1] + turn[3 * i + 2] * p[2];
    }
    set_matrix(turn, phi, to->N);
}

/* Converts the modes of a link, whose coordinates follow those of the `done` modes before. */
static void convert_link(dyn_flexible_chain *chain, const dyn_flexible_link *from, int done, size_t products_done) {
    static const double zero[3];
    const body_frame *frame = &chain->model->frames[from->link];
    const double *p =
        frame->body + 1 < chain->model->body_count ? chain->model->bodies[frame->body + 1].position : zero;
    size_t squares = (size_t)from->mode_count * (size_t)from->mode_count;
    flexible_mode *modes = chain->modes + done;
    double *products = chain->products + 16 * products_done, *stiffness = chain->stiffness + products_done;
    for (int k = 0; k < from->mode_count; k++) {
        convert_mode(&from->modes[k], &frame->pose, p, &modes[k]);
    }
    for (size_t k = 0; k < squares; k++) {
        double turned[9];
        turn_matrix(frame->pose.rotation, from->products + 9 * k, turned);
        set_matrix(turned, zero, products + 16 * k);
    }
    memcpy(stiffness, from->stiffness, squares * sizeof *stiffness);
    chain->body[mechanism_link_of(chain->model, frame->body)] =
        (flexible_body){from->mode_count, done, modes, products, stiffness};
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* Sets an error about a member of link i. */
static dyn_status refuse_link(size_t i, const char *part, const char *reason, dyn_error *error) {
    const dyn_error_site site = {.argument = "links", .has_item = true, .item = i, .part = part};
    return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "%s", reason);
}

/* Returns whether count x count blocks are those of a symmetric matrix: block (f, g) is the transpose of (g, f). */
static bool is_symmetric(const double *blocks, size_t count, size_t rows) {
    for (size_t k = 0; k < count * count * rows * rows; k++) {
        size_t block = k / (rows * rows), entry = k % (rows * rows);
        size_t other = block % count * count + block / count;
        double x = blocks[k], y = blocks[other * rows * rows + entry % rows * rows + entry / rows];
        if (!(fabs(x - y) <= 1e-9 * (fabs(x) + fabs(y)))) {
            return false;
        }
    }
    return true;
}

static dyn_status check_matrices(size_t i, const dyn_flexible_link *link, dyn_error *error) {
    size_t count = (size_t)link->mode_count;
    if (!link->modes || !link->products || !link->stiffness) {
        return refuse_link(i, "modes", "an array is NULL; pass the modes, their products and their stiffness", error);
    }
    for (size_t k = 0; k < count; k++) {
        const dyn_flexible_mode *mode = &link->modes[k];
        if (!dyn_are_finite(mode->end, 3) || !dyn_are_finite(mode->rotation, 3) ||
            !dyn_are_finite(mode->first_moment, 3) || !dyn_are_finite(mode->moments, 9)) {
            return refuse_link(i, "modes", "a mode has a number that is not finite; pass finite numbers", error);
        }
    }
    if (!is_symmetric(link->products, count, 3)) {
        return refuse_link(
            i, "products",
            "the integrals of phi_f phi_g' and of phi_g phi_f' are not finite, or not transposes of each "
            "other; pass both from the same modes",
            error);
    }
    if (!is_symmetric(link->stiffness, count, 1)) {
        return refuse_link(i, "stiffness", "the matrix is not finite, or not symmetric; pass (K + K') / 2", error);
    }
    return DYN_OK;
}

/* Checks link i and adds its modes to *modes, and the number of their products to *products. */
static dyn_status check_link(const dyn_model *model, size_t i, const dyn_flexible_link *links, int *modes,
                             size_t *products, dyn_error *error) {
    const dyn_flexible_link *link = &links[i];
    if (link->link < 0 || link->link >= model->link_count || model->frames[link->link].body < 0) {
        return refuse_link(i, "link", "no link that moves has this number; see dyn_model_find_frame", error);
    }
    for (size_t k = 0; k < i; k++) {
        if (model->frames[links[k].link].body == model->frames[link->link].body) {
            return refuse_link(i, "link", "it moves with a link that is listed before; list all modes in one", error);
        }
    }
    if (link->mode_count < 1 || link->mode_count > DYN_FLEXIBLE_CHAIN_COORDINATES - model->nv - *modes) {
        return refuse_link(i, "mode_count",
                           "a link has at least one mode, and a chain at most 1000 joints and modes; pass fewer modes",
                           error);
    }
    *modes += link->mode_count;
    *products += (size_t)link->mode_count * (size_t)link->mode_count;
    return check_matrices(i, link, error);
}

static size_t memory_of_call(const dyn_flexible_chain *chain) {
    scratch s = scratch_measure();
    mechanism m = KERNEL(mechanism_at)(chain->model, chain->model->gravity, NULL, &s);
    KERNEL(book_reserve)(&m, &chain->bodies, &s);
    return s.used + 16;
}

static bool allocate(dyn_flexible_chain *chain, size_t products) {
    size_t size = (size_t)chain->size, bodies = (size_t)chain->model->body_count;
    chain->body = calloc(bodies + 1, sizeof *chain->body);
    chain->modes = calloc((size_t)chain->bodies.mode_count + 1, sizeof *chain->modes);
    chain->products = calloc(16 * products + 1, sizeof *chain->products);
    chain->stiffness = calloc(products + 1, sizeof *chain->stiffness);
    chain->M = calloc(size * size + 1, sizeof *chain->M);
    chain->memory = calloc(1, memory_of_call(chain));
    chain->bodies.bodies = chain->body;
    return chain->body && chain->modes && chain->products && chain->stiffness && chain->M && chain->memory;
}

/* Fills a chain, which the caller frees also after an error. */
static dyn_status fill(dyn_flexible_chain *c, const dyn_model *model, size_t link_count, const dyn_flexible_link *links,
                       dyn_error *error) {
    int modes = 0, done = 0;
    size_t products = 0, products_done = 0;
    dyn_status status = join_scaled_joints(model, &c->joined, error);
    c->model = c->joined ? c->joined : model;
    if (status == DYN_OK) {
        status = dyn_check_formulation(&KERNEL(book_flexible).traits, c->model, error);
    }
    for (size_t i = 0; status == DYN_OK && i < link_count; i++) {
        status = check_link(c->model, i, links, &modes, &products, error);
    }
    c->size = model->nv + modes, c->bodies.mode_count = modes;
    if (status == DYN_OK && !allocate(c, products)) {
        status = dyn_error_memory(error);
    }
    for (size_t i = 0; status == DYN_OK && i < link_count; i++) {
        convert_link(c, &links[i], done, products_done);
        done += links[i].mode_count;
        products_done += (size_t)links[i].mode_count * (size_t)links[i].mode_count;
    }
    return status;
}

dyn_status dyn_flexible_chain_create(const dyn_model *model, size_t link_count, const dyn_flexible_link *links,
                                     dyn_flexible_chain **chain, dyn_error *error) {
    dyn_flexible_chain *c = calloc(1, sizeof *c);
    dyn_status status = c ? fill(c, model, link_count, links, error) : dyn_error_memory(error);
    if (status != DYN_OK) {
        dyn_flexible_chain_free(c);
        return status;
    }
    *chain = c;
    return DYN_OK;
}

void dyn_flexible_chain_free(dyn_flexible_chain *chain) {
    if (chain) {
        free(chain->body), free(chain->modes), free(chain->products), free(chain->stiffness);
        free(chain->M), free(chain->memory), free(chain->joined);
        free(chain);
    }
}

int dyn_flexible_chain_size(const dyn_flexible_chain *chain) {
    return chain->size;
}

void dyn_flexible_chain_move_base(dyn_flexible_chain *chain, const dyn_base_motion *base) {
    chain->base_moves = base && base->twist;
    if (chain->base_moves) {
        memcpy(chain->base, base->twist, 6 * sizeof *base->twist);
        memcpy(chain->base + 6, base->acceleration, 6 * sizeof *base->acceleration);
    }
}

/* ---- Dynamics ---------------------------------------------------------------------------------------------------- */

/* Opens a call: the mechanism at x in the memory of the chain, whose rest `s` provides. */
static mechanism open_call(const dyn_flexible_chain *chain, const double *gravity, const double *x, scratch *s) {
    *s = scratch_measure();
    s->block = chain->memory;
    mechanism m = KERNEL(mechanism_at)(chain->model, gravity ? gravity : chain->model->gravity, x, s);
    if (chain->base_moves) {
        KERNEL(set_base_motion)(chain->base, chain->base + 6, &m);
    }
    return m;
}

/* Checks gravity, x, v and the third array of a call. `name` is NULL where the call has x only. */
static dyn_status check_call(const dyn_flexible_chain *chain, const double *gravity, const double *x, const double *v,
                             const char *name, const double *third, dyn_error *error) {
    size_t size = (size_t)chain->size;
    dyn_status status = gravity ? dyn_check_array("gravity", gravity, 3, error) : DYN_OK;
    if (status == DYN_OK && chain->base_moves && !dyn_are_finite(chain->base, 12)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "base_motion",
                             "a number of the motion of the base is not finite; pass finite numbers");
    }
    status = status == DYN_OK ? dyn_check_array("x", x, size, error) : status;
    status = status == DYN_OK && name ? dyn_check_array("v", v, size, error) : status;
    return status == DYN_OK && name ? dyn_check_array(name, third, size, error) : status;
}

static dyn_status check_result(const char *name, const double *x, size_t count, dyn_error *error) {
    if (dyn_are_finite(x, count)) {
        return DYN_OK;
    }
    return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_OVERFLOW, name,
                             "%s is beyond the range of double precision; the inputs are too large", name);
}

dyn_status dyn_flexible_inverse_dynamics(dyn_flexible_chain *chain, const double *gravity, const double *x,
                                         const double *v, const double *a, double *forces, dyn_error *error) {
    dyn_status status = check_call(chain, gravity, x, v, "a", a, error);
    if (status != DYN_OK) {
        return status;
    }
    scratch s;
    mechanism m = open_call(chain, gravity, x, &s);
    KERNEL(book_forces)(&m, &chain->bodies, &s, (flexible_motion){x, v, a}, forces);
    return check_result("forces", forces, (size_t)chain->size, error);
}

dyn_status dyn_flexible_forward_dynamics(dyn_flexible_chain *chain, const double *gravity, const double *x,
                                         const double *v, const double *forces, double *a, dyn_error *error) {
    dyn_status status = check_call(chain, gravity, x, v, "forces", forces, error);
    if (status != DYN_OK) {
        return status;
    }
    scratch s;
    mechanism m = open_call(chain, gravity, x, &s);
    KERNEL(book_accelerations)(&m, &chain->bodies, &s, (flexible_motion){x, v, NULL}, forces, chain->M, a);
    for (int i = 0; i < chain->size; i++) {
        double pivot = chain->M[i * chain->size + i];
        if (!(pivot > 0)) {
            return dyn_error_because(error, DYN_FAILED_PRECONDITION, DYN_CAUSE_SINGULAR_MASS_MATRIX, "chain",
                                     "the inertia matrix is not positive definite: pivot %d is %g; the coordinates of "
                                     "the modes are too large, modes depend on each other, or masses are missing",
                                     i, pivot);
        }
    }
    return check_result("a", a, (size_t)chain->size, error);
}

dyn_status dyn_flexible_inertia_matrix(dyn_flexible_chain *chain, const double *x, double *M, dyn_error *error) {
    dyn_status status = check_call(chain, NULL, x, NULL, NULL, NULL, error);
    if (status != DYN_OK) {
        return status;
    }
    scratch s;
    mechanism m = open_call(chain, NULL, x, &s);
    KERNEL(book_inertia_matrix)(&m, &chain->bodies, &s, x, M);
    return check_result("M", M, (size_t)chain->size * (size_t)chain->size, error);
}
