/* SPDX-License-Identifier: BSD-2-Clause */
/* The blocks of all formulations and their descriptions. */
#include <string.h>

#include "classical.h"

static const dyn_formulation_block_traits rows[] = {
#define BLOCK(formulation, name, meaning, frame, unit, equation, dimensions, ...)                                      \
    {formulation, name, meaning, frame, unit, equation, dimensions, {__VA_ARGS__}},
#include "blocks.inc"
#undef BLOCK
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

int dyn_formulation_block_count(void) {
    return ROW_COUNT;
}

const dyn_formulation_block_traits *dyn_formulation_block_traits_at(int i) {
    return i >= 0 && i < ROW_COUNT ? &rows[i] : NULL;
}

const dyn_formulation_block_traits *dyn_formulation_find_block(const char *formulation, const char *name) {
    for (int i = 0; i < ROW_COUNT; i++) {
        bool is_shared = rows[i].formulation[0] == '\0';
        if ((is_shared || strcmp(rows[i].formulation, formulation) == 0) && strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}
