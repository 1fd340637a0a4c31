/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serial chains whose links bend: inverse and forward dynamics with assumed modes, by the recursive Lagrangian of Book
 * (1984).
 *
 *     dyn_beam_modes(&beam, 2, modes, products, stiffness, &error);
 *     dyn_model_find_frame(model, "upper_arm", &frame, &error);
 *     dyn_beam_carry(&beam, 2, &(dyn_beam_load){.model = model, .link = frame}, modes, products, &error);
 *     dyn_flexible_link link = {frame, 2, modes, products, stiffness};
 *     dyn_flexible_chain_create(model, 1, &link, &chain, &error);
 *     dyn_flexible_forward_dynamics(chain, NULL, x, v, forces, a, &error);
 *
 * A mode is a shape phi(r) in which a link bends: its point r is displaced by delta phi(r), where delta, the coordinate
 * of the mode, is small. The coordinates x are the q of the model, followed by those of the modes, in the order in
 * which the links and their modes are listed; velocities v and accelerations a likewise. Forces are those of the
 * joints, tau, followed by those of the modes, which are zero for links that bend freely.
 *
 * The masses and inertias of the straight links are those of the model. The functions compute one state in double
 * precision, with rigid-body forces, gravity and the links' stiffness; friction and constraints of the model do not
 * act.
 *
 * Common to all functions here
 *   gravity     acceleration of gravity in the world, m/s^2; NULL: the model's own.
 *   aliasing    outputs must not overlap inputs.
 *   threads     safe as long as each thread has its own dyn_flexible_chain.
 *   allocation  only by dyn_flexible_chain_create.
 *   errors      DYN_INVALID_ARGUMENT for arrays that are NULL and numbers that are not finite, with their name.
 */
#ifndef DYNAMICS_FLEXIBLE_CHAIN_H
#define DYNAMICS_FLEXIBLE_CHAIN_H

#include <stddef.h>

#include <dynamics/base_motion.h>
#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/payload.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Mode of a link, in the axes of the link's frame and from its origin. Integrals extend over all that moves with the
 * link: also over links that fixed joints attach to it. */
typedef struct dyn_flexible_mode {
    double end[3];          /* displacement phi of the point to which the next joint is attached */
    double rotation[3];     /* rotation of the link there, rad for a coordinate of one */
    double first_moment[3]; /* integral of phi dm */
    double moments[9];      /* integral of phi r' dm, row-major */
} dyn_flexible_mode;

/* Link that bends, by the number of its frame. */
typedef struct dyn_flexible_link {
    int link;
    int mode_count;
    const dyn_flexible_mode *modes;
    const double *products;  /* mode_count x mode_count x 3 x 3: integral of phi_f phi_g' dm */
    const double *stiffness; /* mode_count x mode_count, symmetric: force of mode f per coordinate of mode g */
} dyn_flexible_link;

/* Largest number of coordinates of a chain, joints and modes. */
enum { DYN_FLEXIBLE_CHAIN_COORDINATES = 1000 };

/* Serial chain with flexible links, with its scratch memory. */
typedef struct dyn_flexible_chain dyn_flexible_chain;

/* Creates a chain; the model must outlive it. Links that are not listed are rigid. Copies the modes.
 * Errors: DYN_INVALID_ARGUMENT with place "links[i].stiffness" and so on for a link that is unknown, does not move or
 * is listed twice, for numbers that are not finite, matrices that are not symmetric and more than
 * DYN_FLEXIBLE_CHAIN_COORDINATES coordinates; DYN_FAILED_PRECONDITION, with the joint, for a model that is no serial
 * chain of independent joints with one coordinate; DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_flexible_chain_create(const dyn_model *model, size_t link_count, const dyn_flexible_link *links,
                                             dyn_flexible_chain **chain, dyn_error *error);

/* Frees a chain; NULL is allowed. */
DYN_API void dyn_flexible_chain_free(dyn_flexible_chain *chain);

