/* SPDX-License-Identifier: BSD-2-Clause */
/* Events that the daemon publishes to its subscribers. */
#include "methods/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "methods/summary.h"
#include "observe/clock.h"

static void publish(events *e, const char *topic, const Dynamics__V1__Event *event) {
    size_t size = dynamics__v1__event__get_packed_size(event);
    uint8_t *bytes = malloc(size);
    if (bytes) {
        dynamics__v1__event__pack(event, bytes);
        transport_publish(e->transport, topic, bytes, size);
        free(bytes);
    }
}

static Dynamics__V1__ModelEvent__Change wire_change(model_change change) {
    switch (change) {
    case MODEL_LOADED:
        return DYNAMICS__V1__MODEL_EVENT__CHANGE__CHANGE_LOADED;
    case MODEL_UNLOADED:
        return DYNAMICS__V1__MODEL_EVENT__CHANGE__CHANGE_UNLOADED;
    case MODEL_REPLACED:
        break;
    }
    return DYNAMICS__V1__MODEL_EVENT__CHANGE__CHANGE_REPLACED;
}

void events_on_model_change(void *context, model_change change, const model_entry *entry) {
    events *e = context;
    Dynamics__V1__Event event = DYNAMICS__V1__EVENT__INIT;
    Dynamics__V1__ModelEvent model = DYNAMICS__V1__MODEL_EVENT__INIT;
    Dynamics__V1__ModelSummary summary;
    if (!e->transport) {
        return;
    }
    summary_fill(entry, &summary);
    model.change = wire_change(change);
    model.model = &summary;
    event.sequence = ++e->model_sequence;
    event.stamp_ns = clock_wall();
    event.instance = e->instance;
    event.event_case = DYNAMICS__V1__EVENT__EVENT_MODEL;
    event.model = &model;
    publish(e, "models", &event);
}

void events_tell_progress(events *e, uint64_t sequence, const Dynamics__V1__ProgressEvent *progress) {
    Dynamics__V1__Event event = DYNAMICS__V1__EVENT__INIT;
    Dynamics__V1__ProgressEvent content = *progress;
    char topic[64];
    if (!e->transport) {
        return;
    }
    snprintf(topic, sizeof topic, "progress/%" PRIu64, content.number);
    event.sequence = sequence;
    event.stamp_ns = clock_wall();
    event.instance = e->instance;
    event.event_case = DYNAMICS__V1__EVENT__EVENT_PROGRESS;
    event.progress = &content;
    publish(e, topic, &event);
}
