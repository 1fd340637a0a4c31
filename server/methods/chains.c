/* SPDX-License-Identifier: BSD-2-Clause */
/* Serial chains: conversion of Denavit-Hartenberg tables and screws to a builder, and of models to screws. */
#include <stdio.h>
#include <string.h>

#include "methods/description.h"
#include "methods/error_path.h"
#include "methods/geometry.h"

/* ---- Denavit-Hartenberg tables ----------------------------------------------------------------------------------- */

static bool read_row(call *c, size_t k, const Dynamics__V1__DenavitHartenbergRow *from, dyn_dh_row *row) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "denavit_hartenberg.rows[%zu].inertia", k);
    *row = (dyn_dh_row){.type = description_joint_type(from->type),
                        .theta = from->theta,
                        .d = from->d,
                        .a = from->a,
                        .alpha = from->alpha,
                        .damping = from->damping,
                        .friction = from->friction};
    description_read_limits(from->limits, &row->has_limits, &row->limits);
    return geometry_read_inertia(c, path, from->inertia, &row->inertia);
}

static bool read_convention(call *c, Dynamics__V1__DenavitHartenbergConvention wire, dyn_dh_convention *convention) {
    switch (wire) {
    case DYNAMICS__V1__DENAVIT_HARTENBERG_CONVENTION__DENAVIT_HARTENBERG_CONVENTION_STANDARD:
        *convention = DYN_DH_CONVENTION_STANDARD;
        return true;
    case DYNAMICS__V1__DENAVIT_HARTENBERG_CONVENTION__DENAVIT_HARTENBERG_CONVENTION_MODIFIED:
        *convention = DYN_DH_CONVENTION_MODIFIED;
        return true;
    default:
        call_blame(c, "denavit_hartenberg.convention");
        call_fail(c, REASON_UNKNOWN_VALUE, "the convention is %d; pass STANDARD (1) or MODIFIED (2)", (int)wire);
        return false;
    }
}

void description_fail_table(call *c, const dyn_error *error) {
    const dyn_error_site *site = &error->site;
    char path[ERROR_PATH_SIZE];
    if (site->argument) {
        call_blame(c, "denavit_hartenberg.%s", error_path(site, site->argument, path));
    } else if (site->element.row > 0) {
        call_blame(c, "denavit_hartenberg.rows[%d]", site->element.row - 1);
    } else {
        call_blame(c, "denavit_hartenberg");
    }
    call_fail_library(c, error);
}

bool description_read_table(call *c, const Dynamics__V1__DenavitHartenbergTable *from, dyn_builder **builder) {
    dyn_error error;
    *builder = NULL;
    if (from->n_rows == 0 || from->n_rows > MOST_CHAIN_JOINTS) {
        call_blame(c, "denavit_hartenberg.rows");
        call_fail(c, from->n_rows ? REASON_TOO_MANY_ENTRIES : REASON_MISSING_VALUE,
                  "there are %zu rows; pass from 1 to %d", from->n_rows, MOST_CHAIN_JOINTS);
        if (from->n_rows > 0) {
            call_set_limit(c, BOUND_CHAIN_JOINTS, MOST_CHAIN_JOINTS, from->n_rows);
        }
        return false;
    }
    dyn_dh_convention convention;
    if (!read_convention(c, from->convention, &convention)) {
        return false;
    }
    dyn_dh_row *rows = call_allocate(c, from->n_rows, sizeof *rows);
    for (size_t k = 0; rows && k < from->n_rows; k++) {
        if (!read_row(c, k, from->rows[k], &rows[k])) {
            return false;
        }
    }
    if (!rows) {
        return false;
    }
    dyn_status status = dyn_dh_describe(from->name, convention, (int)from->n_rows, rows, builder, &error);
    if (status != DYN_OK) {
        description_fail_table(c, &error);
    }
    return status == DYN_OK;
}

/* ---- screws ------------------------------------------------------------------------------------------------------ */

