/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actions: every method of the daemon, and what other peers offer. A goal is a call with feedback that can be
 * cancelled.
 */
#ifndef ROSBRIDGE_ACTIONS_H
#define ROSBRIDGE_ACTIONS_H

#include <dynamics/v1/rollout.pb-c.h>

#include "request.h"

/* send_action_goal: is answered with an action_result in every case; cancel_action_goal. */
void action_goal(const request *from);
void action_cancel(const request *from);

/* Tells the client whose goal it is how far it is: {fraction, elapsed}. */
void actions_progress(bridge *in, const Dynamics__V1__ProgressEvent *event);

/* To be called now and then: cancels again what was cancelled before the daemon had it. */
void actions_check(bridge *in);

/* Cancels the goals of a peer. */
void actions_forget_peer(bridge *in, peer *gone);

#endif
