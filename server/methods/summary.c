/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of messages about a model that several methods and events send: summary and load report. */
#include "methods/summary.h"

#include "methods/description.h"

void summary_fill(const model_entry *entry, Dynamics__V1__ModelSummary *summary) {
    dynamics__v1__model_summary__init(summary);
    summary->name = (char *)(uintptr_t)entry->name;
    summary->digest = (char *)(uintptr_t)entry->digest;
    summary->source = entry->source;
    summary->nq = (uint32_t)dyn_model_nq(entry->model);
    summary->nv = (uint32_t)dyn_model_nv(entry->model);
    summary->links = (uint32_t)dyn_model_link_count(entry->model);
    summary->joints = (uint32_t)dyn_model_joint_count(entry->model);
    summary->constraints = (uint32_t)dyn_model_constraint_count(entry->model);
    summary->machine_elements = (uint32_t)dyn_model_machine_element_count(entry->model);
    summary->constraint_rows = (uint32_t)dyn_model_constraint_rows(entry->model);
    summary->base_type =
        description_write_base(dyn_model_is_floating(entry->model) ? DYN_BASE_FLOATING : DYN_BASE_FIXED);
    summary->mass = dyn_model_mass(entry->model);
    summary->kept = atomic_load(&entry->is_persistent);
    summary->loaded_by = (char *)(uintptr_t)entry->loaded_by;
    summary->belongs_to = (char *)(uintptr_t)entry->belongs_to;
}

Dynamics__V1__ModelSummary *summary_create(call *c, const model_entry *entry) {
    Dynamics__V1__ModelSummary *summary = call_allocate(c, 1, sizeof *summary);
    if (summary) {
        summary_fill(entry, summary);
        summary->name = call_string(c, summary->name);
        summary->digest = call_string(c, summary->digest);
        summary->source = call_string(c, summary->source);
        summary->loaded_by = call_string(c, summary->loaded_by);
        summary->belongs_to = call_string(c, summary->belongs_to);
    }
    return summary;
}

static Dynamics__V1__ReportEntry *create_report_entry(call *c, const dyn_report_entry *from) {
    Dynamics__V1__ReportEntry *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__report_entry__init(to);
        to->severity = from->severity == DYN_SEVERITY_WARNING ? DYNAMICS__V1__REPORT_SEVERITY__REPORT_SEVERITY_WARNING
                                                              : DYNAMICS__V1__REPORT_SEVERITY__REPORT_SEVERITY_NOTE;
        to->line = from->line > 0 ? (uint32_t)from->line : 0;
        to->place = call_string(c, from->place);
        to->message = call_string(c, from->message);
    }
    return to;
}

Dynamics__V1__ReportEntry **summary_report(call *c, const model_entry *entry, size_t *count) {
    *count = 0;
    size_t total = dyn_report_count(entry->report);
    Dynamics__V1__ReportEntry **report = call_allocate(c, total, sizeof(Dynamics__V1__ReportEntry *));
    for (size_t i = 0; report && i < total; i++) {
        dyn_report_entry from = dyn_report_at(entry->report, i);
        report[i] = create_report_entry(c, &from);
        if (!report[i]) {
            return NULL;
        }
        *count = i + 1;
    }
    return report;
}

Dynamics__V1__LoadedModel *summary_loaded(call *c, const model_entry *entry, bool was_present) {
    Dynamics__V1__LoadedModel *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__loaded_model__init(to);
        to->model = summary_create(c, entry);
        to->report = summary_report(c, entry, &to->n_report);
        to->already_loaded = was_present;
        call_set_model(c, entry);
    }
    return to;
}
