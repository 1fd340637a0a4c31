/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Object of the daemon with topics: a simulation or a stream. Its joints are requested, and its topics watched,
 * while somebody reads or writes a topic of it.
 */
#ifndef ROSBRIDGE_LIVE_OBJECT_H
#define ROSBRIDGE_LIVE_OBJECT_H

#include "coordinates.h"
#include "event_reader.h"
#include "topics.h"

enum { LIVE_NAME_SIZE = 80, LIVE_DIGEST_SIZE = 96, LIVE_TOPICS = 5 };

/* Seconds that the daemon has for an answer. */
extern const double LIVE_ASK_TIME;

struct held_message;

/* Embedded as the first member of a live_simulation or a live_stream; its address is the user of its topics. */
typedef struct live_object {
    struct live_object *next;
    bridge *bridge;
    event_reader *reader;
    const char *kind;    /* "simulation" or "stream" */
    uint64_t generation; /* of the last list that named it */
    bool is_gone;        /* waits for questions under way */
    unsigned questions;  /* under way */
    char name[LIVE_NAME_SIZE], digest[LIVE_DIGEST_SIZE];
    json_t *joint_names;                       /* order of its rows; empty: the model's own */
    coordinates coordinates;                   /* asked for when a topic is used first */
    struct held_message *held;                 /* messages that wait for them, in their order */
    topic *topics[LIVE_TOPICS];                /* open ones; NULL: none */
    bool is_watched, is_described, is_written; /* is_written: by somebody who need not have advertised */
    int address;
    char data_topic[LIVE_NAME_SIZE + 32], events_topic[LIVE_NAME_SIZE + 32];
    void (*on_free)(struct live_object *freed); /* may be NULL */
} live_object;

/* Fills in a block of zeros from malloc, which live_object_end frees. */
void live_object_init(live_object *made, bridge *in, event_reader *reader, const char *kind, const char *name,
                      const char *digest, size_t joint_count, char *const *joint_names);

/* Can its topics be opened? '-' of names becomes '_' in topics; of two with the same name then, only the one
 * that was there first has topics, until it ends. */
bool live_object_is_free(bridge *in, const char *kind, const char *name);

/* Opens the topic /dynamics/KINDs/NAME/what and keeps it in `place`. */
void live_object_open(live_object *of, int place, const char *what, const char *type, bool is_latching,
                      topic_reader read);

/* Asks for the joints, and watches or no longer does, by who reads and writes the topics. */
void live_object_check(live_object *checked);

/* It has ended: closes its topics; frees it now, or once the questions under way are answered. */
void live_object_end(live_object *ended);

/* A question under way is answered. True: the object has ended, and may be freed by now. */
bool live_object_answered(live_object *of);

live_object *live_object_find(live_object *first, const char *name);

/* After a list: ends all that it did not name. */
void live_object_sweep(live_object **first, uint64_t generation);

/* For a topic_reader while the coordinates are not known: holds the message, which the topic's reader is given again
 * once they are. What goes wrong then is told by a status. False: too many wait, as `error` says. */
bool live_object_hold(live_object *of, peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]);

/* Tells the joints of its model: reads what is held. */
void live_object_learn(live_object *of, const Dynamics__V1__DescribeModelReply *model);

/* Rows as a JointState with the time as stamp; NULL: a part that is not told. */
json_t *live_object_joint_state(const live_object *of, double time, const double *q, const double *v,
                                const double *tau);

/* Does anybody subscribe to the topic? */
bool live_object_is_read(const live_object *of, int place);

/* Publishes and gives back the reference to the message; both may be NULL. */
void live_object_publish(const live_object *of, int place, json_t *message);

#endif
