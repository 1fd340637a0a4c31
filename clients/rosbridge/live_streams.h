/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens topics for the streams of the daemon and publishes their events.
 */
#ifndef ROSBRIDGE_LIVE_STREAMS_H
#define ROSBRIDGE_LIVE_STREAMS_H

#include <dynamics/v1/event.pb-c.h>
#include <dynamics/v1/stream.pb-c.h>

#include "live_object.h"

/* Indices of a stream's topics in live_object. */
enum { STREAM_EFFORT, STREAM_TORQUES, STREAM_EVENTS, STREAM_TRAJECTORY };

typedef struct live_streams {
    bridge *bridge;
    event_reader *reader;
    live_object *first;  /* first member of a live_stream: stream_trajectory.h */
    uint64_t generation; /* number of the last list */
    bool is_requesting;
} live_streams;

/* Opens topics for new streams of a list, and closes those of streams that it does not contain. */
void live_streams_list(live_streams *of, const Dynamics__V1__ListStreamsReply *list);

/* Requests the list of streams. */
void live_streams_request(live_streams *of);

/* Watches streams whose topics are read and stops watching the others. */
void live_streams_check(live_streams *checked);

/* Publishes an event of a stream. Returns false for other events, and for a stream that is not known. */
bool live_streams_publish(live_streams *of, const Dynamics__V1__Event *event);

void live_streams_stop(live_streams *stopped);

#endif
