/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulation of the daemon, with its waiting commands and wrenches.
 */
#ifndef ROSBRIDGE_LIVE_SIMULATION_H
#define ROSBRIDGE_LIVE_SIMULATION_H

#include "live_object.h"

/* Places of its topics. */
enum { SIMULATION_STATE, SIMULATION_JOINT_STATES, SIMULATION_EVENTS, SIMULATION_COMMAND, SIMULATION_WRENCH };

struct command;
struct wrench;

typedef struct live_simulation {
    live_object object;
    struct command *commands;        /* in order of arrival; the first is sent to the daemon */
    struct wrench *acting, *waiting; /* each link at most once in each list */
    struct wrench *asked;            /* wrench in the current request; NULL: none */
} live_simulation;

#endif
