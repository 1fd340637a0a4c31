/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A topic: its publishers and its subscriptions.
 */
#ifndef ROSBRIDGE_TOPIC_H
#define ROSBRIDGE_TOPIC_H

#include "peer.h"

enum { TOPIC_NAME_SIZE = 256, TOPIC_ERROR_SIZE = 384 };

/* Options of one subscribe. A peer may subscribe several times to a topic, under several ids. */
typedef struct subscribe_request {
    struct subscribe_request *next;
    json_t *id;      /* NULL: none */
    double throttle; /* s between messages */
    size_t queue_length;
    encoding encoding;
    bool is_bare; /* named without the leading slash */
} subscribe_request;

/* One peer's interest in one topic: the shortest throttle, longest queue, smallest fragment of its requests, and the
 * spelling of the last. */
typedef struct subscription {
    struct subscription *next;
    peer *peer;
    subscribe_request *requests;
    bool is_ros1; /* spelling of times */
    bool is_bare; /* spelling of the name */
    double throttle;
    size_t queue_length;
    encoding encoding;
    double next_time; /* monotonic: no message before it */
    json_t *queue;    /* messages that wait for that time */
} subscription;

typedef struct publisher {
    struct publisher *next;
    peer *peer;
} publisher;

struct topic;
/* A message of an own topic that peers publish to; it has passed the check of its type. A sentence about what is wrong
 * with it goes to `error`. */
typedef bool (*topic_reader)(peer *from, struct topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]);

typedef struct topic {
    struct topic *next;
    char name[TOPIC_NAME_SIZE];
    char type[TOPIC_NAME_SIZE]; /* "sensor_msgs/msg/JointState"; empty: not known */
    bool is_own;                /* of the daemon */
    topic_reader read;          /* of an own topic that takes messages, else NULL */
    void *user;
    bool is_latching;
    json_t *last; /* message of a latching topic */
    publisher *publishers;
    subscription *subscriptions;
} topic;

#endif
