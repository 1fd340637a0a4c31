/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The forward-backward Newton-Euler algorithm on lists of matrices:
 *     T_i,i-1 = e^(-[A_i] theta_i) M_i,i-1        A_i = Ad(M_0i^-1) S_i
 *     V_i     = Ad(T_i,i-1) V_i-1 + A_i dtheta_i
 *     dV_i    = Ad(T_i,i-1) dV_i-1 + ad(V_i) A_i dtheta_i + A_i ddtheta_i
 *     F_i     = Ad(T_i+1,i)' F_i+1 + G_i dV_i - ad(V_i)' G_i V_i        tau_i = F_i' A_i
 * with V_0 = 0, dV_0 = (0; -g) and F_n+1 = Ftip. A screw that is not normalized scales the angle of the exponential.
 *
 * Source: Modern Robotics, equations 8.50 to 8.54 and section 8.11.
 */
#include <dynamics/textbook.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../model/error.h"
#include "../spatial/inertia.h"
#include "array_check.h"
#include "linear.h"

/* Joint and link of the chain. */
typedef struct chain_link {
    placement X; /* of frame {i} in {i - 1} */
    motion A, V, dV;
} chain_link;

/* Motion of the chain. dtheta and ddtheta may be NULL, which stands for zeros. */
typedef struct chain_motion {
    const double *theta, *dtheta, *ddtheta;
} chain_motion;

void dyn_textbook_ad(const double V[6], double adV[36]) {
    motion m = motion_set(vec3_constant(V), vec3_constant(V + 3));
    for (int j = 0; j < 6; j++) {
        double unit[6] = {0};
        unit[j] = 1;
        motion c = motion_cross(m, motion_set(vec3_constant(unit), vec3_constant(unit + 3)));
        const double column[6] = {c.w.x, c.w.y, c.w.z, c.v.x, c.v.y, c.v.z};
        for (int i = 0; i < 6; i++) {
            adV[6 * i + j] = column[i];
        }
    }
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Checks the chain, with `rows` wrenches at the tip, and allocates its links. The caller frees *links, also after an
 * error. */
static dyn_status open_chain(const dyn_textbook_chain *chain, size_t rows, chain_link **links, dyn_error *error) {
    *links = NULL;
    if (chain->n < 1) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "n", "n is %d; pass the number of joints", chain->n);
    }
    size_t n = (size_t)chain->n;
    dyn_status status = dyn_check_array("g", chain->g, 3, error);
    status = status == DYN_OK && chain->Ftip ? dyn_check_array("Ftip", chain->Ftip, 6 * rows, error) : status;
    status = status == DYN_OK ? dyn_check_array("Mlist", chain->Mlist, 16 * (n + 1), error) : status;
    status = status == DYN_OK ? dyn_check_array("Glist", chain->Glist, 36 * n, error) : status;
    status = status == DYN_OK ? dyn_check_array("Slist", chain->Slist, 6 * n, error) : status;
    if (status == DYN_OK) {
        *links = calloc(n, sizeof **links);
        status = *links ? DYN_OK : dyn_error_memory(error);
    }
    return status;
}

/* Checks the arrays of a motion, `count` numbers each. dtheta and ddtheta may be NULL. */
static dyn_status check_motion(size_t count, const chain_motion *x, dyn_error *error) {
    dyn_status status = dyn_check_array("theta", x->theta, count, error);
    status = status == DYN_OK && x->dtheta ? dyn_check_array("dtheta", x->dtheta, count, error) : status;
    return status == DYN_OK && x->ddtheta ? dyn_check_array("ddtheta", x->ddtheta, count, error) : status;
}

/* ---- the algorithm ----------------------------------------------------------------------------------------------- */

/* Returns the pose that a frame reaches by the constant twist in unit time: the exponential of its 4 x 4 matrix. */
static placement exponential(motion twist) {
    placement T = placement_identity();
    double angle = sqrt(vec3_dot(twist.w, twist.w));
    if (angle < 1e-12) {
        T.r = twist.v;
        return T;
    }
    vec3 axis = vec3_scale(1 / angle, twist.w), v = vec3_scale(1 / angle, twist.v);
    double s = sin(angle), c = cos(angle);
    vec3 turned = vec3_cross(axis, v);
    T.R = mat3_add(T.R, mat3_cross(vec3_scale(s, axis), T.R));
    T.R = mat3_add(T.R, mat3_cross(vec3_scale(1 - c, axis), mat3_cross(axis, placement_identity().R)));
    T.r = vec3_fma(angle, v, vec3_fma(1 - c, turned, vec3_scale(angle - s, vec3_cross(axis, turned))));
    return T;
}

