/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulation of the daemon, with its waiting commands and wrenches.
 */
#ifndef ROSBRIDGE_LIVE_SIMULATION_H
#define ROSBRIDGE_LIVE_SIMULATION_H

#include "live_object.h"

/* Indices of a simulation's topics in live_object. */
enum {
    SIMULATION_STATE,
    SIMULATION_JOINT_STATES,
    SIMULATION_EVENTS,
    SIMULATION_COMMAND,
    SIMULATION_WRENCH,
    SIMULATION_TF,
    SIMULATION_TF_STATIC,
    SIMULATION_ROBOT_DESCRIPTION
};

struct command;
struct wrench;

/* Robot that viewers see: simulation_robot.h. */
typedef struct shown_robot {
    bool is_shown;            /* the topics are open */
    bool is_described;        /* the description was requested */
    bool is_followed;         /* the transforms were requested */
    bool failed[LIVE_TOPICS]; /* the topic has no messages, and its subscribers know the reason */
    double next_try;          /* monotonic: earliest time of the next request after a failure */
    bool is_requesting;       /* poses are being computed */
    bool is_state_requested;  /* the present state was requested */
    bool has_event;           /* a state was published since the last check or request */
    json_t *moving, *fixed;   /* pairs [parent, child] of links; NULL: not known yet */
    bool is_fixed_sent;       /* /tf_static has the transforms of this model */
    json_t *pose_q;           /* q of the state in the last request for poses */
    double pose_time;         /* simulated time of that state, s */
    json_t *waiting;          /* q of the newest state that waits for the request in progress; NULL: none */
    double waiting_time;
} shown_robot;

typedef struct live_simulation {
    live_object object;
    struct command *commands;        /* in order of arrival; the first is sent to the daemon */
    struct wrench *acting, *waiting; /* each link at most once in each list */
    struct wrench *requested;        /* wrench in the current request; NULL: none */
    shown_robot robot;
} live_simulation;

#endif
