/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishes the robot of a simulation for viewers such as RViz and Foxglove, which read three topics with fixed names:
 *
 *   /tf                 transforms of the links that move, in the frames of their parents, for each published state
 *   /tf_static          transforms of the links that do not move in the frames of their parents; latched
 *   /robot_description  URDF of the model; latched
 *
 * Frames have the names of links. The root link is fixed in the frame "world", or moves in it if it floats. The daemon
 * computes the poses (Evaluate). At most one request of a simulation is in progress, so that a slow daemon lowers the
 * rate of /tf: states between are left out, the last one never is. Events can be lost, for example while the gateway
 * connects to them; without events the state is requested at each check, and published if it has changed.
 */
#ifndef ROSBRIDGE_SIMULATION_ROBOT_H
#define ROSBRIDGE_SIMULATION_ROBOT_H

#include <dynamics/v1/simulation.pb-c.h>

#include "live_simulation.h"

/* Opens the topics, unless a client publishes to one of them or another simulation has them. */
void simulation_robot_show(live_simulation *of);

/* Requests what the subscribers of the topics need. Called periodically. */
void simulation_robot_check(live_simulation *checked);

/* Requests the poses of the last state of an event if /tf or /tf_static is read, to publish its transforms. */
void simulation_robot_publish(live_simulation *of, const Dynamics__V1__SimulationStateEvent *event);

void simulation_robot_free(live_simulation *freed);

#endif
