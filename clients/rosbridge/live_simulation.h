/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulation of the daemon, with the commands and wrenches that wait for it.
 */
#ifndef ROSBRIDGE_LIVE_SIMULATION_H
#define ROSBRIDGE_LIVE_SIMULATION_H

#include "live_object.h"

/* Its topics, by their places. */
enum { SIMULATION_STATE, SIMULATION_JOINT_STATES, SIMULATION_EVENTS, SIMULATION_COMMAND, SIMULATION_WRENCH };

struct command;
struct wrench;

typedef struct live_simulation {
    live_object object;
    struct command *commands;        /* in their order; the daemon is asked to take the first */
    struct wrench *acting, *waiting; /* each link once in each list */
    struct wrench *asked;            /* that the daemon is asked to set; NULL: none */
} live_simulation;

#endif
