/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the daemon for its health, and keeps the answer for the pages. */
#include "daemon_watch.h"

#include <dynamics/v1/server.pb-c.h>
#include <stdio.h>

#include "calls.h"
#include "printable.h"

/* Seconds between two questions, and seconds within which the daemon must answer. */
static const double INTERVAL = 1, ANSWER_TIME = 2;

static void on_health(bridge *of, void *user, const ProtobufCMessage *result, const char *reason) {
    const Dynamics__V1__GetHealthReply *health = (const Dynamics__V1__GetHealthReply *)(const void *)result;
    bool was_well = of->daemon.is_well;
    (void)user;
    of->daemon.is_asked = false;
    of->daemon.is_well = health && health->state != DYNAMICS__V1__HEALTH_STATE__HEALTH_STATE_NOT_SERVING;
    printable_text(health ? "a component of the daemon is not serving" : reason, of->daemon.problem,
                   sizeof of->daemon.problem);
    of->metrics.gauges[GAUGE_DAEMON_REACHED] = of->daemon.is_well;
    if (!of->daemon.is_well && was_well && !of->stops) {
        bridge_report("the daemon does not serve: %s", of->daemon.problem);
    } else if (of->daemon.is_well && !was_well && of->daemon.was_reached) {
        bridge_report("the daemon serves again");
    }
    of->daemon.was_reached = of->daemon.was_reached || of->daemon.is_well;
}

void daemon_watch_check(bridge *of, double now) {
    if (of->daemon.is_asked || now < of->daemon.next_question) {
        return;
    }
    of->daemon.is_asked = true;
    of->daemon.next_question = now + INTERVAL;
    call_send(of, "/dynamics/get_health", NULL, ANSWER_TIME, on_health, NULL);
}
