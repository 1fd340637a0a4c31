/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes of an identified model: from which record, by which estimator and how well it was identified. */
#include "methods/identification_notes.h"

#include <dynamics/description.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Largest number of notes of one identification, and room at the end of a note for the count of what is left out. */
enum { MOST_NOTES = 8, ROOM = 32 };

/* A note: a beginning and a list of items, of which those that do not fit are counted. */
typedef struct note {
    char text[DYN_MAX_NOTE + 1];
    size_t length, items, left_out;
} note;

/* Notes of one identification. */
typedef struct note_list {
    call *call;
    size_t count;
    char *notes[MOST_NOTES];
} note_list;

__attribute__((format(printf, 2, 3))) static void begin(note *n, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(n->text, sizeof n->text - ROOM, format, list);
    va_end(list);
    n->length = strlen(n->text);
    n->items = n->left_out = 0;
}

__attribute__((format(printf, 2, 3))) static void add_item(note *n, const char *format, ...) {
    char item[DYN_MAX_NAME + 64];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(item, sizeof item, format, list);
    va_end(list);
    if (length < 0 || n->length + (size_t)length + 2 + ROOM > DYN_MAX_NOTE) {
        n->left_out++;
        return;
    }
    n->length +=
        (size_t)snprintf(n->text + n->length, sizeof n->text - n->length, "%s%s", n->items > 0 ? ", " : " ", item);
    n->items++;
}

static void finish(note_list *all, note *n) {
    if (n->left_out > 0) {
        snprintf(n->text + n->length, sizeof n->text - n->length, " and %zu more", n->left_out);
    }
    all->notes[all->count++] = call_string(all->call, n->text);
}

/* ---- what the notes say ------------------------------------------------------------------------------------------ */

static void add_source(note_list *all, note *n, const batch *b, const dyn_identification_options *o, uint64_t rows) {
    static const char *const estimators[] = {"ordinary least squares", "weighted least squares",
                                             "weighted least squares with Huber's weights", "total least squares"};
    begin(n, "it was identified from %llu rows by %s, with a prior of weight %g; source: model %s, %.19s",
          (unsigned long long)rows, estimators[o->estimator], o->prior, b->entry->name, b->entry->digest);
    finish(all, n);
}

static void add_sought(note_list *all, note *n, const Dynamics__V1__IdentifyRequest *r) {
    if (r->drives_only) {
        begin(n, "no inertia was sought, only the drives");
    } else if (r->payload_link[0]) {
        begin(n, "the inertia of a payload was sought, on link");
        add_item(n, "%s", r->payload_link);
    } else if (r->n_links > 0) {
        begin(n, "the inertias of some links were sought:");
        for (size_t i = 0; i < r->n_links; i++) {
            add_item(n, "%s", r->links[i]);
        }
    } else {
        begin(n, "the inertias of all bodies were sought");
    }
    finish(all, n);
}

/* Notes the bodies and joints of which the motion does not determine all estimates. Estimates of one element are
 * neighbours in the reply, those of a body apart from those of the drive. */
static void add_unexcited(note_list *all, note *n, const Dynamics__V1__IdentifyReply *reply) {
    begin(n, "the motion does not determine all estimates of");
    for (size_t i = 0, next; i < reply->n_estimates; i = next) {
        const char *element = reply->estimates[i]->element;
        size_t missing = 0;
        for (next = i; next < reply->n_estimates && strcmp(reply->estimates[next]->element, element) == 0; next++) {
            missing += !reply->estimates[next]->is_excited;
        }
        if (missing > 0) {
            add_item(n, "%s (%zu of %zu)", element, missing, next - i);
        }
    }
    if (n->items > 0) {
        finish(all, n);
    }
}

static void add_residuals(note_list *all, note *n, const Dynamics__V1__IdentifyReply *reply) {
    begin(n, "root mean square residual of each joint, N m or N:");
    for (size_t k = 0; k < reply->n_fits; k++) {
        add_item(n, "%s %.3g", reply->fits[k]->joint, reply->fits[k]->consistent_residual);
    }
    finish(all, n);
    begin(n, "rows left out, with saturated torques (at the effort limit, or where the drive cuts off):");
    for (size_t k = 0; k < reply->n_fits; k++) {
        if (reply->fits[k]->saturated > 0) {
            add_item(n, "%s %llu", reply->fits[k]->joint, (unsigned long long)reply->fits[k]->saturated);
        }
    }
    if (n->items > 0) {
        finish(all, n);
    }
}

static void add_priors(note_list *all, note *n, const Dynamics__V1__IdentifyReply *reply) {
    begin(n, "a small inertia was the prior, since no body has that of the source, of");
    for (size_t i = 0; i < reply->n_replaced_priors; i++) {
        add_item(n, "%s", reply->replaced_priors[i]);
    }
    if (n->items > 0) {
        finish(all, n);
    }
}

/* Appends the notes to those of the description, of which the last ones stay. */
static void append(const note_list *all, Dynamics__V1__ModelDescription *to) {
    size_t most = DYN_MAX_NOTES - all->count, old = to->n_notes < most ? to->n_notes : most;
    char **notes = call_allocate(all->call, old + all->count, sizeof *notes);
    if (notes) {
        for (size_t i = 0; i < old; i++) {
            notes[i] = to->notes[to->n_notes - old + i];
        }
        memcpy(notes + old, all->notes, all->count * sizeof *notes);
        to->notes = notes;
        to->n_notes = old + all->count;
    }
}

void identification_notes_add(const batch *b, const dyn_identification_options *options,
                              Dynamics__V1__IdentifyReply *reply) {
    note_list all = {.call = b->call};
    note n;
    add_source(&all, &n, b, options, reply->rows);
    add_sought(&all, &n, b->call->request->identify);
    begin(&n, "the motion excites %u directions of %zu estimates, with a condition number of %.4g",
          (unsigned)reply->rank, reply->n_estimates, reply->condition);
    finish(&all, &n);
    add_unexcited(&all, &n, reply);
    add_residuals(&all, &n, reply);
    add_priors(&all, &n, reply);
    if (!call_has_ended(b->call)) {
        append(&all, reply->description);
    }
}
