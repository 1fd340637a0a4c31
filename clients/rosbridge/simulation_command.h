/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sensor_msgs/JointState as the input of a simulation: position and velocity are the reference of its controller,
 * effort the forces; an empty one keeps what there was. Every coordinate is named once, in any order: see
 * coordinates.h. header.frame_id holds the token that CreateSimulation returned: who has it commands the simulation.
 *
 * Commands are set one after another, in the order in which they came. What is wrong with one is told by a status.
 */
#ifndef ROSBRIDGE_SIMULATION_COMMAND_H
#define ROSBRIDGE_SIMULATION_COMMAND_H

#include "live_simulation.h"

/* A topic_reader; the topic's user is a live_simulation. */
bool simulation_command(peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]);

/* The simulation has ended: drops the commands that wait. */
void simulation_command_free(live_simulation *freed);

#endif
