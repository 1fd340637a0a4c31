/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encodes messages for the subscribers of a topic, and sends or queues them by the throttle of each.
 */
#include "publication.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "cbor_codec.h"
#include "ros_serialize.h"
#include "ros_time.h"

/* Encodings of one message. Each is made when the first subscriber needs it; fragments are made for one subscriber. */
typedef struct publication {
    const topic *topic;
    json_t *message;
    buffer_list encoded[2][2][4]; /* by spelling of times, spelling of the name, and compression */
} publication;

static const char *spelled_name(const publication *of, const subscription *to) {
    return of->topic->name + to->is_bare;
}

/* Encodes for cbor-raw: the bytes of ROS's own serialization, and the time. */
static bool encode_raw(const publication *of, const subscription *to, buffer_list *list) {
    size_t size;
    uint8_t *bytes =
        ros_serialize(of->topic->type, of->message, to->is_ros1 ? ROS_SERIALIZE_ROS1 : ROS_SERIALIZE_CDR, &size);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    bool encoded =
        bytes && buffer_list_add(list, cbor_encode_raw(spelled_name(of, to), now.tv_sec, now.tv_nsec, bytes, size));
    free(bytes);
    return encoded;
}

/* Encodes the message with the envelope of publish. */
static bool encode(const publication *of, const subscription *to, buffer_list *list) {
    if (to->encoding.compression == COMPRESSION_CBOR_RAW) {
        return encode_raw(of, to, list);
    }
    json_t *message = to->is_ros1 ? ros_time_to_ros1(of->message) : json_incref(of->message);
    json_t *envelope = json_pack("{ss ss so}", "op", "publish", "topic", spelled_name(of, to), "msg", message);
    bool encoded = envelope && encode_message(envelope, NULL, &to->encoding, list);
    json_decref(envelope);
    return encoded;
}

static void deliver(publication *of, subscription *to) {
    if (to->peer->is_cut) {
        return;
    }
    buffer_list own = {0}, *messages = &own;
    bool is_shared = to->encoding.fragment_size == 0 || to->encoding.compression >= COMPRESSION_CBOR;
    if (is_shared) {
        messages = &of->encoded[to->is_ros1][to->is_bare][to->encoding.compression];
    }
    bool encoded = messages->count > 0 || encode(of, to, messages);
    for (size_t i = 0; encoded && i < messages->count; i++) {
        size_t limit = to->queue_length * messages->count;
        outbox_add_data(&to->peer->outbox, buffer_share(messages->items[i]), to, limit);
    }
    buffer_list_free(&own);
    to->next_time = monotonic_time() + to->throttle;
    if (to->peer->wake) {
        to->peer->wake(to->peer);
    }
}

static void release(publication *released) {
    for (int spelling = 0; spelling < 4; spelling++) {
        for (int kind = 0; kind < 4; kind++) {
            buffer_list_free(&released->encoded[spelling / 2][spelling % 2][kind]);
        }
    }
}

void publication_send_one(const topic *of, subscription *to, json_t *message) {
    publication one = {.topic = of, .message = message};
    deliver(&one, to);
    release(&one);
}

/* Queues a message for later and drops the oldest one beyond the queue's length. Without a queue the message is
 * dropped. */
static void wait(subscription *of, json_t *message) {
    if (of->queue_length == 0) {
        return;
    }
    if (json_array_size(of->queue) >= of->queue_length) {
        json_array_remove(of->queue, 0);
    }
    json_array_append(of->queue, message);
}

void topic_publish(bridge *in, topic *to, json_t *message) {
    if (!message) {
        return;
    }
    publication all = {.topic = to, .message = message};
    double now = monotonic_time();
    if (to->is_latching) {
        json_decref(to->last);
        to->last = json_incref(message);
    }
    for (subscription *each = to->subscriptions; each; each = each->next) {
        if (now < each->next_time || json_array_size(each->queue) > 0) {
            wait(each, message);
            bridge_flush_at(in, each->next_time);
        } else {
            deliver(&all, each);
        }
    }
    release(&all);
}

double topics_flush(bridge *in, double now) {
    double next = INFINITY;
    for (topic *each = in->topics; each; each = each->next) {
        for (subscription *to = each->subscriptions; to; to = to->next) {
            if (json_array_size(to->queue) == 0) {
                continue;
            }
            if (now >= to->next_time) {
                publication_send_one(each, to, json_array_get(to->queue, 0));
                json_array_remove(to->queue, 0);
            }
            if (json_array_size(to->queue) > 0) {
                next = fmin(next, to->next_time);
            }
        }
    }
    return next;
}