/* Returns the field of ScrewChain for a parameter of the library. */
static const char *screws_field(const char *argument) {
    static const char *const lists[][2] = {{"Mlist", "mlist"}, {"Glist", "glist"}, {"Slist", "slist"}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(argument, lists[i][0]) == 0) {
            return lists[i][1];
        }
    }
    return argument;
}

/* Sets the field before it ends the call: errors about the inertia of a link belong to glist, those about the axis of a
 * joint to slist. */
void description_fail_screws(call *c, const dyn_error *error) {
    const dyn_error_site *site = &error->site;
    char path[ERROR_PATH_SIZE];
    if (site->argument) {
        call_blame(c, "screws.%s", error_path(site, screws_field(site->argument), path));
    } else if (site->element.row > 0) {
        const char *list = site->element.kind == DYN_ELEMENT_KIND_LINK ? "glist" : "slist";
        call_blame(c, "screws.%s[%d]", list, site->element.row - 1);
    } else {
        call_blame(c, "screws");
    }
    call_fail_library(c, error);
}

static bool check_count(call *c, const char *name, size_t count, size_t wanted, size_t n) {
    if (count == wanted) {
        return true;
    }
    call_blame(c, "screws.%s", name);
    call_fail(c, REASON_WRONG_COUNT, "there are %zu numbers; %zu joint%s need%s %zu", count, n, n == 1 ? "" : "s",
              n == 1 ? "s" : "", wanted);
    return false;
}

bool description_read_screws(call *c, const Dynamics__V1__ScrewChain *from, dyn_builder **builder) {
    dyn_error error;
    size_t n = from->n_slist / 6;
    *builder = NULL;
    if (n == 0 || from->n_slist % 6 != 0) {
        call_blame(c, "screws.slist");
        call_fail(c, REASON_WRONG_COUNT, "there are %zu numbers; pass 6 x n, one column for each of n joints",
                  from->n_slist);
        return false;
    }
    if (n > MOST_CHAIN_JOINTS) {
        call_blame(c, "screws.slist");
        call_fail(c, REASON_TOO_MANY_ENTRIES, "there are %zu joints; pass at most %d", n, MOST_CHAIN_JOINTS);
        call_set_limit(c, BOUND_CHAIN_JOINTS, MOST_CHAIN_JOINTS, n);
        return false;
    }
    if (!check_count(c, "mlist", from->n_mlist, 16 * (n + 1), n) ||
        !check_count(c, "glist", from->n_glist, 36 * n, n)) {
        return false;
    }
    dyn_status status = dyn_screws_describe(from->name, (int)n, from->mlist, from->glist, from->slist, builder, &error);
    if (status != DYN_OK) {
        description_fail_screws(c, &error);
    }
    return status == DYN_OK;
}

Dynamics__V1__ScrewChain *description_write_screws(call *c, const dyn_model *model, int tip) {
    dyn_error error;
    size_t n = (size_t)dyn_model_nv(model);
    Dynamics__V1__ScrewChain *to = call_allocate(c, 1, sizeof *to);
    double *M = call_allocate(c, 16 * (n + 1), sizeof *M), *G = call_allocate(c, 36 * n, sizeof *G);
    double *S = call_allocate(c, 6 * n, sizeof *S);
    if (call_has_ended(c)) {
        return NULL;
    }
    dyn_status status = dyn_model_screws(model, tip, M, G, S, &error);
    if (status != DYN_OK) {
        call_blame(c, "%s", error.site.argument ? error.site.argument : "format");
        description_fail_element(c, &error);
        return NULL;
    }
    dynamics__v1__screw_chain__init(to);
    to->name = call_string(c, dyn_model_name(model));
    to->n_mlist = 16 * (n + 1);
    to->mlist = M;
    to->n_glist = 36 * n;
    to->glist = G;
    to->n_slist = 6 * n;
    to->slist = S;
    return to;
}
