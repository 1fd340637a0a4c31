/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/manipulability.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <dynamics/center_of_mass.h>
#include <dynamics/mass_matrix.h>
#include <dynamics/task.h>

#include "../model/error.h"
#include "../model/normal_form.h"
#include "arguments.h"
#include "principal_axes.h"
#include "workspace.h"

/* Part of the largest squared length below which others count as zero, because of rounding in each precision. */
static const double negligible_part[PRECISIONS] = {1e-14, 5e-6};

/* Symmetric positive semidefinite 6 x 6 matrix, and the share of the largest eigenvalue, or of a diagonal entry, below
 * which a number counts as zero. */
typedef struct gram {
    double G[36];
    double negligible;
} gram;

/* Computes eigenvalues, largest first, and eigenvectors of a symmetric positive semidefinite 3 x 3 matrix. Adding a
 * multiple of 1 to the matrix keeps its axes, and defines them where an eigenvalue is zero. */
static void find_axes(double negligible, double A[9], double eigenvalues[3]) {
    double shift = A[0] + A[4] + A[8];
    if (!(shift > 0)) {
        shift = 1;
    }
    for (int i = 0; i < 3; i++) {
        A[4 * i] += shift;
    }
    dyn_principal_axes(3, A, eigenvalues);
    for (int i = 0; i < 3; i++) {
        eigenvalues[i] -= shift;
        eigenvalues[i] = eigenvalues[i] > negligible * eigenvalues[0] ? eigenvalues[i] : 0;
    }
}

/* Copies a 3 x 3 block on the diagonal of a 6 x 6 matrix: 0 is the angular, 1 the linear one. */
static void copy_block(const double G[36], int which, double A[9]) {
    for (int i = 0; i < 9; i++) {
        A[i] = G[(3 * which + i / 3) * 6 + 3 * which + i % 3];
    }
}

/* G = X X' of one lane of a packed 6 x nv matrix. */
static void find_gram(const void *X, size_t nv, sample_block block, size_t lane, double G[36]) {
    for (size_t i = 0; i < 6; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k < nv; k++) {
                sum += dyn_packed_number(X, i * nv + k, block, lane) * dyn_packed_number(X, j * nv + k, block, lane);
            }
            G[i * 6 + j] = G[j * 6 + i] = sum;
        }
    }
}

/* Computes sqrt(det G) from the pivots of its elimination. Pivots that are rounding of zero count as zero. */
static double find_volume(const gram *g) {
    double G[36], determinant = 1;
    memcpy(G, g->G, sizeof G);
    for (int k = 0; k < 6; k++) {
        double pivot = G[7 * k];
        if (!(pivot > g->negligible * g->G[7 * k])) {
            return 0;
        }
        determinant *= pivot;
        for (int i = k + 1; i < 6; i++) {
            for (int j = k + 1; j < 6; j++) {
                G[6 * i + j] -= G[6 * i + k] * G[6 * k + j] / pivot;
            }
        }
    }
    return sqrt(determinant);
}

/* Checks that a matrix is in the range of a double; else the inputs are too large. */
static dyn_status check_matrix(const double G[36], size_t sample, dyn_error *error) {
    for (int i = 0; i < 36; i++) {
        if (!isfinite(G[i])) {
            const dyn_error_site site = {
                .cause = DYN_CAUSE_OVERFLOW, .argument = "q", .has_sample = true, .sample = sample};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                "the ellipsoids are beyond the range of a double; the inputs are too large");
        }
    }
    return DYN_OK;
}

/* Function that computes the outputs of one sample from its 6 x 6 matrix. Any output may be NULL. */
typedef void (*use_matrix)(const gram *g, size_t sample, double *const outputs[4]);

/* Stores volume and isotropy of both blocks, and the volume of the whole matrix, as dyn_manipulability states them. */
static void measure(const gram *g, size_t sample, double *const outputs[4]) {
    for (int which = 0; which < 2; which++) {
        double A[9], eigenvalues[3], *out = outputs[which];
        copy_block(g->G, which, A);
        find_axes(g->negligible, A, eigenvalues);
        if (out) {
            out[2 * sample] = sqrt(eigenvalues[0] * eigenvalues[1] * eigenvalues[2]);
            out[2 * sample + 1] = eigenvalues[0] > 0 ? sqrt(eigenvalues[2] / eigenvalues[0]) : 0;
        }
    }
    if (outputs[2]) {
        outputs[2][sample] = find_volume(g);
    }
}

/* Stores lengths and axes of the ellipsoids of the angular and of the linear block of G: square roots of the
 * eigenvalues, or, with of_inverse, the reciprocal eigenvalues, the longest axis first in both cases. */