static placement placement_of_matrix(const double M[16]) {
    placement X;
    X.R = mat3_from_columns(vec3_set(M[0], M[4], M[8]), vec3_set(M[1], M[5], M[9]), vec3_set(M[2], M[6], M[10]));
    X.r = vec3_set(M[3], M[7], M[11]);
    return X;
}

static motion scale_motion(double s, motion m) {
    return motion_fma(s, m, motion_zero());
}

/* Computes X and A of all links at theta. */
static void place_links(const dyn_textbook_chain *chain, const double *theta, chain_link *links) {
    placement home = placement_identity();
    int n = chain->n;
    const double *S = chain->Slist;
    for (int i = 0; i < n; i++) {
        placement M = placement_of_matrix(chain->Mlist + 16 * i);
        motion screw =
            motion_set(vec3_set(S[i], S[n + i], S[2 * n + i]), vec3_set(S[3 * n + i], S[4 * n + i], S[5 * n + i]));
        home = placement_compose(home, M);
        links[i].A = motion_to_child(home, screw);
        links[i].X = placement_compose(M, exponential(scale_motion(theta[i], links[i].A)));
    }
}

/* Returns the wrench G m. */
static force apply_inertia(const double G[36], motion m) {
    const double x[6] = {m.w.x, m.w.y, m.w.z, m.v.x, m.v.y, m.v.z};
    double f[6] = {0};
    KERNEL(multiply_add)(6, 6, G, x, f);
    return force_set(vec3_constant(f), vec3_constant(f + 3));
}

/* Computes tau of one motion of placed links; Ftip may be NULL. */
static void run_recursion(const dyn_textbook_chain *chain, const double *g, const double *Ftip, const chain_motion *x,
                          chain_link *links, double *tau) {
    motion V = motion_zero(), dV = motion_set(vec3_zero(), vec3_scale(-1, vec3_constant(g)));
    int n = chain->n;
    for (int i = 0; i < n; i++) {
        chain_link *l = &links[i];
        motion rate = scale_motion(x->dtheta ? x->dtheta[i] : 0, l->A);
        V = l->V = motion_add(motion_to_child(l->X, V), rate);
        dV = motion_add(motion_to_child(l->X, dV), motion_cross(V, rate));
        dV = l->dV = motion_fma(x->ddtheta ? x->ddtheta[i] : 0, l->A, dV);
    }
    force F = force_zero();
    if (Ftip) {
        F = force_to_parent(placement_of_matrix(chain->Mlist + 16 * n),
                            force_set(vec3_constant(Ftip), vec3_constant(Ftip + 3)));
    }
    for (int i = n - 1; i >= 0; i--) {
        const chain_link *l = &links[i];
        const double *G = chain->Glist + 36 * i;
        F = force_add(F, force_add(apply_inertia(G, l->dV), force_cross(l->V, apply_inertia(G, l->V))));
        tau[i] = spatial_dot(l->A, F);
        F = force_to_parent(l->X, F);
    }
}

static const double no_gravity[3] = {0, 0, 0};

/* Computes M, n x n, at the theta of the placed links. `unit` is scratch memory of n numbers. */
static void compute_mass_matrix(const dyn_textbook_chain *chain, chain_link *links, double *unit, double *M) {
    int n = chain->n;
    memset(unit, 0, (size_t)n * sizeof *unit);
    for (int j = 0; j < n; j++) {
        const chain_motion x = {NULL, NULL, unit};
        unit[j] = 1;
        /* M is symmetric, so that its rows are its columns. */
        run_recursion(chain, no_gravity, NULL, &x, links, M + j * n);
        unit[j] = 0;
    }
}

/* ---- one state --------------------------------------------------------------------------------------------------- */

