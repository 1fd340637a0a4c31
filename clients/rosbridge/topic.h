/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defines a topic with its publishers and its subscriptions.
 */
#ifndef ROSBRIDGE_TOPIC_H
#define ROSBRIDGE_TOPIC_H

#include "peer.h"

enum { TOPIC_NAME_SIZE = 256, TOPIC_ERROR_SIZE = 384 };

/* Options of one subscribe message. A peer may subscribe several times to a topic, with several ids. */
typedef struct subscribe_request {
    struct subscribe_request *next;
    json_t *id;      /* NULL: none */
    double throttle; /* s between messages */
    size_t queue_length;
    encoding encoding;
    bool is_bare; /* spelled without the leading slash */
} subscribe_request;

/* Subscription of one peer to one topic. It combines the peer's requests: the shortest throttle, the longest queue, the
 * smallest fragment, and the spelling of the name in the last request. */
typedef struct subscription {
    struct subscription *next;
    peer *peer;
    subscribe_request *requests;
    bool is_ros1; /* spelling of times */
    bool is_bare; /* spelling of the name */
    double throttle;
    size_t queue_length;
    encoding encoding;
    double next_time; /* monotonic: earliest time of the next message */
    json_t *queue;    /* messages that wait for next_time */
} subscription;

typedef struct publisher {
    struct publisher *next;
    peer *peer;
} publisher;

struct topic;

/* Function that reads a message which a peer published to one of the daemon's topics, and which matches the type of the
 * topic. Returns false and writes `error` on failure. */
typedef bool (*topic_reader)(peer *from, struct topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]);

typedef struct topic {
    struct topic *next;
    char name[TOPIC_NAME_SIZE];
    char type[TOPIC_NAME_SIZE]; /* "sensor_msgs/msg/JointState"; empty: not known */
    bool is_own;                /* topic of the daemon */
    topic_reader read;          /* reader of a topic of the daemon that accepts messages, else NULL */
    void *user;
    bool is_latching;
    json_t *last; /* last message of a latching topic */
    publisher *publishers;
    subscription *subscriptions;
} topic;

#endif
