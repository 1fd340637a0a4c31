/*
 * sensor_msgs/JointState as the input of a simulation: position and velocity are the reference of its controller,
 * effort the forces; an empty one keeps what there was. Every joint is named once, in any order. header.frame_id holds
 * the token that CreateSimulation returned: who has it commands the simulation.
 */
#ifndef ROSBRIDGE_SIMULATION_COMMAND_H
#define ROSBRIDGE_SIMULATION_COMMAND_H

#include "topics.h"

/* A topic_reader; the topic's user is its live_object. What the daemon refuses is told by a status later. */
bool simulation_command(peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]);

#endif
