/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * geometry_msgs/WrenchStamped as an external force on a simulation: what the environment does to a link.
 *
 *   header.frame_id  TOKEN/LINK: the token that CreateSimulation returned, and a link or frame of the model.
 *   wrench           force (N) and torque (N m) in the axes of that link or frame and about its origin, with which it
 *                    turns (REFERENCE_FRAME_LOCAL).
 *
 * The last wrench of each link acts until the next one, a wrench of zeros ends it. Those of this topic act together, at
 * most 64 of them, and replace what SetSimulationInput set. One is set after another; of wrenches on the same link that
 * wait, only the last is. What the daemon refuses is told by a status.
 */
#ifndef ROSBRIDGE_SIMULATION_WRENCH_H
#define ROSBRIDGE_SIMULATION_WRENCH_H

#include "live_simulation.h"

/* A topic_reader; the topic's user is a live_simulation. */
bool simulation_wrench(peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]);

/* The simulation has ended: drops its wrenches. */
void simulation_wrench_free(live_simulation *freed);

#endif
