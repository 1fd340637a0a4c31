/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reader and writer of the Unified Robot Description Format (URDF), http://wiki.ros.org/urdf/XML.
 */
#ifndef DYNAMICS_URDF_H
#define DYNAMICS_URDF_H

#include <stddef.h>

#include <dynamics/builder.h>
#include <dynamics/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds on a file; beyond one the status is DYN_RESOURCE_EXHAUSTED. */
enum { DYN_URDF_MAX_BYTES = 16 << 20, DYN_URDF_MAX_DEPTH = 64 };

/* Reads the `length` bytes of a URDF document into a new builder.
 *
 * Understood: <robot>, <link> with <inertial>, <joint> of every type (fixed, revolute, continuous, prismatic, planar,
 * floating) with <origin>, <axis>, <limit>, <dynamics>, <mimic>; and the extensions below, which are constraints
 * (constraint.h). The reader opens no file that the document names, and refuses entities other than XML's own. `report`
 * (may be NULL) receives, with line numbers, each element and attribute that was ignored and each value that is
 * suspicious. A name of a link or joint that is not printable (text.h) is an error: it would read as another one in
 * logs and tables. Cost O(length).
 * Errors, with place "urdf:LINE" and the element in the message, or with place "urdf" for an empty or too long
 * document: DYN_INVALID_ARGUMENT, DYN_RESOURCE_EXHAUSTED.
 *
 * Constraints, each with the name of its element:
 *
 *     <loop name type> of URDF+                   a loop joint of a type of joint_type.h between the frames <origin> of
 *                                                 <predecessor link> and <successor link>, about <axis>
 *     <coupling name> of URDF+                    q of the joint that carries <successor link> is <ratio value> times q
 *                                                 of the one that carries <predecessor link>
 *     <loop_joint name type>, also with the       a loop joint between <link1 link xyz rpy> and <link2 link xyz rpy>,
 *     prefix drake: (Isaac Sim, older Drake)      about <axis>
 *     <drake:ball_constraint>                     a spherical loop joint: the points p_AP and p_BQ coincide
 *     <drake:distance_constraint>                 the points p_AP and p_BQ are `distance` apart
 *
 * Constraints of Drake may have a name; otherwise they are called ball_constraint_1, distance_constraint_2 .. in the
 * order of the document. A link "world" that the document does not have is the world. The sides of a coupling have one
 * moving joint each below the last link that carries both of them.
 *
 * Public robots depart from URDF and from XML in ways whose meaning is plain. The reader reports each of these as a
 * warning, so that building under `strict` (dyn_build_options) refuses it:
 *
 *     <inertia> without ixy, ixz or iyz           the product of inertia is 0; ixx, iyy and izz are required
 *     <inertial> without <mass> or <inertia>      the mass, or the rotational inertia, is 0
 *     <axis> without xyz                          the axis is 1 0 0, as for a joint without <axis>
 *     a joint of the type spherical or ball       the joint is spherical
 *     a parent link "world" that no <link> names  "world" is a massless root
 *     text or comments before the XML declaration,
 *     text before the first tag                   the text is ignored
 *     zero bytes after the last tag               the bytes are ignored
 *     UTF-8, stated or not, with other bytes      the document is ISO-8859-1
 *     another encoding than UTF-8, UTF-16,        the document is ISO-8859-1 where that is windows-1252 or a name of
 *     ISO-8859-1 and US-ASCII                     ISO-8859-1; else UTF-8, and an error where it has other bytes
 *
 * dyn_builder_build (builder.h) checks for inertias that no body can have: they are also warnings, as long as the mass
 * matrix stays positive definite or is merely singular. */
DYN_API dyn_status dyn_urdf_read(const char *text, size_t length, dyn_report *report, dyn_builder **builder,
                                 dyn_error *error);

