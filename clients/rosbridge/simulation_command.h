/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads sensor_msgs/JointState as the input of a simulation: position and velocity are the reference of its controller,
 * effort the forces. An empty part leaves the former values. Every coordinate is named once, in any order: see
 * coordinates.h. header.frame_id holds the token that CreateSimulation returned; its holder controls the simulation.
 *
 * Commands are set one after another, in the order of arrival. A status reports errors.
 */
#ifndef ROSBRIDGE_SIMULATION_COMMAND_H
#define ROSBRIDGE_SIMULATION_COMMAND_H

#include "live_simulation.h"

/* Reads a message of the topic (a topic_reader). The topic's user is a live_simulation. */
bool simulation_command(peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]);

/* Drops the waiting commands of a simulation that has ended. */
void simulation_command_free(live_simulation *freed);

#endif
