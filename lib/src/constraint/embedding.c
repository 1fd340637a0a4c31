/* SPDX-License-Identifier: BSD-2-Clause */
#include "embedding.h"

#include <string.h>

#include "../classical/classical.h"
#include "../dynamics/carve.h"
#include "../model/linear_system.h"

size_t embedding_lay_out(const dyn_model *model, uintptr_t base, embedding *s) {
    uintptr_t cursor = base;
    const size_t bodies = (size_t)model->body_count, nv = (size_t)model->nv, m = (size_t)model->constraint_rows;
    const struct {
        double **part;
        size_t count;
    } numbers[] = {{&s->subspaces, 6 * nv},
                   {&s->placed, 10 * bodies},
                   {&s->I, 36 * bodies},
                   {&s->p, 6 * bodies},
                   {&s->A, 6 * bodies},
                   {&s->H, 6 * nv},
                   {&s->u, nv},
                   {&s->M, nv * nv},
                   {&s->K, m * nv},
                   {&s->c, m},
                   {&s->D, nv * nv},
                   {&s->U, 6 * nv},
                   {&s->T, nv},
                   {&s->g, nv},
                   {&s->G, nv * nv},
                   {&s->X, 6 * nv},
                   {&s->y, nv}};
    const struct {
        int **part;
        size_t count;
    } indices[] = {{&s->first, bodies},     {&s->next, bodies},   {&s->of_constraint, (size_t)model->constraint_count},
                   {&s->members, bodies},   {&s->columns, nv},    {&s->local, nv},
                   {&s->start, bodies},     {&s->square, bodies}, {&s->count, bodies},
                   {&s->free_count, bodies}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        *numbers[i].part = dyn_carve(&cursor, numbers[i].count * sizeof(double));
    }
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        *indices[i].part = dyn_carve(&cursor, indices[i].count * sizeof(int));
    }
    return cursor - base;
}

bool embedding_applies(const dyn_model *model) {
    return !model->has_coupling;
}

/* ---- Clusters ---------------------------------------------------------------------------------------------------- */

/* Returns the first body of the cluster of body i. */
static int first_of(const embedding *s, int i) {
    while (s->first[i] != i) {
        i = s->first[i];
    }
    return i;
}

/* Unites the clusters of two bodies. */
static void unite(embedding *s, int i, int k) {
    int a = first_of(s, i), b = first_of(s, k);
    s->first[a > b ? a : b] = a > b ? b : a;
}

/* Returns the body that moves with coordinate v of a model. */
static int body_of_coordinate(const dyn_model *model, int v) {
    int i = 0;
    while (i + 1 < model->body_count &&
           (v < model->bodies[i].v_index || v >= model->bodies[i].v_index + model->bodies[i].nv)) {
        i++;
    }
    return i;
}

/* Unites the bodies between two bodies and the last one that carries both with body `one`, or with each other where
 * that is -1. That last body belongs to them where it is one of the two and `holds_ends` is true. Returns one of the
 * united bodies, or -1. */
static int unite_path(embedding *s, int x, int y, bool holds_ends, int one) {
    const int ends[2] = {x, y};
    while (x != y) {
        int *lower = x > y ? &x : &y;
        one = one < 0 ? *lower : one;
        unite(s, one, *lower);
        *lower = s->model->bodies[*lower].parent;
    }
    if (holds_ends && (x == ends[0] || x == ends[1])) {
        one = one < 0 ? x : one;
        unite(s, one, x);
    }
    return one;
}

/* Returns a body of the loop that a closure closes, -1 where there is none, and unites all of them. Coordinates are
 * those of joints, which belong to the bodies that they carry: the last body that carries two of them belongs to the
 * loop where its own joint does. */
static int unite_loop(embedding *s, const closure *c) {
    const dyn_model *model = s->model;
    int one = -1, ends[2];
    if (c->coordinate_count > 0) {
        const int first = body_of_coordinate(model, c->v_index[0]);
        for (int k = 0; k < c->coordinate_count; k++) {
            one = unite_path(s, first, body_of_coordinate(model, c->v_index[k]), true, one);
        }
        return one;
    }
    for (int k = 0; k < 2; k++) {
        ends[k] = c->links[k] < 0 ? -1 : model->frames[c->links[k]].body;
    }
    return unite_path(s, ends[0], ends[1], false, one);
}

void embedding_find(const dyn_model *model, embedding *s) {
    int start = 0, square = 0;
    s->model = model;
    for (int i = 0; i < model->body_count; i++) {
        s->first[i] = i;
        s->next[i] = -1;
        s->count[i] = 0;
    }
    for (int k = 0; k < model->constraint_count; k++) {
        s->of_constraint[k] = unite_loop(s, &model->closures[k]);
    }
    for (int k = 0; k < model->constraint_count; k++) {
        s->of_constraint[k] = s->of_constraint[k] < 0 ? -1 : first_of(s, s->of_constraint[k]);
    }
    for (int i = 0; i < model->body_count; i++) {
        s->first[i] = first_of(s, i);
        s->count[s->first[i]] += model->bodies[i].nv;
    }
    for (int i = 0; i < model->body_count; i++) {
        int first = s->first[i];
        if (first == i) {
            s->start[i] = start, s->square[i] = square;
            start += s->count[i];
            square += s->count[i] * s->count[i];
        } else {
            s->next[s->members[first]] = i;
        }
        s->members[first] = i; /* last body of the cluster so far */
    }
}

