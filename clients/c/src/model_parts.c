/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts the parts that several replies about models have in common to the public form.
 */
#include "model_parts.h"

dyn_client_model to_model(const Dynamics__V1__ModelSummary *from) {
    if (!from) {
        return (dyn_client_model){.name = "", .digest = "", .source = "", .loaded_by = ""};
    }
    return (dyn_client_model){
        .name = from->name,
        .digest = from->digest,
        .nq = from->nq,
        .nv = from->nv,
        .links = from->links,
        .joints = from->joints,
        .base = (dyn_client_base)from->base_type,
        .mass = from->mass,
        .source = from->source,
        .loaded_by = from->loaded_by,
        .kept = from->kept,
        .constraints = from->constraints,
        .constraint_rows = from->constraint_rows,
        .machine_elements = from->machine_elements,
    };
}

void to_vector3(const Dynamics__V1__Vector3 *from, double vector[3]) {
    vector[0] = from ? from->x : 0;
    vector[1] = from ? from->y : 0;
    vector[2] = from ? from->z : 0;
}

void to_report(size_t count, Dynamics__V1__ReportEntry *const *from, dyn_client_report_entry *report) {
    for (size_t i = 0; i < count; i++) {
        report[i] = (dyn_client_report_entry){
            .severity = (dyn_client_severity)from[i]->severity,
            .line = from[i]->line,
            .place = from[i]->place,
            .message = from[i]->message,
        };
    }
}
