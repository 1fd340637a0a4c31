/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles actions: every method of the daemon, and the actions that other peers offer. A goal is a call with feedback
 * that can be cancelled.
 */
#ifndef ROSBRIDGE_ACTIONS_H
#define ROSBRIDGE_ACTIONS_H

#include <dynamics/v1/rollout.pb-c.h>

#include "request.h"

/* Handles send_action_goal. Every goal is answered with an action_result. */
void action_goal(const request *from);

/* Handles cancel_action_goal. Refuses the message if this connection has no such goal. */
void action_cancel(const request *from);

/* Sends feedback {fraction, elapsed} to the client that sent the goal. */
void actions_progress(bridge *in, const Dynamics__V1__ProgressEvent *event);

/* Sends again the cancellations that arrived before the daemon had the request. Called periodically. */
void actions_check(bridge *in);

/* Cancels the goals of a peer. */
void actions_forget_peer(bridge *in, peer *gone);

#endif