/* Gravity and tip wrench that a function includes in tau. g is not NULL; Ftip NULL: none. */
typedef struct chosen_terms {
    const double *g, *Ftip;
} chosen_terms;

static dyn_status compute_terms(const dyn_textbook_chain *chain, const chosen_terms *terms, const chain_motion *x,
                                double *out, dyn_error *error) {
    chain_link *links;
    dyn_status status = open_chain(chain, 1, &links, error);
    status = status == DYN_OK ? check_motion((size_t)chain->n, x, error) : status;
    if (status == DYN_OK) {
        place_links(chain, x->theta, links);
        run_recursion(chain, terms->g, terms->Ftip, x, links, out);
    }
    free(links);
    return status;
}

dyn_status dyn_textbook_inverse_dynamics(const dyn_textbook_chain *chain, const double *theta, const double *dtheta,
                                         const double *ddtheta, double *tau, dyn_error *error) {
    return compute_terms(chain, &(chosen_terms){chain->g, chain->Ftip}, &(chain_motion){theta, dtheta, ddtheta}, tau,
                         error);
}

dyn_status dyn_textbook_velocity_forces(const dyn_textbook_chain *chain, const double *theta, const double *dtheta,
                                        double *c, dyn_error *error) {
    return compute_terms(chain, &(chosen_terms){no_gravity, NULL}, &(chain_motion){theta, dtheta, NULL}, c, error);
}

dyn_status dyn_textbook_gravity_forces(const dyn_textbook_chain *chain, const double *theta, double *grav,
                                       dyn_error *error) {
    return compute_terms(chain, &(chosen_terms){chain->g, NULL}, &(chain_motion){theta, NULL, NULL}, grav, error);
}

dyn_status dyn_textbook_tip_forces(const dyn_textbook_chain *chain, const double *theta, double *JTFtip,
                                   dyn_error *error) {
    return compute_terms(chain, &(chosen_terms){no_gravity, chain->Ftip}, &(chain_motion){theta, NULL, NULL}, JTFtip,
                         error);
}

dyn_status dyn_textbook_mass_matrix(const dyn_textbook_chain *chain, const double *theta, double *M, dyn_error *error) {
    chain_link *links;
    double *unit = NULL;
    dyn_status status = open_chain(chain, 1, &links, error);
    status = status == DYN_OK ? dyn_check_array("theta", theta, (size_t)chain->n, error) : status;
    if (status == DYN_OK) {
        unit = calloc((size_t)chain->n, sizeof *unit);
        status = unit ? DYN_OK : dyn_error_memory(error);
    }
    if (status == DYN_OK) {
        place_links(chain, theta, links);
        compute_mass_matrix(chain, links, unit, M);
    }
    free(unit), free(links);
    return status;
}

/* Computes ddtheta for the motion x, whose ddtheta is NULL, under the forces tau. `memory` has n (n + 1) numbers.
 * Errors: DYN_FAILED_PRECONDITION where M is singular. */
static dyn_status accelerate(const dyn_textbook_chain *chain, const double *Ftip, const chain_motion *x,
                             const double *tau, chain_link *links, double *memory, double *ddtheta, dyn_error *error) {
    int n = chain->n;
    double *bias = memory, *M = memory + n;
    place_links(chain, x->theta, links);
    compute_mass_matrix(chain, links, bias, M);
    run_recursion(chain, chain->g, Ftip, x, links, bias);
    for (int i = 0; i < n; i++) {
        ddtheta[i] = tau[i] - bias[i];
    }
    KERNEL(factorize_symmetric)(n, M);
    KERNEL(solve_symmetric)(n, M, ddtheta);
    for (int i = 0; i < n; i++) {
        if (!isfinite(ddtheta[i])) {
            return dyn_error_because(error, DYN_FAILED_PRECONDITION, DYN_CAUSE_SINGULAR_MASS_MATRIX, "Glist",
                                     "the mass matrix is singular: no inertia resists a joint; give the links one");
        }
    }
    return DYN_OK;
}

/* Opens a chain as open_chain does, with n (n + 2) numbers of memory: for `accelerate`, and n more. The caller frees
 * both blocks, also after an error. */
