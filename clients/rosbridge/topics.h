/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Topics: of the daemon, and of peers among themselves.
 *
 * Each subscriber receives messages at its own pace and in its own encoding. Each encoding is made once.
 */
#ifndef ROSBRIDGE_TOPICS_H
#define ROSBRIDGE_TOPICS_H

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

topic *topic_find(bridge *in, const char *name);

/* Opens an own topic: one that peers read, or write where `read` is not NULL. NULL when out of memory. */
topic *topic_open(bridge *in, const char *name, const char *type, bool is_latching, topic_reader read, void *user);
void topic_close(bridge *in, topic *closed);

/* Sends a message to all subscribers. Times are in the spelling of ROS 2; `message` is only read. */
void topic_publish(bridge *in, topic *to, json_t *message);

/* advertise, unadvertise: NULL, or a sentence about why not. */
const char *topic_advertise(peer *by, const char *name, const char *type, bool is_latching);
const char *topic_unadvertise(peer *by, const char *name);

/* publish: checks the message against its type. False: `error`. */
bool topic_take(peer *by, const char *name, json_t *message, char error[TOPIC_ERROR_SIZE]);

/* subscribe; takes `request`. unsubscribe: of one id, or of all (NULL). NULL, or a sentence. */
const char *topic_subscribe(peer *by, const char *name, const char *type, subscribe_request *request);
const char *topic_unsubscribe(peer *by, const char *name, const json_t *id);

/* Sends what waited for its time. Returns the time of the next one, or infinity. */
double topics_flush(bridge *in, double now);

void topics_forget_peer(bridge *in, peer *gone);

/* Offers all own topics to a server that was dialled. */
void topics_offer(peer *dialled);

void topics_close(bridge *in);

#endif
