/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: passes any bytes to the ROS gateway as a message of each of two peers, without a network or a daemon.
 * The first byte selects CBOR ('C') or JSON. The gateway answers or is silent, never fails, and sends only messages of
 * the protocol. Simulations and a stream exist as if the daemon had reported them; requests of the gateway to the
 * daemon are decoded and then refused.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "cbor_codec.h"
#include "live_simulations.h"
#include "live_streams.h"
#include "offers.h"
#include "protocol.h"
#include "target.h"
#include "topics.h"

/* Gateway with two peers, whose messages remain in their queues. Calls to the daemon are refused. */
typedef struct bench {
    config config;
    uv_loop_t loop;
    bridge bridge;
    peer *peer, *other;
    live_simulations simulations;
    live_streams streams;
} bench;

static void require(bool holds, const char *property) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", property);
        abort();
    }
}

void bridge_log(const bridge *of, const char *format, ...) {
    (void)of, (void)format;
}

void bridge_flush_at(bridge *of, double time) {
    (void)of, (void)time;
}

static void send_line(peer *from, const char *line) {
    protocol_handle(from, line, strlen(line), false);
}

/* ---- simulations and streams of the daemon ----------------------------------------------------------------------- */

#define TEXT(text) ((char *)(uintptr_t)(text))

enum { NQ = 9, NV = 8 }; /* "a", "b", "base[0]" .. "base[6]" */

static void learn(live_object *object) {
    Dynamics__V1__Joint joints[3] = {DYNAMICS__V1__JOINT__INIT, DYNAMICS__V1__JOINT__INIT, DYNAMICS__V1__JOINT__INIT};
    Dynamics__V1__Joint *list[] = {&joints[0], &joints[1], &joints[2]};
    Dynamics__V1__JointCoordinates of_joints[3];
    Dynamics__V1__DescribeModelReply model = DYNAMICS__V1__DESCRIBE_MODEL_REPLY__INIT;
    static const char *const names[] = {"a", "b", "base"};
    static char *spelled[NQ] = {"a", "b", "base[0]", "base[1]", "base[2]", "base[3]", "base[4]", "base[5]", "base[6]"};
    for (int i = 0; i < 3; i++) {
        joints[i].name = TEXT(names[i]);
        dynamics__v1__joint_coordinates__init(&of_joints[i]);
        of_joints[i].nq = i < 2 ? 1 : 7;
        of_joints[i].nv = i < 2 ? 1 : 6;
        joints[i].coordinates = &of_joints[i];
    }
    of_joints[1].q_index = 1;
    of_joints[2].q_index = 2;
    model.n_q_names = NQ;
    model.q_names = spelled;
    model.n_joints = 3;
    model.joints = list;
    live_object_learn(object, &model);
}

/* Creates the simulations "s" and "unknown", whose joints cannot be found, and the stream "p". */
static void begin_live(bench *b) {
    Dynamics__V1__SimulationSummary simulations[2] = {DYNAMICS__V1__SIMULATION_SUMMARY__INIT,
                                                      DYNAMICS__V1__SIMULATION_SUMMARY__INIT};
    Dynamics__V1__SimulationSummary *simulation_list[] = {&simulations[0], &simulations[1]};
    Dynamics__V1__ListSimulationsReply reply = DYNAMICS__V1__LIST_SIMULATIONS_REPLY__INIT;
    Dynamics__V1__StreamSummary stream = DYNAMICS__V1__STREAM_SUMMARY__INIT, *stream_list[] = {&stream};
    Dynamics__V1__ListStreamsReply streams = DYNAMICS__V1__LIST_STREAMS_REPLY__INIT;
    simulations[0].name = TEXT("unknown");
    simulations[1].name = TEXT("s");
    reply.n_simulations = 2;
    reply.simulations = simulation_list;
    stream.name = TEXT("p");
    stream.kind = DYNAMICS__V1__STREAM_KIND__STREAM_KIND_FEEDFORWARD;
    streams.n_streams = 1;
    streams.streams = stream_list;
    b->simulations.bridge = b->streams.bridge = &b->bridge;
    live_simulations_list(&b->simulations, &reply);
    live_streams_list(&b->streams, &streams);
    learn(live_object_find(b->simulations.first, "s"));
    learn(live_object_find(b->streams.first, "p"));
}

