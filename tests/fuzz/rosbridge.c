/*
 * Any bytes as messages of a peer, without a network or a daemon: the first byte says whether they are JSON or CBOR.
 * The gateway answers or is silent, never fails, and what it sends is a message of the protocol.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cbor_codec.h"
#include "offers.h"
#include "protocol.h"
#include "target.h"
#include "topics.h"

/* The gateway with two peers; nothing is sent, calls to the daemon are refused. */
typedef struct bench {
    config config;
    uv_loop_t loop;
    bridge bridge;
    peer *peer, *other;
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
    protocol_take(from, line, strlen(line), false);
}

/* Something to be talked about: a topic, a subscription, a service and a call that waits. */
static void set_up(bench *b) {
    memset(b, 0, sizeof *b);
    config_init(&b->config);
    b->config.message_bytes = 1 << 20;
    b->bridge.config = &b->config;
    b->bridge.loop = &b->loop;
    b->peer = peer_add(&b->bridge, "fuzz");
    b->other = peer_add(&b->bridge, "other");
    require(b->peer != NULL && b->other != NULL, "there is memory for peers");
    send_line(b->other, "{\"op\":\"advertise_service\",\"service\":\"/s\",\"type\":\"a/B\"}");
    send_line(b->other,
              "{\"op\":\"subscribe\",\"topic\":\"/t\",\"type\":\"sensor_msgs/JointState\",\"throttle_rate\":1}");
    send_line(b->peer, "{\"op\":\"advertise\",\"topic\":\"/t\",\"type\":\"sensor_msgs/JointState\",\"latch\":true}");
    send_line(b->peer, "{\"op\":\"call_service\",\"id\":\"c\",\"service\":\"/s\",\"args\":{}}");
}

/* What waits to be sent is JSON or CBOR with an "op". */
static void check_sent(peer *to) {
    char error[CBOR_ERROR_SIZE];
    for (buffer *message = peer_next(to); message != NULL; message = peer_next(to)) {
        json_t *read = message->is_binary ? cbor_decode_message(buffer_bytes(message), message->size, error)
                                          : json_loadb((const char *)buffer_bytes(message), message->size, 0, NULL);
        if (!json_is_string(json_object_get(read, "op")))
            fprintf(stderr, "sent: %.*s\n", (int)message->size, (const char *)buffer_bytes(message));
        require(json_is_string(json_object_get(read, "op")), "what is sent is a message");
        json_decref(read);
        buffer_release(message);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bench b;
    if (size == 0)
        return 0;
    set_up(&b);
    protocol_take(b.peer, data + 1, size - 1, data[0] == 'C');
    protocol_take(b.other, data + 1, size - 1, data[0] == 'C');
    offers_check(&b.bridge, monotonic_time() + 1e6);
    topics_flush(&b.bridge, monotonic_time() + 1);
    peer_check(b.peer, monotonic_time() + 100);
    check_sent(b.peer);
    check_sent(b.other);
    peer_remove(b.peer);
    peer_remove(b.other);
    topics_close(&b.bridge);
    require(b.bridge.topics == NULL && b.bridge.offers == NULL && b.bridge.relays == NULL && b.bridge.goals == NULL,
            "nothing is left of peers that have gone");
    return 0;
}
