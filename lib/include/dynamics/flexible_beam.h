/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flexible links by assumed modes, as bodies of the tree: all functions of the library serve a model with them.
 *
 * A uniform slender beam takes the place of a fixed joint. It is clamped to the joint's parent link, and its free end
 * carries the child link. In each bending plane it has the modes of a beam that is clamped at one end,
 *
 *     u(s, t) = sum of delta_k(t) phi_k(s)        phi_k(L) = 1
 *     phi(s) ~ cosh bs - cos bs - c (sinh bs - sin bs)
 *
 * with bL = 1.875, 4.694, 7.855, ..., which solve cos bL cosh bL = -1. The coordinate delta_k is the displacement of
 * the end in mode k. The beam becomes links and joints of the description:
 *
 *     NAME:mode1 ...         prismatic joints with the coordinates delta_k, first those of all modes of the first
 *                            plane, then those of the second one, and springs of these names with the stiffness
 *                            E I (bL)^4 / (4 L^3), which are machine elements and act where springs do
 *     NAME:turn1 ...         mimic joints that turn the end by phi_k'(L) delta_k
 *     NAME:point1:mode1 ...  mimic joints that displace a point of the beam by phi_k(s) delta_k
 *
 * The mass of the beam is at the points of a Gauss rule of 2 K + 4 points, for K modes in a plane. The rule integrates
 * mass, first and second moments of the straight beam exactly, and products of the modes to 1e-4 for K = 1 and to 1e-6
 * beyond.
 * Frequencies of the clamped beam follow those of the modes with that accuracy. A constant force F at the end bends it
 * by F L^3 / (3 E I) less 2.9 % with one mode, 0.5 % with two and 0.15 % with three.
 *
 * Displacements are linear in delta_k, as in Book (1984): the beam does not become shorter when it bends, so that
 * rotation does not stiffen it. Its end turns by a rotation, where Book has 1 + theta x. Its cross sections have no
 * rotary inertia, and it does not twist. A step of an explicit integrator must be shorter than 2 over the angular
 * frequency of the highest mode.
 *
 * A chain of rigid segments with springs between them would be another model of the beam. It has more coordinates than
 * modes, and its frequencies converge with their number. The points have a coordinate for each mode and no more.
 *
 * Source: Meirovitch 1967, Analytical Methods in Vibrations, section 5.10 and assumed modes.
 */
#ifndef DYNAMICS_FLEXIBLE_BEAM_H
#define DYNAMICS_FLEXIBLE_BEAM_H

#include <dynamics/builder.h>
#include <dynamics/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of modes in a plane. */
enum { DYN_FLEXIBLE_BEAM_MODES = 6 };

/* Beam in the place of a fixed joint, in the frame of the joint's parent link. Its end is the origin of the joint. */
typedef struct dyn_flexible_beam {
    const char *name;       /* prefix of the links, joints and springs that it adds */
    const char *joint;      /* fixed joint, which has been added before */
    double start[3];        /* clamped end, m */
    double direction[3];    /* of bending in the first plane, of any length; its part along the beam has no effect */
    double mass_per_length; /* kg/m, positive, in addition to the inertias of links */
    double rigidity[2];     /* E I of bending in the first plane and normal to it, N m^2; the second 0: it does not */
    int modes;              /* in a plane; 0: two */
    double damping_ratio;   /* of each mode of the clamped beam, as damping of its joint; 0: none */
    int line;               /* as for a link */
} dyn_flexible_beam;

/* Adds a beam. The fixed joint keeps its name, and from then on connects the end of the beam with its child link.
 * Errors, with place "machine element NAME" and the member, such as "flexible_beam.rigidity", as part of the site:
 * DYN_INVALID_ARGUMENT for a joint that is missing or not fixed, a length of zero, a direction along the beam, and
 * numbers out of range; as for dyn_builder_add_link and dyn_builder_add_joint for names that exist.
 * After an error the builder may hold a part of the beam. `beam` and its strings are copied. Cost O(K^2) for K modes
 * in a plane. Allocates. Thread-safe as long as each thread has its own builder. */
DYN_API dyn_status dyn_builder_add_flexible_beam(dyn_builder *builder, const dyn_flexible_beam *beam, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