/* Publishes one state of the simulation "s" and the torques of one point of the stream "p" to their subscribers. */
static void publish_events(bench *b) {
    static double time[1] = {0.5}, row[NQ] = {1, -0.0, 3e-310, 1e308, NAN, INFINITY, 7, 8, 9};
    Dynamics__V1__Event event = DYNAMICS__V1__EVENT__INIT;
    Dynamics__V1__SimulationStateEvent state = DYNAMICS__V1__SIMULATION_STATE_EVENT__INIT;
    Dynamics__V1__StreamTorques torques = DYNAMICS__V1__STREAM_TORQUES__INIT;
    state.simulation = TEXT("s");
    state.n_time = 1;
    state.n_q = NQ;
    state.n_v = state.n_tau = NV;
    state.time = time;
    state.q = state.v = state.tau = row;
    event.event_case = DYNAMICS__V1__EVENT__EVENT_SIMULATION_STATE;
    event.simulation_state = &state;
    require(live_simulations_publish(&b->simulations, &event), "the simulation is known");
    torques.stream = TEXT("p");
    torques.n_time = 1;
    torques.n_tau = NV;
    torques.time = time;
    torques.tau = row;
    event.event_case = DYNAMICS__V1__EVENT__EVENT_STREAM_TORQUES;
    event.stream_torques = &torques;
    require(live_streams_publish(&b->streams, &event), "the stream is known");
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void forget_peer(bridge *of, peer *gone) {
    topics_forget_peer(of, gone);
    offers_forget_peer(of, gone);
    actions_forget_peer(of, gone);
}

/* Creates a gateway with two peers, live simulations and a stream, a topic with a subscriber, a service, and a call
 * that waits for the service's answer. */
static void set_up(bench *b) {
    memset(b, 0, sizeof *b);
    config_init(&b->config);
    b->config.message_bytes = 1 << 20;
    b->bridge.config = &b->config;
    b->bridge.loop = &b->loop;
    b->bridge.forget_peer = forget_peer;
    b->peer = peer_add(&b->bridge, "fuzz");
    b->other = peer_add(&b->bridge, "other");
    require(b->peer && b->other != NULL, "there is memory for peers");
    begin_live(b);
    send_line(b->other, "{\"op\":\"advertise_service\",\"service\":\"/s\",\"type\":\"a/B\"}");
    send_line(b->other,
              "{\"op\":\"subscribe\",\"topic\":\"/t\",\"type\":\"sensor_msgs/JointState\",\"throttle_rate\":1}");
    send_line(b->peer, "{\"op\":\"advertise\",\"topic\":\"/t\",\"type\":\"sensor_msgs/JointState\",\"latch\":true}");
    send_line(b->peer, "{\"op\":\"call_service\",\"id\":\"c\",\"service\":\"/s\",\"args\":{}}");
}

/* Removes all queued messages of a peer, and checks that each is JSON or CBOR with a text "op". */
static void check_sent(peer *to) {
    char error[CBOR_ERROR_SIZE];
    for (buffer *message = peer_next(to); message; message = peer_next(to)) {
        json_t *read = message->is_binary ? cbor_decode_message(buffer_bytes(message), message->size, error)
                                          : json_loadb((const char *)buffer_bytes(message), message->size, 0, NULL);
        if (!json_is_string(json_object_get(read, "op"))) {
            fprintf(stderr, "sent: %.*s\n", (int)message->size, (const char *)buffer_bytes(message));
        }
        require(json_is_string(json_object_get(read, "op")), "what is sent is a message");
        json_decref(read);
        buffer_release(message);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bench b;
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
    peer_remove(b.peer);
    peer_remove(b.other);
    live_simulations_stop(&b.simulations);
    live_streams_stop(&b.streams);
    topics_close(&b.bridge);
    require(!b.bridge.topics && !b.bridge.offers && !b.bridge.relays && !b.bridge.goals,
            "nothing is left of peers that have gone");
    return 0;
}