/* Adds the transmissions of a URDF document to the builder that dyn_urdf_read made of it, as machine elements
 * (machine_element.h) of the name of each <transmission>, or transmission_1, transmission_2 .. without one. A document
 * that is read without this function has none. Understood are <transmission> in <robot>, with <type>, and in
 * <ros2_control>, with <plugin>. Those of the type SimpleTransmission or without a type are between one <joint> and one
 * <actuator>:
 *
 *     <mechanicalReduction>, <mechanical_reduction>   a gear without losses, whose ratio is the product of those of
 *                                                     <joint> and <actuator>; 1 where neither states one
 *     <drake:rotor_inertia value> in <actuator>       a rotor with reflected inertia instead of the gear; its ratio is
 *                                                     that of <drake:gear_ratio value>, or else that of the gear
 *
 * Those of the types DifferentialTransmission and FourBarLinkageTransmission are between two joints and two actuators,
 * which have the order of their roles joint1, joint2, actuator1 and actuator2 (the element <role> or the attribute), or
 * of the file. They are two shafts NAME/ACTUATOR, with the reductions n_j of the joints and n_a of the actuators, where
 * <drake:gear_ratio> takes the place of n_a, and with reflected inertia where <drake:rotor_inertia> is stated:
 *
 *     differential        w_1 = n_a1 (n_j1 v_1 + n_j2 v_2)        w_2 = n_a2 (n_j1 v_1 - n_j2 v_2)
 *     four-bar linkage    w_1 = n_a1 n_j1 v_1                     w_2 = n_a2 (v_1 + n_j2 v_2)
 *
 * The rates are those of ROS. Torques follow from them as tau = G' tau_motor; the formulas of ROS for the efforts of a
 * four-bar linkage do not conserve the power. Offsets of positions have no effect and are not read.
 *
 * Cost O(length). Errors, with the place "urdf:LINE": DYN_INVALID_ARGUMENT for another type, other numbers of joints
 * and actuators, other roles, a reduction of zero or that is no number, and an element that
 * dyn_builder_add_machine_element refuses.
 * dyn_builder_build refuses a transmission whose joint is missing. After an error the builder can only be freed. */
DYN_API dyn_status dyn_builder_read_transmissions(dyn_builder *builder, const char *urdf, size_t length,
                                                  dyn_error *error);

/* Reads a URDF document as dyn_urdf_read does and builds the model as dyn_builder_build does. */
DYN_API dyn_status dyn_urdf_load(const char *text, size_t length, const dyn_build_options *options, dyn_report *report,
                                 dyn_model **model, dyn_error *error);

/* Reads the URDF file at `path` as dyn_urdf_load does. It reads at most DYN_URDF_MAX_BYTES bytes, so that a pipe or a
 * device may be named, too. Cost O(bytes).
 * Errors, in addition to those of dyn_urdf_load, with the place "path": DYN_INVALID_ARGUMENT (path is NULL),
 * DYN_NOT_FOUND (there is no such file), DYN_FAILED_PRECONDITION (it cannot be read), DYN_RESOURCE_EXHAUSTED (it is too
 * long). */
DYN_API dyn_status dyn_model_load_file(const char *path, const dyn_build_options *options, dyn_report *report,
                                       dyn_model **model, dyn_error *error);

/* Writes a description as a URDF document; the caller frees `text` with dyn_text_free. Reading it yields an equal
 * description: of equal canonical text where rotations came from a URDF document whose pitch angles are within a right
 * angle, else to the rounding of roll, pitch and yaw. Notes are elements <note text="..."/> of the robot, which readers
 * of URDF ignore. URDF has no gravity, and no floating base, which is an option of
 * building.
 * Cost O(links).
 * Errors: DYN_FAILED_PRECONDITION with place "joint NAME" for a helical, cylindrical, universal or spherical joint, or
 * "constraint NAME" for a constraint;
 * DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_urdf_write(const dyn_builder *builder, char **text, size_t *length, dyn_error *error);

/* Writes the description of a model (dyn_model_describe) as dyn_urdf_write does. */
DYN_API dyn_status dyn_urdf_write_model(const dyn_model *model, char **text, size_t *length, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
