/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads geometry_msgs/WrenchStamped as an external force that the environment applies to a link of a simulation.
 *
 *   header.frame_id  TOKEN/LINK: the token that CreateSimulation returned, and a link or frame of the model.
 *   wrench           force (N) and torque (N m) in the axes of that link or frame and about its origin, with which it
 *                    turns (REFERENCE_FRAME_LOCAL).
 *
 * The last wrench of each link acts until the next one; a wrench of zeros ends it. Up to 64 wrenches of this topic act
 * together and replace those that SetSimulationInput set. They are set one after another; of several waiting wrenches
 * on one link only the last is set. A status reports what the daemon refuses.
 */
#ifndef ROSBRIDGE_SIMULATION_WRENCH_H
#define ROSBRIDGE_SIMULATION_WRENCH_H

#include "live_simulation.h"

/* Reads a message of the topic (a topic_reader). The topic's user is a live_simulation. */
bool simulation_wrench(peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]);

/* Drops the wrenches of a simulation that has ended. */
void simulation_wrench_free(live_simulation *freed);

#endif
