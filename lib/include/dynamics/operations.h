/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Models derived from others: with a payload, with joints locked, without a part, on another base, merged.
 *
 * Every function builds a new model, which the caller frees, and leaves its source unchanged; several threads may use
 * one source. Links and joints are addressed by name. Limits, damping, friction, couplings of mimic joints and gravity
 * are preserved, and so are the frames of all remaining links. If the source was built with
 * DYN_MIMIC_POLICY_INDEPENDENT, the result has no mimic joints. Constraints (constraint.h) are preserved too; one whose
 * link or joint is left out is an error, DYN_INVALID_ARGUMENT with place "constraint NAME". Machine elements
 * (machine_element.h) are preserved with their joints, and left out with them. Each function costs O(links log links).
 *
 * Errors name the argument that they are about in `site` (status.h), and the element as place.
 * Common errors: DYN_NOT_FOUND with place "link NAME" or "joint NAME" for a name that the model does not contain;
 * DYN_INVALID_ARGUMENT where the result is not a robot, with the element as place, as in builder.h;
 * DYN_RESOURCE_EXHAUSTED.
 */
#ifndef DYNAMICS_OPERATIONS_H
#define DYNAMICS_OPERATIONS_H

#include <stddef.h>

#include <dynamics/builder.h>
#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Payloads and parts ------------------------------------------------------------------------------------------ */

/* Attaches a new link `name` to `link`, by a fixed joint "NAME:fixed": a payload or a tool. `pose` is the pose of its
 * frame in that of `link` (NULL: the frame of `link`); `inertia` is in its own frame. For single calls see payload.h.
 */
DYN_API dyn_status dyn_model_attach(const dyn_model *model, const char *link, const char *name,
                                    const dyn_inertia *inertia, const dyn_pose *pose, dyn_model **result,
                                    dyn_error *error);

/* Replaces the inertia of `link`, in its frame. */
DYN_API dyn_status dyn_model_change_inertia(const dyn_model *model, const char *link, const dyn_inertia *inertia,
                                            dyn_model **result, dyn_error *error);

/* Removes `link` and all that it carries: detaches a payload, a gripper, an arm. Refuses the root, and a part without
 * which a remaining mimic joint has no master. */
DYN_API dyn_status dyn_model_detach(const dyn_model *model, const char *link, dyn_model **result, dyn_error *error);

/* Attaches the robot `added` to `link`: fixes its root there, at `pose` (NULL: the frame of `link`), by the joint
 * "PREFIXroot:fixed". `prefix` (NULL: none) precedes all names of its links and joints; a name that occurs twice is
 * refused. The base and gravity of `added` are ignored. Constraints between `added` and the world tie it to its root
 * instead; DYN_FAILED_PRECONDITION with place "constraint NAME" where its base is floating. */
DYN_API dyn_status dyn_model_merge(const dyn_model *model, const char *link, const dyn_pose *pose,
                                   const dyn_model *added, const char *prefix, dyn_model **result, dyn_error *error);

/* ---- Joints ------------------------------------------------------------------------------------------------------ */

/* Fixes `count` joints at their coordinates in the configuration q (nq values; NULL: the zero configuration). Reads
 * only their coordinates of q. Locks mimic joints together with their master; refuses to lock a mimic joint whose
 * master stays free. Locking the "root_joint" of a floating base yields a fixed base: a massless root link "world" with
 * the robot at that pose.
 * Errors: DYN_INVALID_ARGUMENT with place "q[k]" for a coordinate that is not finite, or a quaternion whose norm is
 * further than 1e-3 from one. */
DYN_API dyn_status dyn_model_lock(const dyn_model *model, size_t count, const char *const *joints, const double *q,
                                  dyn_model **result, dyn_error *error);

/* ---- Parts and bases --------------------------------------------------------------------------------------------- */

/* Moves the root to `link`, fixed to the world or floating. Joints between the old root and the new one are traversed
 * in the opposite direction. Their coordinates are:
 *     revolute, continuous, prismatic, helical, cylindrical   the same, about or along the opposite axis
 *     universal                                               the same two angles in the opposite order
 *     planar, spherical, floating                             those of the inverse displacement
 * Where such a joint is not at the origin of the link that it now carries, a massless link "JOINT:frame" is between
 * them, with a fixed joint "JOINT:fixed". A rotor of such a joint then spins on the other link, with the ratio 1 - G.
 * This takes a revolute joint, a rotor at its origin and on its axis with exact coupling, G other than 1, and friction
 * on the side of the joint; DYN_FAILED_PRECONDITION with place "machine element NAME" otherwise. A model of floating
 * base is the same robot on every base: its energies are equal. */
DYN_API dyn_status dyn_model_change_base(const dyn_model *model, const char *link, dyn_base base, dyn_model **result,
                                         dyn_error *error);

/* Builds a robot from `link` and all that it carries, with the given base. Refuses a part that contains a mimic joint
 * without its master. */
DYN_API dyn_status dyn_model_subtree(const dyn_model *model, const char *link, dyn_base base, dyn_model **result,
                                     dyn_error *error);

/* Builds a robot from the chain of joints from `first`, its base, to `last`. The joints between `first` and the root
 * are traversed as in dyn_model_change_base. Links that fixed joints connect with a link of the chain are included; all
 * others are left out. Refuses a mimic joint without its master. */
DYN_API dyn_status dyn_model_chain(const dyn_model *model, const char *first, const char *last, dyn_base base,
                                   dyn_model **result, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
