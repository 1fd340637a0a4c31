/* SPDX-License-Identifier: BSD-2-Clause */
/* ExportModel: writes a model as a description, as URDF, as screws, as C, or as formulas. */
#include <dynamics/dynamics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/description.h"
#include "methods/lookup.h"
#include "methods/methods.h"
#include "methods/summary.h"

/* Approximate cost of one link, ns. */
static const double LINK_COST = 2000;

/* Approximate cost of a run of dynamics-compile, ns. */
static const double GENERATION_COST = 1e8;

/* Most frames and functions of generated C. */
enum { MOST_FRAMES = 100, MOST_FUNCTIONS = 20 };

/* Writes the model as a URDF document in the call's memory. Returns NULL when the call has ended. */
static char *write_urdf(call *c, const dyn_model *model) {
    char *text;
    size_t length;
    dyn_error error;
    dyn_status status = dyn_urdf_write_model(model, &text, &length, &error);
    if (status != DYN_OK) {
        call_blame(c, "format");
        description_fail_element(c, &error);
        return NULL;
    }
    char *copy = call_string(c, text);
    dyn_text_free(text);
    return copy;
}

/* Finds the frame at which the screws end: the tip of the request, or else the last link. Returns false when the call
 * has ended. */
static bool find_tip(call *c, const model_entry *entry, int *tip) {
    const char *name = c->request->export_model->tip;
    refusal why;
    *tip = dyn_model_link_count(entry->model) - 1;
    if (name[0] == '\0' || lookup_frame(entry, REASON_FRAME_NOT_FOUND, "tip", name, tip, &why)) {
        return true;
    }
    call_refuse(c, &why);
    return false;
}

/* ---- generated text ---------------------------------------------------------------------------------------------- */

/* Returns the word "OPTION=a,b" in the call's memory, or NULL when the call has ended. */
static char *join_words(call *c, const char *option, size_t count, char *const *names) {
    size_t size = strlen(option) + 2;
    for (size_t i = 0; i < count; i++) {
        size += strlen(names[i]) + 1;
    }
    char *word = call_allocate(c, size, 1), *end = word;
    if (!word) {
        return NULL;
    }
    end = stpcpy(end, option);
    for (size_t i = 0; i < count; i++) {
        end = stpcpy(stpcpy(end, i == 0 ? "=" : ","), names[i]);
    }
    return word;
}

/* Checks the number of entries of a list, and that none has a comma, which separates entries on the command line. */
static bool check_list(call *c, const char *field, size_t count, size_t most, char *const *names) {
    if (count > most) {
        call_blame(c, "%s", field);
        call_fail(c, REASON_TOO_MANY_ENTRIES, "there are %zu entries; pass at most %zu", count, most);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (names[i][0] == '\0' || strchr(names[i], ',')) {
            call_blame(c, "%s[%zu]", field, i);
            call_fail(c, REASON_INVALID_VALUE, "the name \"%s\" is empty or has a comma; pass another one", names[i]);
            return false;
        }
    }
    return true;
}

/* Checks the members that C alone has. Returns false when the call has ended. */
static bool check_c_members(call *c, const model_entry *entry) {
    const Dynamics__V1__ExportModelRequest *r = c->request->export_model;
    refusal why;
    int frame;
    if (r->precision != DYNAMICS__V1__PRECISION__PRECISION_DOUBLE &&
        r->precision != DYNAMICS__V1__PRECISION__PRECISION_SINGLE) {
        call_blame(c, "precision");
        call_fail(c, REASON_UNKNOWN_VALUE, "precision is %d; pass DOUBLE (0) or SINGLE (1)", (int)r->precision);
        return false;
    }
    if (!check_list(c, "functions", r->n_functions, MOST_FUNCTIONS, r->functions) ||
        !check_list(c, "frames", r->n_frames, MOST_FRAMES, r->frames)) {
        return false;
    }
    for (size_t i = 0; i < r->n_frames; i++) {
        char field[32];
        snprintf(field, sizeof field, "frames[%zu]", i);
        if (!lookup_frame(entry, REASON_FRAME_NOT_FOUND, field, r->frames[i], &frame, &why)) {
            call_refuse(c, &why);
            return false;
        }
    }
    return true;
}

/* Ends the call with an error of the generator. */
static void fail_generation(call *c, generator_outcome outcome, size_t most, const char *reason) {
    static const char of_functions[] = "--functions";
    call_blame(c, strncmp(reason, of_functions, strlen(of_functions)) == 0 ? "functions" : "format");
    switch (outcome) {
    case GENERATOR_BUSY:
        call_fail(c, REASON_OVERLOADED, "dynamics-compile runs for another request; try again later");
        break;
    case GENERATOR_TOO_LARGE:
        call_fail(c, REASON_REPLY_TOO_LARGE,
                  "the text has more than %zu bytes, half of the limit (limits.reply_bytes): ask for fewer functions",
                  most);
        call_set_limit(c, BOUND_REPLY_BYTES, most * 2, 0);
        break;
    case GENERATOR_REFUSED:
        call_fail(c, REASON_UNKNOWN_VALUE, "%s", reason);
        break;
    case GENERATOR_MISSING:
        call_fail(c, REASON_NOT_CONFIGURED, "%s; install dynamics-compile, or set [compile] program", reason);
        break;
    default:
        call_fail(c, REASON_MODEL_UNSUITABLE, "%s", reason);
    }
}