static dyn_status open_forward(const dyn_textbook_chain *chain, size_t rows, chain_link **links, double **memory,
                               dyn_error *error) {
    *memory = NULL;
    dyn_status status = open_chain(chain, rows, links, error);
    if (status == DYN_OK) {
        size_t n = (size_t)chain->n;
        *memory = calloc(n * (n + 2), sizeof **memory);
        status = *memory ? DYN_OK : dyn_error_memory(error);
    }
    return status;
}

dyn_status dyn_textbook_forward_dynamics(const dyn_textbook_chain *chain, const double *theta, const double *dtheta,
                                         const double *tau, double *ddtheta, dyn_error *error) {
    chain_link *links;
    double *memory;
    const chain_motion x = {theta, dtheta, NULL};
    dyn_status status = open_forward(chain, 1, &links, &memory, error);
    status = status == DYN_OK ? check_motion((size_t)chain->n, &x, error) : status;
    status = status == DYN_OK ? dyn_check_array("tau", tau, (size_t)chain->n, error) : status;
    if (status == DYN_OK) {
        status = accelerate(chain, chain->Ftip, &x, tau, links, memory, ddtheta, error);
    }
    free(memory), free(links);
    return status;
}

/* ---- trajectories ------------------------------------------------------------------------------------------------ */

void dyn_textbook_euler_step(int n, const double *ddtheta, double dt, double *theta, double *dtheta) {
    for (int i = 0; i < n; i++) {
        theta[i] += dt * dtheta[i];
        dtheta[i] += dt * ddtheta[i];
    }
}

dyn_status dyn_textbook_inverse_trajectory(const dyn_textbook_chain *chain, size_t N, const double *thetamat,
                                           const double *dthetamat, const double *ddthetamat, double *taumat,
                                           dyn_error *error) {
    chain_link *links;
    const chain_motion all = {thetamat, dthetamat, ddthetamat};
    dyn_status status = open_chain(chain, N, &links, error);
    status = status == DYN_OK ? check_motion(N * (size_t)chain->n, &all, error) : status;
    for (size_t s = 0; status == DYN_OK && s < N; s++) {
        size_t at = s * (size_t)chain->n;
        const chain_motion x = {thetamat + at, dthetamat ? dthetamat + at : NULL, ddthetamat ? ddthetamat + at : NULL};
        place_links(chain, x.theta, links);
        run_recursion(chain, chain->g, chain->Ftip ? chain->Ftip + 6 * s : NULL, &x, links, taumat + at);
    }
    free(links);
    return status;
}

dyn_status dyn_textbook_forward_trajectory(const dyn_textbook_chain *chain, size_t N, const double *taumat, double dt,
                                           int intRes, double *thetamat, double *dthetamat, dyn_error *error) {
    chain_link *links;
    double *memory;
    if (intRes < 1) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "intRes", "intRes is %d; pass 1 or more", intRes);
    }
    dyn_status status = open_forward(chain, N, &links, &memory, error);
    size_t n = (size_t)chain->n;
    const chain_motion first = {thetamat, dthetamat, NULL};
    status = status == DYN_OK && N > 0 ? check_motion(n, &first, error) : status;
    status = status == DYN_OK ? dyn_check_array("taumat", taumat, N * n, error) : status;
    status = status == DYN_OK ? dyn_check_array("dt", &dt, 1, error) : status;
    for (size_t s = 0; status == DYN_OK && s + 1 < N; s++) {
        double *theta = thetamat + (s + 1) * n, *dtheta = dthetamat + (s + 1) * n, *ddtheta = memory + n * (n + 1);
        const chain_motion x = {theta, dtheta, NULL};
        memcpy(theta, theta - n, n * sizeof *theta);
        memcpy(dtheta, dtheta - n, n * sizeof *dtheta);
        for (int k = 0; status == DYN_OK && k < intRes; k++) {
            const double *Ftip = chain->Ftip ? chain->Ftip + 6 * s : NULL;
            status = accelerate(chain, Ftip, &x, taumat + s * n, links, memory, ddtheta, error);
            dyn_textbook_euler_step(chain->n, ddtheta, dt / intRes, theta, dtheta);
        }
    }
    free(memory), free(links);
    return status;
}
