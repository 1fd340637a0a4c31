/* SPDX-License-Identifier: BSD-2-Clause */
#include "results.h"

#include "arguments.h"

size_t dyn_results_width(const results *r) {
    size_t width = 0;
    for (size_t i = 0; i < r->count; i++) {
        width += r->of[i].width;
    }
    return width;
}

void dyn_results_find(const dyn_workspace *workspace, const results *r, sample_block block, void *out[MAX_RESULTS]) {
    size_t offset = 0;
    for (size_t i = 0; i < r->count; i++) {
        out[i] = dyn_block_output_at(workspace, offset, r->of[i].rows, r->of[i].width, block);
        offset += r->of[i].width;
    }
}

dyn_status dyn_result_store(const dyn_workspace *workspace, const void *out, sample_block block, result r,
                            dyn_error *error) {
    if (dyn_block_unpack(out, r.width, block, r.rows)) {
        return DYN_OK;
    }
    return dyn_check_result(workspace, r.name, block.first + block.count, r.width, r.rows, error);
}

dyn_status dyn_results_store(const dyn_workspace *workspace, void *const out[MAX_RESULTS], sample_block block,
                             const results *r, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (size_t i = 0; i < r->count && status == DYN_OK; i++) {
        if (r->of[i].rows) {
            status = dyn_result_store(workspace, out[i], block, r->of[i], error);
        }
    }
    return status;
}
