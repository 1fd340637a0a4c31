/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * New models from old ones: with a payload, with joints locked, without a part, on another base, merged.
 *
 * Every function builds a new model, which the caller frees, and leaves its source as it is; it may be called by
 * several threads with one source. Links and joints are addressed by name. Limits, damping, friction, couplings of
 * mimic joints and gravity are kept, and so are the frames of all links that stay. Of a source that was built with
 * DYN_MIMIC_INDEPENDENT, the results have no mimic joints any more. Each costs O(links log links).
 *
 * Common errors: DYN_NOT_FOUND with place "link NAME" or "joint NAME" for a name that the model has not;
 * DYN_INVALID_ARGUMENT where the result would not be a robot, with the element as place, as in builder.h;
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

/* ---- payloads and parts ----------------------------------------------------------------------------------------- */

/* With a new link `name` on `link`, by a fixed joint "NAME:fixed": a payload or a tool. `pose` is the place of its
 * frame in that of `link` (NULL: the same), `inertia` is in its own frame. For single calls see payload.h. */
DYN_API dyn_status dyn_model_attach(const dyn_model *model, const char *link, const char *name,
                                    const dyn_inertia *inertia, const dyn_pose *pose, dyn_error *error,
                                    dyn_model **result);

/* With another inertia of `link`, in its frame. */
DYN_API dyn_status dyn_model_change_inertia(const dyn_model *model, const char *link, const dyn_inertia *inertia,
                                            dyn_error *error, dyn_model **result);

/* Without `link` and all that it carries: detaches a payload, a gripper, an arm. Refused for the root, and where a
 * mimic joint that stays follows one that goes. */
DYN_API dyn_status dyn_model_detach(const dyn_model *model, const char *link, dyn_error *error, dyn_model **result);

/* With the robot `added` on `link`: its root fixed there, at `pose` (NULL: the same frame), by the joint
 * "PREFIXroot:fixed". `prefix` (NULL: none) comes before all names of its links and joints; a name that occurs twice is
 * refused. Its own base and gravity do not matter. */
DYN_API dyn_status dyn_model_merge(const dyn_model *model, const char *link, const dyn_pose *pose,
                                   const dyn_model *added, const char *prefix, dyn_error *error, dyn_model **result);

/* ---- joints ----------------------------------------------------------------------------------------------------- */

/* With `count` joints fixed where the configuration q (nq values; NULL: the zero configuration) has them. Of q only
 * their coordinates are read. Mimic joints that follow a locked one are locked with it; one whose master stays free
 * is refused. Locking the "root_joint" of a floating base gives a fixed base: a massless root link "world" with the
 * robot at that place. Further error: DYN_INVALID_ARGUMENT with place "q[k]" for a coordinate that is not finite, or
 * a quaternion whose norm is further than 1e-3 from one. */
DYN_API dyn_status dyn_model_lock(const dyn_model *model, size_t count, const char *const *joints, const double *q,
                                  dyn_error *error, dyn_model **result);

/* ---- parts and bases -------------------------------------------------------------------------------------------- */

/* Moves the root to `link`, fixed to the world or floating. Joints between the old root and
 * the new one are traversed the other way, and keep their coordinates:
 *     revolute, continuous, prismatic, helical, cylindrical   the same, about or along the opposite axis
 *     universal                                               the same two angles in the opposite order
 *     planar, spherical, floating                             those of the inverse displacement
 * Where such a joint is not at the origin of the link it carries now, a massless link "JOINT:frame" is between them,
 * with a fixed joint "JOINT:fixed". A model of floating base is the same robot on every base: its energies are
 * equal. */
DYN_API dyn_status dyn_model_change_base(const dyn_model *model, const char *link, dyn_base base, dyn_error *error,
                                         dyn_model **result);

/* `link` with all that it carries, as a robot of its own with that base. Refused where a mimic joint follows one
 * that is left out. */
DYN_API dyn_status dyn_model_subtree(const dyn_model *model, const char *link, dyn_base base, dyn_error *error,
                                     dyn_model **result);

/* The chain of joints from `first`, its base, to `last`, the one side of the tree traversed as by
 * dyn_model_change_base. Links that fixed joints connect with a link of the chain stay with it; all others are left
 * out. Refused as above. */
DYN_API dyn_status dyn_model_chain(const dyn_model *model, const char *first, const char *last, dyn_base base,
                                   dyn_error *error, dyn_model **result);

#ifdef __cplusplus
}
#endif

#endif
