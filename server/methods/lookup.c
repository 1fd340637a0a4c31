/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds elements of a model that a request names. */
#include "methods/lookup.h"

#include "methods/text.h"

/* Refuses a name, and suggests the closest known one. `guess` has compared all known names. Returns false. */
static bool refuse_name(refusal *why, error_reason reason, const char *field, const model_entry *entry,
                        const char *kind, const text_guess *guess) {
    char quoted[TEXT_QUOTE_SIZE], hint[TEXT_HINT_SIZE];
    return refuse(why, reason, field, "model \"%s\" has no %s %s; %s", entry->name, kind,
                  text_quote(guess->wanted, quoted), text_guess_hint(guess, "DescribeModel lists them", hint));
}

bool lookup_frame(const model_entry *entry, error_reason missing, const char *field, const char *name, int *frame,
                  refusal *why) {
    dyn_error error;
    if (dyn_model_find_frame(entry->model, name, frame, &error) == DYN_OK) {
        return true;
    }
    text_guess guess = text_guess_start(name);
    for (int l = 0; l < dyn_model_link_count(entry->model); l++) {
        text_guess_consider(&guess, dyn_model_link(entry->model, l)->name);
    }
    return refuse_name(why, missing, field, entry, missing == REASON_LINK_NOT_FOUND ? "link" : "frame", &guess);
}

bool lookup_joint(const model_entry *entry, const char *field, const char *name, int *joint, refusal *why) {
    *joint = dyn_model_find_joint(entry->model, name);
    if (*joint >= 0) {
        return true;
    }
    text_guess guess = text_guess_start(name);
    for (int j = 0; j < dyn_model_joint_count(entry->model); j++) {
        text_guess_consider(&guess, dyn_model_joint(entry->model, j)->name);
    }
    return refuse_name(why, REASON_JOINT_NOT_FOUND, field, entry, "moving joint", &guess);
}
