/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derivation of a model from another: its description is copied, changed, and built again.
 */
#ifndef DYNAMICS_MODEL_DERIVATION_H
#define DYNAMICS_MODEL_DERIVATION_H

#include "description.h"
#include "normal_form.h"

/* Copies the model's description. Mimic joints of the copy are those that are coupled in the model. */
dyn_status derivation_begin(const dyn_model *model, dyn_error *error, dyn_builder **copy);

/* Builds the changed description with the given base and coupled mimic joints, unless `status` is an error already.
 * Frees the copy, or makes it part of the result. Returns the status; *result is NULL on an error. */
dyn_status derivation_finish(dyn_builder *copy, dyn_base base, dyn_status status, dyn_error *error, dyn_model **result);

/* Returns the base that a model was built with. */
dyn_base model_base(const dyn_model *model);

/* Finds the number of a link by name, the value of `argument`. Errors: DYN_NOT_FOUND with place "link NAME". */
dyn_status description_find_link(const dyn_builder *builder, const char *argument, const char *name, dyn_error *error,
                                 int *link);

/* Adds a fixed joint "NAME:fixed" at `pose`; NULL is the identity. */
dyn_status add_fixed_joint(dyn_builder *builder, const char *name, const char *parent, const char *child,
                           const dyn_pose *pose, dyn_error *error);

/* Name of the massless link between a joint and a link whose frame is not at the joint's frame: "JOINT:frame". */
typedef struct frame_name {
    char text[DYN_MAX_NAME + 16];
} frame_name;

/* Adds the massless link "JOINT:frame", and a fixed joint "JOINT:fixed" from it to `child` at `pose`. Stores the name
 * of the link in `frame`. */
dyn_status add_joint_frame(dyn_builder *builder, const char *joint, const char *child, const dyn_pose *pose,
                           dyn_error *error, frame_name *frame);

/* Adds a joint whose child link has the pose `offset` in the frame that moves. Adds a joint frame between them unless
 * `offset` is the identity. */
dyn_status add_joint_with_offset(dyn_builder *builder, const dyn_joint_description *joint, const dyn_pose *offset,
                                 dyn_error *error);

/* Moves the rotors of a joint to another frame, in which the frame of the joint has that pose. Rotors without an axis
 * get `axis`, which is in the frame of the joint. */
void move_rotors(dyn_builder *builder, const char *joint, const double axis[3], const dyn_pose *pose);

/* Returns whether a pose is exactly the identity. */
bool pose_is_identity(const dyn_pose *pose);

/* Replaces the description *builder, which belongs to `model`, by its links with retain[i] and the joints between them.
 * A mimic joint follows its master where the joint that it names is removed; removing the master too is an error.
 * Machine elements remain with their joints. On an error *builder is unchanged. */
dyn_status prune(const dyn_model *model, const bool *retain, dyn_error *error, dyn_builder **builder);

#endif
