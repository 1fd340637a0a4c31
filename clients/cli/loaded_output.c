/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the result of the commands load and derive: the new model and its report.
 */
#include "loaded_output.h"

#include <stdio.h>
#include <stdlib.h>

#include "description_output.h"

static void write_loaded(const dyn_client_loaded_model *loaded) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "model");
    write_model(&writer, &loaded->model);
    emit_key(&writer, "already_loaded");
    emit_bool(&writer, loaded->already_loaded);
    emit_key(&writer, "report");
    write_report(&writer, loaded->report_count, loaded->report);
    emit_end_object(&writer);
    emit_finish(&writer);
}

/* Prints a line about the model, the warnings of its report, and the number of notes. */
static void print_loaded(const char *done, const dyn_client_loaded_model *loaded) {
    const dyn_client_model *model = &loaded->model;
    printf("%s: %s%s, %zu links, %zu moving joints, nq = %zu, nv = %zu, %g kg, %s base\n", model->name,
           loaded->already_loaded ? "was loaded already" : done, model->kept ? " and kept" : "", model->links,
           model->joints, model->nq, model->nv, model->mass,
           model->base == DYN_CLIENT_BASE_FLOATING ? "floating" : "fixed");
    print_report(loaded->report_count, loaded->report, false, model->name);
}

exit_code report_loaded(const arguments *args, const char *done, const Dynamics__V1__LoadedModel *from) {
    const Dynamics__V1__ModelSummary *model = from ? from->model : NULL;
    if (!model) {
        return complain(EXIT_FAILED, "the reply names no model");
    }
    dyn_client_report_entry *entries = calloc(from->n_report + 1, sizeof *entries);
    if (!entries) {
        return complain_memory();
    }
    for (size_t i = 0; i < from->n_report; i++) {
        entries[i] = (dyn_client_report_entry){.severity = (dyn_client_severity)from->report[i]->severity,
                                               .line = from->report[i]->line,
                                               .place = from->report[i]->place,
                                               .message = from->report[i]->message};
    }
    const dyn_client_loaded_model loaded = {.model = {.name = model->name,
                                                      .digest = model->digest,
                                                      .nq = model->nq,
                                                      .nv = model->nv,
                                                      .links = model->links,
                                                      .joints = model->joints,
                                                      .base = (dyn_client_base)model->base_type,
                                                      .mass = model->mass,
                                                      .source = model->source,
                                                      .loaded_by = model->loaded_by,
                                                      .kept = model->kept},
                                            .report_count = from->n_report,
                                            .report = entries,
                                            .already_loaded = from->already_loaded};
    if (args->value[OPTION_JSON]) {
        write_loaded(&loaded);
    } else {
        print_loaded(done, &loaded);
    }
    free(entries);
    return EXIT_OK;
}
