/* SPDX-License-Identifier: BSD-2-Clause */
#include "ur5_screws.h"

#include <string.h>

#include <dynamics/builder.h>
#include <dynamics/screws.h>

#include "assertions.h"

const double ur5_M[7 * 16] = {
    1, 0, 0, 0,    0, 1, 0, 0,       0,  0,  1, 0.089159, 0, 0, 0, 1, /**/
    0, 0, 1, 0.28, 0, 1, 0, 0.13585, -1, 0,  0, 0,        0, 0, 0, 1, /**/
    1, 0, 0, 0,    0, 1, 0, -0.1197, 0,  0,  1, 0.395,    0, 0, 0, 1, /**/
    0, 0, 1, 0,    0, 1, 0, 0,       -1, 0,  0, 0.14225,  0, 0, 0, 1, /**/
    1, 0, 0, 0,    0, 1, 0, 0.093,   0,  0,  1, 0,        0, 0, 0, 1, /**/
    1, 0, 0, 0,    0, 1, 0, 0,       0,  0,  1, 0.09465,  0, 0, 0, 1, /**/
    1, 0, 0, 0,    0, 0, 1, 0.0823,  0,  -1, 0, 0,        0, 0, 0, 1,
};
const double ur5_inertia[6][6] = {
    {0.010267495893, 0.010267495893, 0.00666, 3.7, 3.7, 3.7},
    {0.22689067591, 0.22689067591, 0.0151074, 8.393, 8.393, 8.393},
    {0.049443313556, 0.049443313556, 0.004095, 2.275, 2.275, 2.275},
    {0.111172755531, 0.111172755531, 0.21942, 1.219, 1.219, 1.219},
    {0.111172755531, 0.111172755531, 0.21942, 1.219, 1.219, 1.219},
    {0.0171364731454, 0.0171364731454, 0.033822, 0.1879, 0.1879, 0.1879},
};
const double ur5_S[36] = {
    0, 0,         0,         0,         0,        0,        /**/
    0, 1,         1,         1,         0,        1,        /**/
    1, 0,         0,         0,         -1,       0,        /**/
    0, -0.089159, -0.089159, -0.089159, -0.10915, 0.005491, /**/
    0, 0,         0,         0,         0.81725,  0,        /**/
    0, 0,         0.425,     0.81725,   0,        0.81725,
};

void inertia_matrix(const double diagonal[6], double G[36]) {
    memset(G, 0, 36 * sizeof *G);
    for (int i = 0; i < 6; i++) {
        G[7 * i] = diagonal[i];
    }
}

void ur5_G(double G[6 * 36]) {
    for (int i = 0; i < 6; i++) {
        inertia_matrix(ur5_inertia[i], G + 36 * i);
    }
}

dyn_model *ur5_of_screws(void) {
    double G[6 * 36];
    dyn_builder *builder;
    dyn_model *model;
    dyn_error error;
    ur5_G(G);
    require(dyn_screws_describe("ur5", 6, ur5_M, G, ur5_S, &builder, &error), &error);
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}
