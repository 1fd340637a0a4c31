/* SPDX-License-Identifier: BSD-2-Clause */
#include "body_couplings.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COUPLINGS_OF_A_BODY = 8 };

/* Symmetric relation between the bodies: related[i * count + j] for i > j. */
typedef struct relation {
    int count;
    unsigned char *related;
} relation;

static void relate(const relation *r, int i, int j) {
    if (i >= 0 && j >= 0 && i != j) {
        r->related[(size_t)(i > j ? i : j) * (size_t)r->count + (size_t)(i > j ? j : i)] = 1;
    }
}

static int body_of_coordinate(const dyn_model *model, int v_index) {
    int i = model->body_count - 1;
    while (i >= 0 &&
           !(model->bodies[i].v_index <= v_index && v_index < model->bodies[i].v_index + model->bodies[i].nv)) {
        i--;
    }
    return i;
}

/* Computes the bodies that the rows of a closure act on. */
static void find_bodies(const dyn_model *model, const closure *c, int *bodies) {
    for (int k = 0; k < CLOSURE_BODIES; k++) {
        bodies[k] = -1;
    }
    for (int k = 0; k < c->coordinate_count; k++) {
        bodies[2 * k] = body_of_coordinate(model, c->v_index[k]);
        bodies[2 * k + 1] = model->bodies[bodies[2 * k]].parent;
    }
    for (int side = 0; side < 2 && c->kind != CLOSURE_COUPLING; side++) {
        bodies[side] = c->links[side] < 0 ? -1 : model->frames[c->links[side]].body;
    }
}

/* Relates the bodies that elimination from the last body to the first couples. Returns the number of pairs. */
static int close_relation(const dyn_model *model, const relation *r) {
    int pairs = 0;
    for (int i = r->count - 1; i >= 0; i--) {
        const unsigned char *own = r->related + (size_t)i * (size_t)r->count;
        for (int j = 0; j < i; j++) {
            if (own[j]) {
                relate(r, model->bodies[i].parent, j);
                pairs++;
            }
            for (int k = 0; k < j && own[j]; k++) {
                if (own[k]) {
                    relate(r, j, k);
                }
            }
        }
    }
    return pairs;
}

/* Returns whether constrained articulated bodies compute the rows of a closure: not those of polynomials, of prescribed
 * motions and of couplings with more than two coordinates, and no forces of a loop joint. */
static bool is_held_by_bodies(const closure *c) {
    bool has_forces = c->forces.damping != 0 || c->forces.friction != 0 || c->forces.effort != 0;
    bool has_room = 2 * c->coordinate_count <= CLOSURE_BODIES;
    return c->kind != CLOSURE_POLYNOMIAL && c->kind != CLOSURE_PRESCRIBED && has_room && !has_forces;
}

/* Computes the relation of the bodies, which the caller frees. Returns the number of pairs, or -1. */
static int find_relation(const dyn_model *model, relation *r) {
    r->count = model->body_count;
    r->related = NULL;
    if (model->constraint_rows == 0 || model->has_coupling || model->body_count == 0) {
        return -1;
    }
    for (int c = 0; c < model->constraint_count; c++) {
        if (!is_held_by_bodies(&model->closures[c])) {
            return -1;
        }
    }
    r->related = calloc((size_t)r->count, (size_t)r->count);
    for (int c = 0; c < model->constraint_count && r->related; c++) {
        int bodies[CLOSURE_BODIES];
        find_bodies(model, &model->closures[c], bodies);
        for (int e = 0; e < CLOSURE_BODIES; e++) {
            for (int f = 0; f < e; f++) {
                relate(r, bodies[e], bodies[f]);
            }
        }
    }
    return r->related ? close_relation(model, r) : -1;
}

int dyn_count_couplings(const dyn_model *model) {
    relation r;
    int pairs = find_relation(model, &r);
    free(r.related);
    return pairs <= MOST_COUPLINGS_OF_A_BODY * model->body_count ? pairs : -1;
}

bool dyn_find_couplings(const dyn_model *model, body_couplings *couplings) {
    relation r;
    int n = model->body_count, at = 0;
    if (find_relation(model, &r) < 0) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        couplings->first[i] = at;
        for (int j = 0; j < i; j++) {
            if (r.related[(size_t)i * (size_t)n + (size_t)j]) {
                couplings->with[at++] = j;
            }
        }
    }
    couplings->first[n] = couplings->count = at;
    for (int c = 0; c < model->constraint_count; c++) {
        find_bodies(model, &model->closures[c], couplings->bodies[c]);
    }
    free(r.related);
    return true;
}
