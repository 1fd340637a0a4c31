/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Object of the daemon with topics: a simulation or a stream. The gateway requests its joints and watches its topics
 * while a client reads or writes one of them.
 */
#ifndef ROSBRIDGE_LIVE_OBJECT_H
#define ROSBRIDGE_LIVE_OBJECT_H

#include "coordinates.h"
#include "event_reader.h"
#include "topics.h"

enum { LIVE_NAME_SIZE = 80, LIVE_DIGEST_SIZE = 96, LIVE_TOPICS = 8 };

/* Timeout of requests to the daemon, in s. */
extern const double LIVE_REQUEST_TIME;

struct held_message;

/* Embedded as the first member of a live_simulation or a live_stream; its address is the user of its topics. */
typedef struct live_object {
    struct live_object *next;
    bridge *bridge;
    event_reader *reader;
    const char *kind;    /* "simulation" or "stream" */
    uint64_t generation; /* number of the last list that named it */
    bool is_gone;        /* ended; freed after its last request */
    unsigned questions;  /* requests in progress */
    int64_t created;     /* the daemon's time of its creation; identifies it among objects of the same name */
    char name[LIVE_NAME_SIZE], digest[LIVE_DIGEST_SIZE];
    json_t *joint_names;                       /* order of its rows; empty: the model's own */
    coordinates coordinates;                   /* requested when a topic is used first */
    struct held_message *held;                 /* messages that wait for the coordinates, oldest first */
    topic *topics[LIVE_TOPICS];                /* open topics; NULL: none */
    bool is_watched, is_described, is_written; /* is_written: published to without advertising */
    int subscription;                          /* number at the reader; 0: none */
    char data_topic[LIVE_NAME_SIZE + 32], events_topic[LIVE_NAME_SIZE + 32];
    void (*on_free)(struct live_object *freed); /* may be NULL */
} live_object;

/* Initializes a zeroed block of malloc, which live_object_end frees. */
void live_object_init(live_object *made, bridge *in, event_reader *reader, const char *kind, const char *name,
                      const char *digest, size_t joint_count, char *const *joint_names);

/* Returns true if the topics of the object can be opened. A '-' in names becomes '_' in topics. If two names collide,
 * only the first object has topics, until it ends. */
bool live_object_is_free(bridge *in, const char *kind, const char *name);

/* Opens the topic /dynamics/KINDs/NAME/what and stores it in `topics` at index `place`. */
void live_object_open(live_object *of, int place, const char *what, const char *type, bool is_latching,
                      topic_reader read);

/* Opens a topic by its whole name and stores it in `topics` at index `place`. */
void live_object_open_as(live_object *of, int place, const char *name, const char *type, bool is_latching,
                         topic_reader read);

/* Requests the joints, and starts or stops watching, depending on the readers and writers of the topics. */
void live_object_check(live_object *checked);

/* Closes the topics of an object that ended. Frees it now, or after its last request. */
void live_object_end(live_object *ended);

/* Counts a request as answered. Returns true if the object has ended; it may be freed by now. */
bool live_object_answered(live_object *of);

live_object *live_object_find(live_object *first, const char *name);

/* Removes from the list that begins at `first`, and ends, all objects whose generation is another one: the last list of
 * the daemon did not name them. */
void live_object_sweep(live_object **first, uint64_t generation);

/* Holds a message for a topic_reader while the coordinates are not known. The reader receives the message again once
 * they are; a later error is reported by a status. Returns false and writes `error` if too many messages wait. */
bool live_object_hold(live_object *of, peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]);

/* Sets the joints of the object's model and reads the held messages, or drops them if the joints cannot be
 * determined. */
void live_object_learn(live_object *of, const Dynamics__V1__DescribeModelReply *model);

/* Returns rows as a JointState with the time as stamp. A part that is NULL becomes an empty array. */
json_t *live_object_joint_state(const live_object *of, double time, const double *q, const double *v,
                                const double *tau);

/* Returns true if a client subscribes to the topic. */
bool live_object_is_read(const live_object *of, int place);

/* Returns true if a subscriber of the topic would receive or queue a message now. */
bool live_object_is_due(const live_object *of, int place);

/* Publishes a message on the topic at index `place`, if it is open, and releases the message, which may be NULL. */
void live_object_publish(const live_object *of, int place, json_t *message);

#endif
