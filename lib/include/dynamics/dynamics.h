/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libdynamics: rigid-body dynamics of tree-structured robots.
 *
 *     dyn_model_load_file("robot.urdf", &options, report, &model, &error);
 *     dyn_workspace_create(model, &workspace, &error);
 *     dyn_rnea(model, workspace, n, NULL, q, v, a, NULL, tau, &error);
 *
 * The conventions that hold everywhere are stated in model.h.
 */
#ifndef DYNAMICS_DYNAMICS_H
#define DYNAMICS_DYNAMICS_H

#include <dynamics/adaptive.h>
#include <dynamics/articulated_inertia.h>
#include <dynamics/assembly.h>
#include <dynamics/base_motion.h>
#include <dynamics/base_parameters.h>
#include <dynamics/builder.h>
#include <dynamics/center_of_mass.h>
#include <dynamics/centroidal.h>
#include <dynamics/closed_loops.h>
#include <dynamics/compiled.h>
#include <dynamics/configuration.h>
#include <dynamics/configuration_space.h>
#include <dynamics/constrained_derivatives.h>
#include <dynamics/constrained_dynamics.h>
#include <dynamics/constrained_inverse_dynamics.h>
#include <dynamics/constrained_task.h>
#include <dynamics/constraint.h>
#include <dynamics/constraint_space.h>
#include <dynamics/constraint_wrench.h>
#include <dynamics/contact.h>
#include <dynamics/coriolis.h>
#include <dynamics/custom_joint.h>
#include <dynamics/denavit_hartenberg.h>
#include <dynamics/derivatives.h>
#include <dynamics/energy.h>
#include <dynamics/description.h>
#include <dynamics/excitation.h>
#include <dynamics/external_force.h>
#include <dynamics/flexible_beam.h>
#include <dynamics/flexible_chain.h>
#include <dynamics/formulation.h>
#include <dynamics/forward_dynamics.h>
#include <dynamics/frame_motion.h>
#include <dynamics/geared_dynamics.h>
#include <dynamics/identification.h>
#include <dynamics/impact.h>
#include <dynamics/inertia.h>
#include <dynamics/inverse_dynamics.h>
#include <dynamics/joint_type.h>
#include <dynamics/joint_wrench.h>
#include <dynamics/kinematics.h>
#include <dynamics/machine_element.h>
#include <dynamics/manipulability.h>
#include <dynamics/mass_matrix.h>
#include <dynamics/model.h>
#include <dynamics/motor.h>
#include <dynamics/regressor.h>
#include <dynamics/operational_space.h>
#include <dynamics/operations.h>
#include <dynamics/passive_force.h>
#include <dynamics/payload.h>
#include <dynamics/precision.h>
#include <dynamics/report.h>
#include <dynamics/rollout.h>
#include <dynamics/rotor_force.h>
#include <dynamics/screws.h>
#include <dynamics/second_derivatives.h>
#include <dynamics/simulation.h>
#include <dynamics/sized.h>
#include <dynamics/status.h>
#include <dynamics/task.h>
#include <dynamics/task_control.h>
#include <dynamics/text.h>
#include <dynamics/textbook.h>
#include <dynamics/trajectory.h>
#include <dynamics/urdf.h>
#include <dynamics/version.h>
#include <dynamics/workspace.h>

#endif
