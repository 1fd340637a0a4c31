/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: passes any bytes to the ROS gateway as a message of each of two peers, without a network or a daemon.
 * The first byte selects CBOR ('C') or JSON. The gateway answers or is silent, never fails, and sends only messages of
 * the protocol. Simulations and a stream exist as if the daemon had reported them; requests of the gateway to the
 * daemon are decoded and then refused.
 */
#include <math.h>

#include "gateway_bench.h"
#include "offers.h"
#include "target.h"
#include "topics.h"

/* Publishes one state of the simulation "s" and the torques of one point of the stream "p" to their subscribers. */
static void publish_events(gateway_bench *b) {
    static double time[1] = {0.5}, row[GATEWAY_NQ] = {1, -0.0, 3e-310, 1e308, NAN, INFINITY, 7, 8, 9};
    Dynamics__V1__Event event = DYNAMICS__V1__EVENT__INIT;
    Dynamics__V1__SimulationStateEvent state = DYNAMICS__V1__SIMULATION_STATE_EVENT__INIT;
    Dynamics__V1__StreamTorques torques = DYNAMICS__V1__STREAM_TORQUES__INIT;
    state.simulation = (char *)"s";
    state.n_time = 1;
    state.n_q = GATEWAY_NQ;
    state.n_v = state.n_tau = GATEWAY_NV;
    state.time = time;
    state.q = state.v = state.tau = row;
    event.event_case = DYNAMICS__V1__EVENT__EVENT_SIMULATION_STATE;
    event.simulation_state = &state;
    require(live_simulations_publish(&b->events.simulations, &event), "the simulation is known");
    torques.stream = (char *)"p";
    torques.n_time = 1;
    torques.n_tau = GATEWAY_NV;
    torques.time = time;
    torques.tau = row;
    event.event_case = DYNAMICS__V1__EVENT__EVENT_STREAM_TORQUES;
    event.stream_torques = &torques;
    require(live_streams_publish(&b->events.streams, &event), "the stream is known");
}

/* Creates a topic with a subscriber, a service, and a call that waits for the service's answer. */
static void set_up(gateway_bench *b) {
    gateway_bench_start(b);
    gateway_bench_send(b->other, "{\"op\":\"advertise_service\",\"service\":\"/s\",\"type\":\"a/B\"}");
    gateway_bench_send(
        b->other, "{\"op\":\"subscribe\",\"topic\":\"/t\",\"type\":\"sensor_msgs/JointState\",\"throttle_rate\":1}");
    gateway_bench_send(b->peer,
                       "{\"op\":\"advertise\",\"topic\":\"/t\",\"type\":\"sensor_msgs/JointState\",\"latch\":true}");
    gateway_bench_send(b->peer, "{\"op\":\"call_service\",\"id\":\"c\",\"service\":\"/s\",\"args\":{}}");
}

/* Removes and checks all queued messages of a peer. */
static void check_sent(peer *to) {
    for (json_t *message = gateway_bench_next(to); message; message = gateway_bench_next(to)) {
        json_decref(message);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static gateway_bench b;
    if (size == 0) {
        return 0;
    }
    set_up(&b);
    protocol_handle(b.peer, data + 1, size - 1, data[0] == 'C');
    protocol_handle(b.other, data + 1, size - 1, data[0] == 'C');
    publish_events(&b);
    offers_check(&b.bridge, monotonic_time() + 1e6);
    topics_flush(&b.bridge, monotonic_time() + 1);
    peer_check(b.peer, monotonic_time() + 100);
    check_sent(b.peer);
    check_sent(b.other);
    gateway_bench_stop(&b);
    return 0;
}
