/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The streams of the daemon as topics.
 */
#ifndef ROSBRIDGE_LIVE_STREAMS_H
#define ROSBRIDGE_LIVE_STREAMS_H

#include <dynamics/v1/event.pb-c.h>
#include <dynamics/v1/stream.pb-c.h>

#include "live_object.h"

/* Its topics, by their places. */
enum { STREAM_EFFORT, STREAM_TORQUES, STREAM_EVENTS, STREAM_TRAJECTORY };

typedef struct live_streams {
    bridge *bridge;
    event_reader *reader;
    live_object *first;  /* each the beginning of a live_stream: stream_trajectory.h */
    uint64_t generation; /* of lists of streams */
    bool is_asking;
} live_streams;

/* Opens topics of what is new in a list, and closes those of what is not in it any more. */
void live_streams_list(live_streams *of, const Dynamics__V1__ListStreamsReply *list);

/* Asks for the list of streams. */
void live_streams_ask(live_streams *of);

/* Watches streams whose topics are read, and no longer those whose topics are not. */
void live_streams_check(live_streams *checked);

/* An event of a stream; false: it is of none that is known. */
bool live_streams_take(live_streams *of, const Dynamics__V1__Event *event);

void live_streams_stop(live_streams *stopped);

#endif
