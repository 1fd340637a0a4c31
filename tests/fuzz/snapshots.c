/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: restores a simulation from a snapshot with changes that any bytes describe. The service refuses it with
 * a reason, or creates a simulation that can be stepped, whose texts are printable and whose state is finite.
 */
#include <math.h>
#include <stdlib.h>

#include <dynamics/text.h>

#include "message_changes.h"
#include "methods/simulation_plan.h"
#include "recorded_run.h"
#include "target.h"

enum { MOST_CHANGES = 4, STEPS = 3, QUICK_SUBSTEPS = 100 };

/* Checks that the texts of a restored simulation are printable and that q is finite after STEPS steps. A simulation of
 * more than QUICK_SUBSTEPS substeps is not stepped, to save time. */
static void check(simulation *s) {
    require(dyn_text_is_printable(s->name) && dyn_text_is_printable(s->entry->name) &&
                dyn_text_is_printable(s->computed_with),
            "words are printable");
    simulation_lock(s);
    const Dynamics__V1__CreateSimulationRequest *options = session_of(s)->request;
    bool is_quick = options->stepping->substeps <= QUICK_SUBSTEPS;
    for (int i = 0; i < STEPS && is_quick && s->condition != SIMULATION_DIVERGED; i++) {
        simulation_step(s);
    }
    for (size_t i = 0; i < s->nq; i++) {
        require(isfinite(s->q[i]), "the state is finite");
    }
    simulation_unlock(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bench b;
    static recorded_run run;
    decisions d = {data, size};
    refusal why = {0};
    if (!b.service) {
        run_start(&b, &run);
    }
    Dynamics__V1__RecordingHeader *header = (Dynamics__V1__RecordingHeader *)run_message(&run, 0);
    for (size_t changes = size > 0 ? 1 + decide(&d, MOST_CHANGES) : 0; changes > 0; changes--) {
        change_message(&d, decide(&d, 4) ? &header->start->base : &header->description->base);
    }
    model_entry *entry = plan_restored_model(b.live, header->start, header->description, &why);
    simulation *s = entry ? plan_restored(b.live, header->start, entry, &why) : NULL;
    require(s || (why.reason != REASON_NONE && why.message[0] != '\0'), "what is refused has a reason");
    require(size > 0 || s, "a snapshot without changes is restored");
    if (s) {
        check(s);
    } else {
        require(dyn_text_is_printable(why.message) && why.reason != REASON_DEFECT, "words are printable");
    }
    simulation_release(s);
    model_entry_release(entry);
    dynamics__v1__recording_header__free_unpacked(header, NULL);
    return 0;
}
