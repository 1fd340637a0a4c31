/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: passes any bytes to the event loop of the ROS gateway as a message of a topic of the daemon. The gateway
 * counts it, cuts off no subscriber, and sends only messages of its protocol, with valid times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_queue.h"
#include "gateway_bench.h"
#include "target.h"
#include "topics.h"

static gateway_bench gateway;
static event_queue *queue;

static void start_gateway(void) {
    static const char *const topics[] = {"models",
                                         "simulations/s/state",
                                         "simulations/s/joint_states",
                                         "simulations/s/events",
                                         "streams/p/effort",
                                         "streams/p/torques",
                                         "streams/p/events"};
    char line[128];
    gateway_bench_start(&gateway);
    require(uv_loop_init(&gateway.loop) == 0, "there is a loop");
    gateway.events.models =
        topic_open(&gateway.bridge, "/dynamics/models", "dynamics_msgs/msg/ModelEvent", false, NULL, NULL);
    queue = event_queue_create(&gateway.bridge, event_topics_publish, &gateway.events);
    require(gateway.events.models && queue, "there is memory");
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        snprintf(line, sizeof line, "{\"op\":\"subscribe\",\"topic\":\"/dynamics/%s\"%s}", topics[i],
                 i % 2 ? ",\"compression\":\"cbor\"" : "");
        gateway_bench_send(gateway.peer, line);
    }
}

/* Checks the time in the header of a message. */
static void check_time(const json_t *message) {
    const json_t *header = json_object_get(json_object_get(message, "msg"), "header");
    const json_t *nanoseconds = json_object_get(json_object_get(header, "stamp"), "nanosec");
    json_int_t number = json_integer_value(nanoseconds);
    require(!header || (json_is_integer(nanoseconds) && number >= 0 && number < 1000000000), "a time is valid");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!queue) {
        start_gateway();
    }
    uint8_t *copy = malloc(size > 0 ? size : 1); /* a byte beyond the message is found */
    require(copy != NULL, "there is memory");
    if (size > 0) {
        memcpy(copy, data, size);
    }
    uint64_t before = gateway.bridge.metrics.counters[COUNTER_EVENTS];
    event_queue_put(queue, &(event_message){copy, size, copy, free});
    uv_run(&gateway.loop, UV_RUN_NOWAIT);
    require(gateway.bridge.metrics.counters[COUNTER_EVENTS] == before + 1, "the message is counted");
    require(!gateway.peer->is_cut, "no subscriber is cut off");
    for (json_t *sent = gateway_bench_next(gateway.peer); sent; sent = gateway_bench_next(gateway.peer)) {
        check_time(sent);
        json_decref(sent);
    }
    return 0;
}