static void make_ellipsoids(const gram *g, size_t sample, bool of_inverse, double *const outputs[4]) {
    for (int which = 0; which < 2; which++) {
        double A[9], eigenvalues[3], *lengths = outputs[2 * which], *axes = outputs[2 * which + 1];
        copy_block(g->G, which, A);
        find_axes(g->negligible, A, eigenvalues);
        for (int i = 0; i < 3; i++) {
            /* The longest axis of the inverse is the shortest of the matrix. */
            int from = of_inverse ? 2 - i : i;
            if (lengths) {
                lengths[3 * sample + (size_t)i] = !of_inverse             ? sqrt(eigenvalues[from])
                                                  : eigenvalues[from] > 0 ? 1 / eigenvalues[from]
                                                                          : INFINITY;
            }
            if (axes) {
                memcpy(axes + 9 * sample + 3 * i, A + 3 * from, 3 * sizeof *A);
            }
        }
    }
}

static void make_velocity_ellipsoids(const gram *g, size_t sample, double *const outputs[4]) {
    make_ellipsoids(g, sample, false, outputs);
}

static void make_mass_ellipsoids(const gram *g, size_t sample, double *const outputs[4]) {
    make_ellipsoids(g, sample, true, outputs);
}

static dyn_status check_arguments(const dyn_model *model, const dyn_workspace *w, size_t n, const double *q, int frame,
                                  dyn_error *error) {
    dyn_status status = dyn_check_state(model, w, n, NULL, q, NULL, error);
    return status == DYN_OK ? dyn_check_frame(model, frame, error) : status;
}

/* Computes the packed Jacobian of a frame for one block; zeros for the world. */
static void compute_jacobian(const dyn_model *model, const dyn_workspace *w, sample_block block, const void *q,
                             int frame, dyn_reference_frame reference_frame, void *J) {
    if (frame == DYN_WORLD_FRAME) {
        memset(J, 0, 6 * (size_t)model->nv * block.real_size);
    } else {
        block.kernels->frame_jacobian(model, w->memory, q, frame, reference_frame, J);
    }
}

/* Calls `use` with X X' of every lane of a packed 6 x nv matrix. */
static dyn_status use_block(const dyn_workspace *w, sample_block block, const void *X, use_matrix use,
                            double *const outputs[4], dyn_error *error) {
    dyn_status status = DYN_OK;
    for (size_t l = 0; l < block.count && status == DYN_OK; l++) {
        gram g = {.negligible = negligible_part[w->precision]};
        find_gram(X, (size_t)w->model->nv, block, l, g.G);
        status = check_matrix(g.G, block.first + l, error);
        use(&g, block.first + l, outputs);
    }
    return status;
}

/* Frame of a Jacobian J, and the function that computes outputs from J J'. */
typedef struct gram_use {
    int frame;
    dyn_reference_frame reference_frame;
    use_matrix use;
    double *const *outputs; /* 4 */
} gram_use;

/* Calls g->use with J J' of every sample. */
static dyn_status use_gram(const dyn_model *model, const dyn_workspace *w, size_t n, const double *q, const gram_use *g,
                           dyn_error *error) {
    dyn_status status = check_arguments(model, w, n, q, g->frame, error);
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        void *J = dyn_block_part(w, 0, block);
        compute_jacobian(model, w, block, dyn_block_pack(w, 0, q, (size_t)model->nq, block), g->frame,
                         g->reference_frame, J);
        status = use_block(w, block, J, g->use, g->outputs, error);
    }
    return status;
}

dyn_status dyn_manipulability(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, int frame,
                              double *linear, double *angular, double *spatial, dyn_error *error) {
    double *const outputs[4] = {angular, linear, spatial, NULL};
    const gram_use g = {frame, DYN_REFERENCE_FRAME_LOCAL, measure, outputs};
    return use_gram(model, workspace, n, q, &g, error);
}

dyn_status dyn_velocity_ellipsoids(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                   int frame, dyn_reference_frame reference_frame, double *linear, double *linear_axes,
                                   double *angular, double *angular_axes, dyn_error *error) {
    double *const outputs[4] = {angular, angular_axes, linear, linear_axes};
    const gram_use g = {frame, reference_frame, make_velocity_ellipsoids, outputs};
    return use_gram(model, workspace, n, q, &g, error);
}

/* X = J M^-1, packed. Row i of X is the acceleration at rest under row i of J as joint forces. */
static dyn_status compute_weighted_jacobian(const dyn_model *model, const dyn_workspace *w, sample_block block,
                                            const void *q, const void *J, void *X, dyn_error *error) {
    static const double weightless[3] = {0};
    size_t nv = (size_t)model->nv;
    dyn_status status = DYN_OK;
    for (size_t i = 0; i < 6 && status == DYN_OK; i++) {
        const packed_inputs in = {weightless, q, w->zero, dyn_packed(J, i * nv, block), NULL};
        block.kernels->forward_dynamics(model, w->memory, &in, w->pivots, dyn_packed(X, i * nv, block));
        status = dyn_check_pivots(model, w, block, error);
    }
    return status;
}

