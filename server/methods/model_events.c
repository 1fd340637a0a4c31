/* SPDX-License-Identifier: BSD-2-Clause */
/* Publishes events about changes of the loaded models. */
#include "methods/model_events.h"

#include "methods/events.h"
#include "methods/summary.h"

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

void model_events_on_change(void *context, model_change change, const model_entry *entry) {
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
    event.event_case = DYNAMICS__V1__EVENT__EVENT_MODEL;
    event.model = &model;
    events_publish(e, "models", ++e->model_sequence, &event);
}