/* Lists the bodies and the coordinates of the cluster from body `first` on. Returns the number of bodies. */
static int list_members(embedding *s, int first) {
    int bodies = 0, columns = 0;
    for (int i = first; i >= 0; i = s->next[i]) {
        s->members[bodies++] = i;
        for (int k = 0; k < s->model->bodies[i].nv; k++) {
            int v = s->model->bodies[i].v_index + k;
            s->local[v] = columns;
            s->columns[columns++] = v;
        }
    }
    return bodies;
}

/* ---- Bodies ------------------------------------------------------------------------------------------------------ */

/* Expands m, m c and the rotational inertia to a matrix, for (w; v) and (n; f). */
static void expand(const double *placed, double I[36]) {
    const double m = placed[0], *h = placed + 1, *J = placed + 4;
    const double rows[36] = {J[0],  J[1], J[2], 0,     -h[2], h[1], J[1], J[3],  J[4],  h[2], 0, -h[0],
                             J[2],  J[4], J[5], -h[1], h[0],  0,    0,    h[2],  -h[1], m,    0, 0,
                             -h[2], 0,    h[0], 0,     m,     0,    h[1], -h[0], 0,     0,    0, m};
    memcpy(I, rows, sizeof rows);
}

static double dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

static void add(int n, double factor, const double *x, double *to) {
    for (int i = 0; i < n; i++) {
        to[i] += factor * x[i];
    }
}

/* Computes H, u and the columns of M of the coordinates of body i, whose inertia is that of its subtree in the
 * cluster. */
static void project_body(embedding *s, int first, int i, int n, const double *f) {
    const dyn_model *model = s->model;
    const body *b = &model->bodies[i];
    for (int k = 0; k < b->nv; k++) {
        const int v = b->v_index + k, column = s->local[v];
        double *H = s->H + 6 * v;
        for (int r = 0; r < 6; r++) {
            H[r] = dot(6, s->I + 36 * i + 6 * r, s->subspaces + 6 * v);
        }
        s->u[column] = f[v] - dot(6, s->subspaces + 6 * v, s->p + 6 * i);
        for (int j = i; j >= 0 && s->first[j] == first; j = model->bodies[j].parent) {
            for (int l = 0; l < model->bodies[j].nv; l++) {
                const int other = model->bodies[j].v_index + l, row = s->local[other];
                s->M[row * n + column] = s->M[column * n + row] = dot(6, s->subspaces + 6 * other, H);
            }
        }
    }
}

/* ---- Clusters of one sample -------------------------------------------------------------------------------------- */

/* Loads the rows of the constraints of a cluster with n coordinates, and finds g and G. Returns the number of z. */
static int embed(embedding *s, int first, int n, const dense_problem *p, dense_scratch *dense) {
    const dyn_model *model = s->model;
    double *g = s->g + s->start[first], *G = s->G + s->square[first];
    int rows = 0;
    for (int k = 0; k < model->constraint_count; k++) {
        const dyn_constraint *constraint = &model->constraints[k];
        for (int r = 0; r < constraint->row_count && s->of_constraint[k] == first; r++, rows++) {
            const int row = constraint->first_row + r;
            for (int j = 0; j < n; j++) {
                s->K[rows * n + j] = p->A[row * p->n + s->columns[j]];
            }
            s->c[rows] = p->c[row];
        }
    }
    if (rows > 0) {
        const dense_problem own = {n, rows, s->M, s->K, NULL, s->c};
        return n - dense_embed(&own, dense, g, G);
    }
    memset(g, 0, (size_t)n * sizeof *g);
    memset(G, 0, (size_t)(n * n) * sizeof *G);
    for (int j = 0; j < n; j++) {
        G[j * n + j] = 1;
    }
    return n;
}

/* Computes D, X = D^-1 U' and y = D^-1 G' (u - M g) of a cluster, and U = H G, of which row z is U + 6 z. Returns false
 * where D is not positive definite. */