dyn_status dyn_acceleration_ellipsoids(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                       int frame, dyn_reference_frame reference_frame, double *linear,
                                       double *linear_axes, double *angular, double *angular_axes, dyn_error *error) {
    const dyn_workspace *w = workspace;
    double *const outputs[4] = {angular, angular_axes, linear, linear_axes};
    dyn_status status = check_arguments(model, w, n, q, frame, error);
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        const void *in = dyn_block_pack(w, 0, q, (size_t)model->nq, block);
        void *J = dyn_block_part(w, 0, block), *X = dyn_block_part(w, 6 * (size_t)model->nv, block);
        compute_jacobian(model, w, block, in, frame, reference_frame, J);
        status = compute_weighted_jacobian(model, w, block, in, J, X, error);
        if (status == DYN_OK) {
            status = use_block(w, block, X, make_velocity_ellipsoids, outputs, error);
        }
    }
    return status;
}

dyn_status dyn_mass_ellipsoids(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, int frame,
                               dyn_reference_frame reference_frame, double *mass, double *mass_axes, double *inertia,
                               double *inertia_axes, dyn_error *error) {
    const dyn_workspace *w = workspace;
    const dyn_task_frame all = {frame, reference_frame, DYN_TASK_ALL};
    const dyn_task task = {1, &all};
    double *const outputs[4] = {inertia, inertia_axes, mass, mass_axes};
    dyn_status status = check_arguments(model, w, n, q, frame, error);
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        void *Omega = dyn_block_part(w, 0, block);
        const task_results results = {Omega, NULL, NULL, NULL, NULL, NULL};
        const packed_inputs in = {model->gravity, dyn_block_pack(w, 0, q, (size_t)model->nq, block), w->zero, NULL,
                                  NULL};
        block.kernels->operational_space(model, w->memory, &in, &task, w->pivots, NULL, &results);
        status = dyn_check_pivots(model, w, block, error);
        for (size_t l = 0; l < block.count && status == DYN_OK; l++) {
            gram g = {.negligible = negligible_part[w->precision]};
            for (size_t i = 0; i < 36; i++) {
                g.G[i] = dyn_packed_number(Omega, i, block, l);
            }
            status = check_matrix(g.G, block.first + l, error);
            make_mass_ellipsoids(&g, block.first + l, outputs);
        }
    }
    return status;
}

/* Computes the inertia about the centre of mass from a spatial inertia (I [h]; [h]' m): I + [c] [h] with h = m c. */
static void find_central_inertia(const double inertia[36], double A[9]) {
    double mass = inertia[35];
    const double h[3] = {inertia[16], inertia[5], inertia[9]}, squared = h[0] * h[0] + h[1] * h[1] + h[2] * h[2];
    for (int i = 0; i < 9; i++) {
        double steiner = (i % 4 == 0 ? squared : 0) - h[i / 3] * h[i % 3];
        A[i] = inertia[6 * (i / 3) + i % 3] - (mass > 0 ? steiner / mass : 0);
    }
}

dyn_status dyn_principal_moments(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, int frame,
                                 dyn_reference_frame reference_frame, double *moments, double *axes, dyn_error *error) {
    dyn_status status = check_arguments(model, workspace, n, q, frame, error);
    /* Axes do not depend on the origin; an origin close to the body loses fewer digits. */
    dyn_reference_frame near =
        reference_frame == DYN_REFERENCE_FRAME_WORLD ? DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED : reference_frame;
    for (size_t s = 0; s < n && status == DYN_OK; s++) {
        double inertia[36];
        status = dyn_body_inertia(model, workspace, 1, q + s * (size_t)model->nq, frame, near, inertia, error);
        if (status == DYN_OK) {
            find_central_inertia(inertia, axes + 9 * s);
            find_axes(0, axes + 9 * s, moments + 3 * s);
            dyn_choose_body_axes(moments + 3 * s, axes + 9 * s);
        }
    }
    return status;
}

dyn_status dyn_torque_ellipsoid(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                double *lengths, double *axes, dyn_error *error) {
    size_t nv = (size_t)model->nv;
    dyn_status status = dyn_crba(model, workspace, n, q, axes, error);
    for (size_t s = 0; s < n && status == DYN_OK; s++) {
        dyn_principal_axes(nv, axes + s * nv * nv, lengths + s * nv);
    }
    return status;
}
