/* SPDX-License-Identifier: BSD-2-Clause */
#include "shaft_load.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../model/description.h"
#include "../model/error.h"
#include "../model/linear_system.h"
#include "../model/normal_form.h"

/* Shafts with motors that share coordinates. */
typedef struct coupled_shafts {
    int count, elements[DYN_MAX_SHAFT_JOINTS];
    shaft_rates rates[DYN_MAX_SHAFT_JOINTS];
    int coordinate_count, coordinates[DYN_MAX_SHAFT_JOINTS];
} coupled_shafts;

/* Finds the rates of a machine element that is a shaft with a motor. Returns false for others, and for a shaft that
 * does not turn. */
static bool find_driven(const dyn_model *model, int element, shaft_rates *rates) {
    const dyn_machine_element_description *e = &model->description->machine_elements[element];
    return e->kind == DYN_MACHINE_ELEMENT_KIND_SHAFT && e->shaft.has_motor && dyn_shaft_rates(model, &e->shaft, rates);
}

static int find_coordinate(const coupled_shafts *c, int coordinate) {
    int at = 0;
    while (at < c->coordinate_count && c->coordinates[at] != coordinate) {
        at++;
    }
    return at;
}

/* Adds a shaft and its coordinates. Returns false where there are too many. */
static bool couple(int element, const shaft_rates *rates, coupled_shafts *c) {
    if (c->count == DYN_MAX_SHAFT_JOINTS) {
        return false;
    }
    for (int k = 0; k < rates->count; k++) {
        int at = find_coordinate(c, rates->coordinates[k]);
        if (at == DYN_MAX_SHAFT_JOINTS) {
            return false;
        }
        c->coordinates[at] = rates->coordinates[k];
        c->coordinate_count += at == c->coordinate_count;
    }
    c->elements[c->count] = element;
    c->rates[c->count++] = *rates;
    return true;
}

/* Returns whether a shaft, which is not coupled yet, shares a coordinate with those that are. */
static bool shares_coordinate(int element, const shaft_rates *rates, const coupled_shafts *c) {
    bool shares = false;
    for (int k = 0; k < c->count; k++) {
        if (c->elements[k] == element) {
            return false;
        }
    }
    for (int k = 0; k < rates->count; k++) {
        shares = shares || find_coordinate(c, rates->coordinates[k]) < c->coordinate_count;
    }
    return shares;
}

/* Finds the shafts that share coordinates with the first one. Returns false where there are too many. */
static bool find_coupled(const dyn_model *model, coupled_shafts *c) {
    bool fits = true, grows = true;
    while (fits && grows) {
        grows = false;
        for (int i = 0; i < dyn_machine_elements(model) && fits; i++) {
            shaft_rates rates;
            if (find_driven(model, i, &rates) && shares_coordinate(i, &rates, c)) {
                fits = couple(i, &rates, c);
                grows = true;
            }
        }
    }
    return fits;
}

/* Lists all coordinates of the coupled shafts for one of them, with their rates. */
static shaft_rates spread(const coupled_shafts *c, const shaft_rates *own) {
    shaft_rates all = {.count = c->coordinate_count};
    memcpy(all.coordinates, c->coordinates, sizeof all.coordinates);
    for (int k = 0; k < own->count; k++) {
        all.rates[find_coordinate(c, own->coordinates[k])] += own->rates[k];
    }
    return all;
}

/* Finds the first row of G'^-1 from the equations G' T = tau, with rows scaled to a largest entry of one. Returns false
 * where G is singular. */
static bool find_shares(const coupled_shafts *c, double shares[DYN_MAX_SHAFT_JOINTS]) {
    enum { MOST = DYN_MAX_SHAFT_JOINTS };
    double K[MOST * MOST], B[MOST * MOST] = {0}, X[MOST * MOST];
    int order[MOST], n = c->count;
    for (int j = 0; j < n; j++) {
        const shaft_rates row = spread(c, &c->rates[j]);
        for (int i = 0; i < n; i++) {
            K[i * n + j] = row.rates[i];
        }
    }
    for (int i = 0; i < n; i++) {
        double most = 0;
        for (int j = 0; j < n; j++) {
            most = fmax(most, fabs(K[i * n + j]));
        }
        for (int j = 0; j < n; j++) {
            K[i * n + j] = most > 0 ? K[i * n + j] / most : 0;
        }
        B[i * n + i] = most > 0 ? 1 / most : 0;
    }
    const linear_system system = {n, n, n, K, B, order};
    bool is_regular = linear_solve(&system, X);
    if (is_regular) {
        memcpy(shares, X, (size_t)n * sizeof *X);
    }
    return is_regular;
}

static dyn_status refuse(const dyn_model *model, int element, const char *reason, dyn_error *error) {
    char place[320];
    snprintf(place, sizeof place, "machine element %s", model->description->machine_elements[element].name);
    return dyn_error_set(error, DYN_FAILED_PRECONDITION, place, "%s", reason);
}

dyn_status dyn_shaft_load(const dyn_model *model, int element, shaft_load *load, dyn_error *error) {
    coupled_shafts c = {0};
    shaft_rates own = {0};
    char reason[256];
    *load = (shaft_load){0};
    if (!find_driven(model, element, &own) || !couple(element, &own, &c) || !find_coupled(model, &c)) {
        return refuse(model, element, "more than 8 coordinates or motors share its shaft", error);
    }
    load->at = spread(&c, &own);
    if (c.coordinate_count != c.count) {
        snprintf(reason, sizeof reason,
                 "%d motors drive the %d coordinates that share its shaft; the motion determines their torques where "
                 "they are as many",
                 c.count, c.coordinate_count);
        return refuse(model, element, reason, error);
    }
    if (!find_shares(&c, load->shares)) {
        snprintf(reason, sizeof reason,
                 "the matrix of the ratios of the %d motors that share its coordinates is singular; correct the ratios",
                 c.count);
        return refuse(model, element, reason, error);
    }
    return DYN_OK;
}

double dyn_shaft_torque(const shaft_load *load, const double *tau) {
    double sum = 0;
    for (int k = 0; k < load->at.count; k++) {
        sum += load->shares[k] * tau[load->at.coordinates[k]];
    }
    return sum;
}
