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

void dyn_results_store(void *const out[MAX_RESULTS], sample_block block, const results *r) {
    for (size_t i = 0; i < r->count; i++) {
        dyn_block_unpack(out[i], r->of[i].width, block, r->of[i].rows);
    }
}

dyn_status dyn_results_check(const dyn_workspace *workspace, size_t n, const results *r, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (size_t i = 0; i < r->count && status == DYN_OK; i++) {
        status = dyn_check_result(workspace, r->of[i].name, n, r->of[i].width, r->of[i].rows, error);
    }
    return status;
}