static bool reduce(embedding *s, int first, int n) {
    const int count = s->free_count[first];
    const double *g = s->g + s->start[first], *G = s->G + s->square[first];
    double *X = s->X + 6 * s->start[first], *y = s->y + s->start[first], *U = s->U;
    for (int j = 0; j < n; j++) {
        s->u[j] -= dot(n, s->M + j * n, g);
    }
    memset(U, 0, 6 * (size_t)count * sizeof *U);
    memset(y, 0, (size_t)count * sizeof *y);
    memset(s->D, 0, (size_t)(count * count) * sizeof *s->D);
    for (int j = 0; j < n; j++) {
        for (int z = 0; z < count; z++) {
            y[z] += G[j * count + z] * s->u[j];
            add(6, G[j * count + z], s->H + 6 * s->columns[j], U + 6 * z);
        }
        double *row = s->T; /* row j of M G */
        memset(row, 0, (size_t)count * sizeof *row);
        for (int l = 0; l < n; l++) {
            add(count, s->M[j * n + l], G + l * count, row);
        }
        for (int z = 0; z < count; z++) {
            add(count, G[j * count + z], row, s->D + z * count);
        }
    }
    memcpy(X, U, 6 * (size_t)count * sizeof *X);
    if (!linear_factorize(count, count, s->D)) {
        return false;
    }
    linear_apply(count, count, s->D, 6, X);
    linear_apply(count, count, s->D, 1, y);
    return true;
}

/* Adds the inertia and the force of a cluster to the body outside that it is connected to. `I` and `p` are the sums
 * over its bodies. */
static void connect(embedding *s, int first, int n, double I[36], double p[6]) {
    const int outside = s->model->bodies[first].parent, count = s->free_count[first];
    const double *g = s->g + s->start[first], *X = s->X + 6 * s->start[first], *y = s->y + s->start[first];
    if (outside < 0) {
        return;
    }
    for (int z = 0; z < count; z++) {
        const double *U = s->U + 6 * z;
        for (int r = 0; r < 6; r++) {
            add(6, -U[r], X + 6 * z, I + 6 * r);
        }
        add(6, y[z], U, p);
    }
    for (int j = 0; j < n; j++) {
        add(6, g[j], s->H + 6 * s->columns[j], p);
    }
    add(36, 1, I, s->I + 36 * outside);
    add(6, 1, p, s->p + 6 * outside);
}

/* Treats the cluster from body `first` on in the inward pass. Returns false where no inertia resists it. */
static bool gather(embedding *s, int first, const dense_problem *p, dense_scratch *dense) {
    const int n = s->count[first];
    double I[36] = {0}, bias[6] = {0};
    memset(s->M, 0, (size_t)(n * n) * sizeof *s->M);
    for (int k = list_members(s, first) - 1; k >= 0; k--) {
        const int i = s->members[k], parent = s->model->bodies[i].parent;
        const bool is_inside = parent >= 0 && s->first[parent] == first;
        project_body(s, first, i, n, p->f);
        add(36, 1, s->I + 36 * i, is_inside ? s->I + 36 * parent : I);
        add(6, 1, s->p + 6 * i, is_inside ? s->p + 6 * parent : bias);
    }
    for (int j = 0; j < n; j++) {
        if (!(s->M[j * n + j] > 0)) {
            return false;
        }
    }
    s->free_count[first] = embed(s, first, n, p, dense);
    if (!reduce(s, first, n)) {
        return false;
    }
    connect(s, first, n, I, bias);
    return true;
}

/* Computes the accelerations of the cluster from body `first` on in the outward pass. */
static void accelerate(embedding *s, int first, double *a) {
    static const double rest[6] = {0};
    const dyn_model *model = s->model;
    const int outside = model->bodies[first].parent, n = s->count[first], count = s->free_count[first];
    const double *from = outside < 0 ? rest : s->A + 6 * outside, *G = s->G + s->square[first];
    double *y = s->y + s->start[first];
    for (int z = 0; z < count; z++) {
        y[z] -= dot(6, s->X + 6 * (s->start[first] + z), from);
    }
    list_members(s, first);
    for (int j = 0; j < n; j++) {
        a[s->columns[j]] = s->g[s->start[first] + j] + dot(count, G + j * count, y);
    }
    for (int i = first; i >= 0; i = s->next[i]) {
        const int parent = model->bodies[i].parent;
        memcpy(s->A + 6 * i, parent < 0 ? rest : s->A + 6 * parent, sizeof rest);
        for (int k = 0; k < model->bodies[i].nv; k++) {
            const int v = model->bodies[i].v_index + k;
            add(6, a[v], s->subspaces + 6 * v, s->A + 6 * i);
        }
    }
}

bool embedding_solve(embedding *s, const dyn_workspace *workspace, const double *q, const dense_problem *p,
                     dense_scratch *dense, double *a) {
    const dyn_model *model = s->model;
    const formulation_call call = {.model = model, .gravity = model->gravity, .memory = workspace->memory};
    dyn_classical_instance_classical.place_tree(&call, q, s->subspaces, s->placed);
    for (int i = 0; i < model->body_count; i++) {
        expand(s->placed + 10 * i, s->I + 36 * i);
        memset(s->p + 6 * i, 0, 6 * sizeof *s->p);
    }
    for (int i = model->body_count - 1; i >= 0; i--) {
        if (s->first[i] == i && !gather(s, i, p, dense)) {
            return false;
        }
    }
    for (int i = 0; i < model->body_count; i++) {
        if (s->first[i] == i) {
            accelerate(s, i, a);
        }
    }
    return true;
}
