/* SPDX-License-Identifier: BSD-2-Clause */
/* Events that the daemon publishes to its subscribers. */
#include "methods/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "observe/clock.h"

void events_publish(events *e, const char *topic, uint64_t sequence, Dynamics__V1__Event *event) {
    event->sequence = sequence;
    event->stamp_ns = clock_wall();
    event->instance = e->instance;
    size_t size = dynamics__v1__event__get_packed_size(event);
    uint8_t *bytes = malloc(size);
    if (bytes) {
        dynamics__v1__event__pack(event, bytes);
        transport_publish(e->transport, topic, bytes, size);
        free(bytes);
    }
}

void events_publish_progress(events *e, uint64_t sequence, const Dynamics__V1__ProgressEvent *progress) {
    Dynamics__V1__Event event = DYNAMICS__V1__EVENT__INIT;
    Dynamics__V1__ProgressEvent content = *progress;
    char topic[64];
    if (!e->transport) {
        return;
    }
    snprintf(topic, sizeof topic, "progress/%" PRIu64, content.number);
    event.event_case = DYNAMICS__V1__EVENT__EVENT_PROGRESS;
    event.progress = &content;
    events_publish(e, topic, sequence, &event);
}
