/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes of a description: sentences about how it came about.
 */
#include <dynamics/description.h>

#include <stdlib.h>
#include <string.h>

#include <dynamics/text.h>

#include "description.h"
#include "error.h"

dyn_status dyn_builder_add_note(dyn_builder *builder, const char *note, dyn_error *error) {
    size_t length = strlen(note);
    if (length == 0 || length > DYN_MAX_NOTE || !dyn_text_is_printable(note)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "note",
                             "the note has %zu bytes%s; pass 1 to %d bytes of printable UTF-8", length,
                             dyn_text_is_printable(note) ? "" : ", not all printable", (int)DYN_MAX_NOTE);
    }
    if (builder->note_count >= DYN_MAX_NOTES) {
        return dyn_error_set(error, DYN_RESOURCE_EXHAUSTED, "note",
                             "a description has at most %d notes, and this is one more", (int)DYN_MAX_NOTES);
    }
    char *copy = strdup(note);
    if (!copy ||
        !builder_grow((void **)&builder->notes, builder->note_count, &builder->note_capacity, sizeof *builder->notes)) {
        free(copy);
        return dyn_error_memory(error);
    }
    builder->notes[builder->note_count++] = copy;
    return DYN_OK;
}

int dyn_builder_note_count(const dyn_builder *builder) {
    return builder->note_count;
}

const char *dyn_builder_note(const dyn_builder *builder, int note) {
    return note >= 0 && note < builder->note_count ? builder->notes[note] : NULL;
}

dyn_status builder_copy_notes(const dyn_builder *from, dyn_error *error, dyn_builder *to) {
    dyn_status status = DYN_OK;
    for (int i = 0; i < from->note_count && status == DYN_OK; i++) {
        status = dyn_builder_add_note(to, from->notes[i], error);
    }
    return status;
}

void builder_clear_notes(dyn_builder *builder) {
    for (int i = 0; i < builder->note_count; i++) {
        free(builder->notes[i]);
    }
    free(builder->notes);
}