static bool proceed(void *context) {
    return call_proceed(context, 0);
}

/* Returns the text of the model in C or formulas, in the call's memory. Returns NULL when the call has ended. */
static char *generate(call *c, const model_entry *entry) {
    const Dynamics__V1__ExportModelRequest *r = c->request->export_model;
    const size_t most = (size_t)atomic_load(&c->service->limits->reply_bytes) / 2;
    const char *words[5] = {NULL}, **next = words;
    char *text, reason[GENERATOR_REASON_SIZE] = "";
    if (r->format == DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_C) {
        if (!check_c_members(c, entry)) {
            return NULL;
        }
        if (r->n_functions > 0) {
            *next++ = join_words(c, "--functions", r->n_functions, r->functions);
        }
        if (r->n_frames > 0) {
            *next++ = join_words(c, "--frames", r->n_frames, r->frames);
        }
        if (r->precision == DYNAMICS__V1__PRECISION__PRECISION_SINGLE) {
            *next++ = "--precision=single";
        }
    } else {
        bool is_latex = r->format == DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_LATEX;
        *next++ = is_latex ? "--language=latex" : "--language=text";
    }
    if (call_has_ended(c)) {
        return NULL;
    }
    if (!c->service->generator) {
        fail_generation(c, GENERATOR_MISSING, most, "dynamics-compile is not found");
        return NULL;
    }
    generator_outcome outcome =
        generator_run(c->service->generator, entry->model, words, most, proceed, c, &text, reason);
    if (outcome != GENERATOR_DONE) {
        if (outcome != GENERATOR_STOPPED) {
            fail_generation(c, outcome, most, reason);
        }
        return NULL;
    }
    char *copy = call_string(c, text);
    free(text);
    return copy;
}

/* Returns whether dynamics-compile writes the format. */
static bool is_generated(Dynamics__V1__ModelFormat format) {
    return format == DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_C ||
           format == DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_FORMULAS ||
           format == DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_LATEX;
}

/* ---- the method -------------------------------------------------------------------------------------------------- */

/* Refuses members that only C has for another format. Returns false when the call has ended. */
static bool check_members(call *c) {
    const Dynamics__V1__ExportModelRequest *r = c->request->export_model;
    const char *unused = r->n_functions > 0  ? "functions"
                         : r->n_frames > 0   ? "frames"
                         : r->precision != 0 ? "precision"
                                             : NULL;
    if (!unused || r->format == DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_C) {
        return true;
    }
    call_blame(c, "%s", unused);
    call_fail(c, REASON_UNUSED_FIELD, "only MODEL_FORMAT_C uses this field; leave it out");
    return false;
}

/* Writes the model in the requested format into the reply, or ends the call. */
static void write_model(call *c, const model_entry *entry, Dynamics__V1__ExportModelReply *reply) {
    const Dynamics__V1__ExportModelRequest *r = c->request->export_model;
    int tip;
    switch (r->format) {
    case DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_DESCRIPTION:
        reply->form_case = DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_DESCRIPTION;
        reply->description = description_write(c, entry->model);
        break;
    case DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_URDF:
        reply->form_case = DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_URDF;
        reply->urdf = write_urdf(c, entry->model);
        break;
    case DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_SCREWS:
        reply->form_case = DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_SCREWS;
        reply->screws = find_tip(c, entry, &tip) ? description_write_screws(c, entry->model, tip) : NULL;
        break;
    case DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_C:
    case DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_FORMULAS:
    case DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_LATEX:
        reply->form_case = DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_TEXT;
        reply->text = generate(c, entry);
        break;
    default:
        call_blame(c, "format");
        call_fail(c, REASON_UNKNOWN_VALUE,
                  "format is %d; pass DESCRIPTION (1), URDF (2), SCREWS (3), C (4), FORMULAS (5) or LATEX (6)",
                  (int)r->format);
    }
}

void method_export_model(call *c) {
    model_entry *entry = check_members(c) ? call_find_model(c, c->request->export_model->model) : NULL;
    if (!entry) {
        return;
    }
    double cost = is_generated(c->request->export_model->format) ? GENERATION_COST : 0;
    if (!call_defer(c, cost + LINK_COST * dyn_model_link_count(entry->model))) {
        Dynamics__V1__ExportModelReply *reply = create_export_model_reply(c);
        if (reply) {
            call_set_model(c, entry);
            reply->model = summary_create(c, entry);
            write_model(c, entry, reply);
        }
    }
    model_entry_release(entry);
}
