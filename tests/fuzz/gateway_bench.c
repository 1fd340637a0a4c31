/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a gateway without a network or a daemon. */
#include "gateway_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "cbor_codec.h"
#include "offers.h"
#include "topics.h"

void require(bool holds, const char *property) {
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

void gateway_bench_send(peer *from, const char *line) {
    protocol_handle(from, line, strlen(line), false);
}

/* ---- simulations and streams of the daemon ----------------------------------------------------------------------- */

#define TEXT(text) ((char *)(uintptr_t)(text))

static void learn(live_object *object) {
    Dynamics__V1__Joint joints[3] = {DYNAMICS__V1__JOINT__INIT, DYNAMICS__V1__JOINT__INIT, DYNAMICS__V1__JOINT__INIT};
    Dynamics__V1__Joint *list[] = {&joints[0], &joints[1], &joints[2]};
    Dynamics__V1__JointCoordinates of_joints[3];
    Dynamics__V1__DescribeModelReply model = DYNAMICS__V1__DESCRIBE_MODEL_REPLY__INIT;
    static const char *const names[] = {"a", "b", "base"};
    static char *spelled[GATEWAY_NQ] = {"a",       "b",       "base[0]", "base[1]", "base[2]",
                                        "base[3]", "base[4]", "base[5]", "base[6]"};
    for (int i = 0; i < 3; i++) {
        joints[i].name = TEXT(names[i]);
        dynamics__v1__joint_coordinates__init(&of_joints[i]);
        of_joints[i].nq = i < 2 ? 1 : 7;
        of_joints[i].nv = i < 2 ? 1 : 6;
        joints[i].coordinates = &of_joints[i];
    }
    of_joints[1].q_index = 1;
    of_joints[2].q_index = 2;
    model.n_q_names = GATEWAY_NQ;
    model.q_names = spelled;
    model.n_joints = 3;
    model.joints = list;
    live_object_learn(object, &model);
}

static void begin_live(gateway_bench *b) {
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
    b->events.bridge = b->events.simulations.bridge = b->events.streams.bridge = &b->bridge;
    live_simulations_list(&b->events.simulations, &reply);
    live_streams_list(&b->events.streams, &streams);
    learn(live_object_find(b->events.simulations.first, "s"));
    learn(live_object_find(b->events.streams.first, "p"));
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void forget_peer(bridge *of, peer *gone) {
    topics_forget_peer(of, gone);
    offers_forget_peer(of, gone);
    actions_forget_peer(of, gone);
}

void gateway_bench_start(gateway_bench *b) {
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
}

json_t *gateway_bench_next(peer *to) {
    char error[CBOR_ERROR_SIZE];
    buffer *message = peer_next(to);
    if (!message) {
        return NULL;
    }
    json_t *read = message->is_binary ? cbor_decode_message(buffer_bytes(message), message->size, error)
                                      : json_loadb((const char *)buffer_bytes(message), message->size, 0, NULL);
    if (!json_is_string(json_object_get(read, "op"))) {
        fprintf(stderr, "sent: %.*s\n", (int)message->size, (const char *)buffer_bytes(message));
    }
    require(json_is_string(json_object_get(read, "op")), "what is sent is a message");
    buffer_release(message);
    return read;
}

void gateway_bench_stop(gateway_bench *b) {
    peer_remove(b->peer);
    peer_remove(b->other);
    live_simulations_stop(&b->events.simulations);
    live_streams_stop(&b->events.streams);
    topics_close(&b->bridge);
    require(!b->bridge.topics && !b->bridge.offers && !b->bridge.relays && !b->bridge.goals,
            "nothing is left of peers that have gone");
}