/* Returns the number of coordinates, joints and modes. */
DYN_API int dyn_flexible_chain_size(const dyn_flexible_chain *chain);

/* Moves the base in all following calls, as sample 0 of `base` states (base_motion.h). Copies its numbers; NULL is a
 * base at rest. The inertia matrix does not depend on it.
 * Errors: none. Calls return DYN_INVALID_ARGUMENT for numbers that are not finite, at the place "base_motion". */
DYN_API void dyn_flexible_chain_move_base(dyn_flexible_chain *chain, const dyn_base_motion *base);

/* Computes the forces that cause the motion (x, v, a). */
DYN_API dyn_status dyn_flexible_inverse_dynamics(dyn_flexible_chain *chain, const double *gravity, const double *x,
                                                 const double *v, const double *a, double *forces, dyn_error *error);

/* Computes the accelerations at the state (x, v).
 * Errors: also DYN_FAILED_PRECONDITION where the inertia matrix is not positive definite. */
DYN_API dyn_status dyn_flexible_forward_dynamics(dyn_flexible_chain *chain, const double *gravity, const double *x,
                                                 const double *v, const double *forces, double *a, dyn_error *error);

/* Computes the inertia matrix of all coordinates, row-major, both triangles. */
DYN_API dyn_status dyn_flexible_inertia_matrix(dyn_flexible_chain *chain, const double *x, double *M, dyn_error *error);

/* Uniform slender beam in the frame of its link, clamped at `start` and free at `end`. */
typedef struct dyn_beam {
    double start[3], end[3]; /* m */
    double mass;             /* kg, spread evenly from start to end */
    double direction[3];     /* unit vector normal to the beam, in which it bends */
    double rigidity[2];      /* E I for bending in `direction` and normal to it, N m^2; the second 0: it does not */
} dyn_beam;

enum { DYN_BEAM_MODES = 16 };

/* Computes the first `count` <= DYN_BEAM_MODES modes of a beam in one plane, or of both planes, one after the other:
 * m modes, the m x m x 3 x 3 products and the m x m stiffness, where m is `count` or twice that. The next joint is
 * attached at the end. The shape of mode k is cosh bs - cos bs - c (sinh bs - sin bs), where bL = 1.875, 4.694, 7.855,
 * ... solves cos bL cosh bL = -1; its displacement of the end is 2 in magnitude.
 * Errors: DYN_INVALID_ARGUMENT for a count, length, mass, rigidity or direction that is out of range. */
DYN_API dyn_status dyn_beam_modes(const dyn_beam *beam, int count, dyn_flexible_mode *modes, double *products,
                                  double *stiffness, dyn_error *error);

/* Link of a beam, and the payloads of its model. */
typedef struct dyn_beam_load {
    const dyn_model *model;
    int link; /* by the number of its frame */
    size_t payload_count;
    const dyn_payload *payloads; /* those of dyn_workspace_load; NULL: none */
} dyn_beam_load;

/* Adds what the beam carries to the modes and products of dyn_beam_modes, for the same beam and count. Each part of it
 * moves as one body with a cross section of the beam, which is displaced and turns with the modes:
 *   links that fixed joints attach to the link, with the links and payloads on them: the section next to the origin of
 *     the first of these links;
 *   payloads on the link itself: the section next to their centre of mass. One that replaces the inertia of the link
 *     states the inertia of the straight link, and adds nothing;
 *   the next joint: the section of the link to which it is attached, or the one next to its origin where that is the
 *     link itself.
 * The beam does not carry the links between its own and the joint before. Mass of its link beyond that of the beam does
 * not bend.
 * Errors: DYN_INVALID_ARGUMENT with place "load.link" for a link that is unknown or does not move. */
DYN_API dyn_status dyn_beam_carry(const dyn_beam *beam, int count, const dyn_beam_load *load, dyn_flexible_mode *modes,
                                  double *products, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
