/* SPDX-License-Identifier: BSD-2-Clause */
#include "contacts.h"

#include <math.h>
#include <string.h>

#include "../dynamics/carve.h"
#include "../model/contact_surface.h"
#include "../model/normal_form.h"
#include "../model/placement.h"

/* Share of a penetration that ends in a step, and the largest velocity of that, m/s. */
static const double recovery = 0.2, fastest_recovery = 1;

/* Gap beyond which a contact is left out unless it closes in a step, m. */
static const double near = 0.005;

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static const dyn_contact_surface *surface_at(const dyn_model *model, int i) {
    return &model->description->contact_surfaces[i];
}

/* Returns the number of points of all pairs. */
static int count_points(const dyn_model *model) {
    int count = 0, surfaces = model->description->contact_surface_count;
    for (int i = 0; i < surfaces; i++) {
        for (int k = 0; k < surfaces; k++) {
            count +=
                contact_surfaces_touch(model->description, i, k) ? contact_point_count(surface_at(model, i)->shape) : 0;
        }
    }
    return count;
}

size_t contacts_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, contacts *c) {
    uintptr_t cursor = base;
    size_t surfaces = (size_t)model->description->contact_surface_count, packed = lanes * sizeof(double);
    size_t pairs = (size_t)count_contact_pairs(model->description), points = (size_t)count_points(model);
    size_t rows = 6 * surfaces;
    if (pairs == 0) {
        return 0;
    }
    c->pairs = dyn_carve(&cursor, pairs * sizeof *c->pairs);
    c->links = dyn_carve(&cursor, surfaces * sizeof *c->links);
    c->link_of_surface = dyn_carve(&cursor, surfaces * sizeof *c->link_of_surface);
    c->poses = dyn_carve(&cursor, surfaces * sizeof *c->poses);
    c->placed = dyn_carve(&cursor, surfaces * sizeof *c->placed);
    c->pose = dyn_carve(&cursor, 12 * surfaces * packed);
    c->points = dyn_carve(&cursor, points * sizeof *c->points);
    c->pair_of_point = dyn_carve(&cursor, points * sizeof *c->pair_of_point);
    c->responses = dyn_carve(&cursor, points * 3 * rows * sizeof(double));
    c->u_before = dyn_carve(&cursor, rows * sizeof(double));
    c->u = dyn_carve(&cursor, rows * sizeof(double));
    c->w = dyn_carve(&cursor, rows * sizeof(double));
    c->origins = dyn_carve(&cursor, 3 * surfaces * sizeof(double));
    c->R = dyn_carve(&cursor, rows * rows * sizeof(double));
    c->lanes = dyn_carve(&cursor, lanes * sizeof *c->lanes);
    c->results = dyn_carve(&cursor, lanes * surfaces * 5 * sizeof(double));
    c->lane_count = lanes;
    cursor += constraint_rows_lay_out(model, (int)rows, lanes, true, cursor, &c->rows);
    return cursor - base;
}

/* ---- Pairs and rows ---------------------------------------------------------------------------------------------- */

/* Returns the law of two surfaces. */
static contact_pair pair_of(const dyn_contact_surface *a, const dyn_contact_surface *b) {
    contact_pair pair = {.friction = sqrt(a->friction * b->friction),
                         .restitution = fmax(a->restitution, b->restitution)};
    double sum = a->stiffness + b->stiffness;
    bool are_both = a->stiffness > 0 && b->stiffness > 0;
    pair.stiffness = are_both ? a->stiffness * b->stiffness / sum : sum;
    pair.dissipation = are_both ? (a->dissipation * b->stiffness + b->dissipation * a->stiffness) / sum
                                : a->dissipation + b->dissipation;
    return pair;
}

/* Returns the number of a link in c->links, to which it is added where it is new. */
static int use_link(contacts *c, int link) {
    int i = 0;
    while (i < c->link_count && c->links[i] != link) {
        i++;
    }
    if (i == c->link_count) {
        const row_term term = {.source = ROWS_OF_FRAME,
                               .index = link,
                               .reference_frame = DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED,
                               .rows = 077,
                               .factor = 1};
        c->links[c->link_count++] = link;
        constraint_rows_add(&c->rows, &(row_group){6, 1, {term}});
    }
    return i;
}

/* Sets the link and the pose of a surface. Those of a link that is fixed to the world are in the world. */
static void place_surface(contacts *c, int i) {
    const dyn_model *model = c->model;
    const dyn_contact_surface *s = surface_at(model, i);
    int link = s->link ? name_index_find(&model->link_names, s->link) : -1;
    c->link_of_surface[i] = -1;
    c->poses[i] = s->pose;
    if (link >= 0 && model->frames[link].body < 0) {
        pose_compose(&model->frames[link].pose, &s->pose, &c->poses[i]);
    } else if (link >= 0) {
        c->link_of_surface[i] = use_link(c, link);
    }
    c->placed[i] = c->poses[i];
}

void contacts_choose(const dyn_model *model, const dyn_workspace *workspace, contacts *c) {
    c->model = model, c->workspace = workspace;
    c->surface_count = model->description->contact_surface_count;
    c->pair_count = c->link_count = 0;
    constraint_rows_clear(&c->rows);
    size_t surfaces = (size_t)c->surface_count;
    for (size_t l = 0; l < c->lane_count; l++) {
        double *of_lane = c->results + l * surfaces * 5;
        c->lanes[l] = (contact_lane){of_lane, of_lane + 3 * surfaces, of_lane + 4 * surfaces, {0, 0}};
    }
    for (int i = 0; i < c->surface_count; i++) {
        place_surface(c, i);
    }
    for (int i = 0; i < c->surface_count; i++) {
        for (int k = 0; k < c->surface_count; k++) {
            if (contact_surfaces_touch(model->description, i, k)) {
                contact_pair pair = pair_of(surface_at(model, i), surface_at(model, k));
                pair.surface = i, pair.plane = k;
                pair.links[0] = c->link_of_surface[i], pair.links[1] = c->link_of_surface[k];
                c->pairs[c->pair_count++] = pair;
            }
        }
    }
}

/* ---- Problem of a lane ------------------------------------------------------------------------------------------- */

/* Places the surfaces of one lane in the world. */
static void place_lane(contacts *c, sample_block block, size_t l) {
    for (int i = 0; i < c->surface_count; i++) {
        int link = c->link_of_surface[i];
        if (link < 0) {
            continue;
        }
        dyn_pose pose;
        for (size_t k = 0; k < 12; k++) {
            double x = dyn_packed_number(c->pose, 12 * (size_t)link + k, block, l);
            *(k < 3 ? &pose.position[k] : &pose.rotation[k - 3]) = x;
        }
        memcpy(c->origins + 3 * link, pose.position, sizeof pose.position);
        pose_compose(&pose, &c->poses[i], &c->placed[i]);
    }
}

/* Computes the twists A x of the links in one lane. */
static void find_twists(const contacts *c, sample_block block, size_t l, const double *x, double *u) {
    int nv = c->model->nv;
    for (int r = 0; r < c->rows.set.m; r++) {
        const double *row = c->rows.A + (size_t)(r * nv) * block.lanes + l;
        u[r] = 0;
        for (int k = 0; k < nv; k++) {
            u[r] += row[(size_t)k * block.lanes] * x[(size_t)k * block.lanes + l];
        }
    }
}

/* States the law of a rigid contact. */
static void require_rigid(const contact_pair *pair, const contact_step *step, double gap, double v_before,
                          double v_free, contact_row *row) {
    row->compliance = 0;
    row->required = gap > 0 ? -gap / step->dt : fmin(-recovery * gap / step->dt, fastest_recovery);
    if (v_before < -step->rest_velocity && gap + step->dt * v_free < 0) {
        row->required = fmax(row->required, -pair->restitution * v_before);
    }
}

/* States the linearized law of a compliant contact. Returns false where it has no force. */
static bool require_compliant(const contact_pair *pair, const contact_step *step, double gap, double v_before,
                              contact_row *row) {
    double rate = -v_before, x = -gap + step->dt * rate, factor = 1 + 1.5 * pair->dissipation * rate;
    if (!(x > 0) || !(factor > 0)) {
        return false;
    }
    double root = sqrt(x), F = pair->stiffness * x * root * factor;
    double slope = 1.5 * pair->stiffness * root * (step->dt * factor + x * pair->dissipation);
    row->compliance = 1 / (step->dt * slope);
    row->required = F / slope - rate;
    return true;
}

/* Problem of a lane while its contacts are collected. */
typedef struct lane_problem {
    contacts *c;
    const contact_step *step;
    contact_lane *lane;
    int count; /* of contacts */
} lane_problem;

/* Sets the place of a contact at `point`; returns its gap. */
static double place_contact(const contacts *c, const contact_pair *pair, const double point[3], contact_row *row) {
    const dyn_pose *plane = &c->placed[pair->plane];
    double gap = 0;
    for (int k = 0; k < 3; k++) {
        row->axes[k] = plane->rotation[3 * k + 2];
        gap += row->axes[k] * (point[k] - plane->position[k]);
    }
    contact_tangents(row->axes);
    for (int side = 0; side < 2; side++) {
        if (row->links[side] >= 0) {
            const double *origin = c->origins + 3 * row->links[side];
            const double arm[3] = {point[0] - origin[0], point[1] - origin[1], point[2] - origin[2]};
            contact_lever(row, side, arm);
        }
    }
    return gap;
}

/* Adds a contact where its point may touch in this step. */
static void add_contact(lane_problem *p, int pair_index, const double point[3]) {
    contacts *c = p->c;
    const contact_pair *pair = &c->pairs[pair_index];
    contact_row *row = &c->points[p->count];
    double before[3], free[3];
    row->links[0] = pair->links[0], row->links[1] = pair->links[1];
    row->friction = pair->friction;
    row->impulse[0] = row->impulse[1] = row->impulse[2] = 0;
    row->response = c->responses + (size_t)(3 * p->count) * (size_t)c->rows.set.m;
    double gap = place_contact(c, pair, point, row);
    p->lane->gap[pair->surface] = fmin(p->lane->gap[pair->surface], gap);
    p->lane->gap[pair->plane] = fmin(p->lane->gap[pair->plane], gap);
    contact_velocity(row, c->u_before, before);
    contact_velocity(row, c->u, free);
    bool is_near = gap <= near || gap + 2 * p->step->dt * fmin(before[0], free[0]) <= 0;
    if (pair->stiffness > 0) {
        is_near = is_near && require_compliant(pair, p->step, gap, before[0], row);
    } else {
        require_rigid(pair, p->step, gap, before[0], free[0], row);
    }
    c->pair_of_point[p->count] = pair_index;
    p->count += is_near;
}

static void collect_contacts(lane_problem *p) {
    contacts *c = p->c;
    for (int i = 0; i < c->pair_count; i++) {
        const contact_pair *pair = &c->pairs[i];
        const dyn_contact_surface *surface = surface_at(c->model, pair->surface);
        const double *R = c->placed[pair->plane].rotation, n[3] = {R[2], R[5], R[8]};
        double points[MOST_CONTACT_POINTS][3];
        contact_points(surface, &c->placed[pair->surface], n, points);
        for (int k = 0; k < contact_point_count(surface->shape); k++) {
            add_contact(p, i, points[k]);
        }
    }
}

/* Stores forces and slip of the surfaces, and the wrench impulses of the contacts in c->w. */
static void store_forces(const lane_problem *p) {
    contacts *c = p->c;
    memset(c->w, 0, (size_t)c->rows.set.m * sizeof *c->w);
    for (int i = 0; i < p->count; i++) {
        const contact_row *row = &c->points[i];
        const contact_pair *pair = &c->pairs[c->pair_of_point[i]];
        double v[3];
        contact_add_wrench(row, row->impulse, c->w);
        contact_velocity(row, c->u, v);
        for (int side = 0; side < 2; side++) {
            int surface = side == 0 ? pair->surface : pair->plane;
            double sign = side == 0 ? 1 : -1;
            for (int k = 0; k < 3; k++) {
                double f = row->axes[k] * row->impulse[0] + row->axes[3 + k] * row->impulse[1] +
                           row->axes[6 + k] * row->impulse[2];
                p->lane->force[3 * surface + k] += sign * f / p->step->dt;
            }
            double slip = row->impulse[0] > 0 ? hypot(v[1], v[2]) : 0;
            p->lane->slip[surface] = fmax(p->lane->slip[surface], slip);
        }
    }
}

static void clear_lane(const contacts *c, contact_lane *lane) {
    lane->course = (contact_course){0, 0};
    for (int i = 0; i < c->surface_count; i++) {
        lane->force[3 * i] = lane->force[3 * i + 1] = lane->force[3 * i + 2] = 0;
        lane->gap[i] = INFINITY;
        lane->slip[i] = 0;
    }
}

/* Collects the contacts of a lane: c->u_before are the twists at v, and c->u those at v + dt a. */
static void begin_lane(lane_problem *p, sample_block block, size_t l, const double *v, const double *a) {
    contacts *c = p->c;
    clear_lane(c, p->lane);
    place_lane(c, block, l);
    find_twists(c, block, l, v, c->u_before);
    find_twists(c, block, l, a, c->u);
    for (int r = 0; r < c->rows.set.m; r++) {
        c->u[r] = c->u_before[r] + p->step->dt * c->u[r];
    }
    collect_contacts(p);
}

/* Solves a lane and adds its response to a. */
static void solve_lane(lane_problem *p, sample_block block, size_t l, double *a) {
    contacts *c = p->c;
    int m = c->rows.set.m, nv = c->model->nv;
    for (int i = 0; i < m * m; i++) {
        c->R[i] = c->rows.response[(size_t)i * block.lanes + l];
    }
    for (int i = 0; i < p->count; i++) {
        contact_respond(&c->points[i], m, c->R);
    }
    p->lane->course = contact_solve(&(contact_problem){m, p->count, p->step->most_sweeps, c->u, c->points});
    store_forces(p);
    for (int r = 0; r < m; r++) {
        double w = c->w[r] / p->step->dt;
        for (int k = 0; k < nv && w != 0; k++) {
            a[(size_t)k * block.lanes + l] += c->rows.accelerations[(size_t)(k * m + r) * block.lanes + l] * w;
        }
    }
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

void contacts_apply(contacts *c, sample_block block, const contact_step *step, const void *q, const void *v,
                    const void *diagonal, void *a) {
    const dyn_workspace *w = c->workspace;
    constraint_rows *rows = &c->rows;
    bool has_response = false;
    for (int i = 0; i < c->link_count; i++) {
        size_t at = 12 * (size_t)i;
        block.kernels->frame_pose(c->model, w->memory, q, c->links[i], dyn_packed(c->pose, at, block),
                                  dyn_packed(c->pose, at + 3, block));
    }
    block.kernels->row_jacobian(c->model, w->memory, q, NULL, &rows->set, rows->A, NULL);
    for (size_t l = 0; l < block.lanes; l++) {
        lane_problem p = {c, step, &c->lanes[l], 0};
        begin_lane(&p, block, l, v, a);
        if (p.count == 0) {
            continue;
        }
        if (!has_response) {
            const row_results results = {rows->response, rows->accelerations, false};
            block.kernels->row_response(c->model, w->memory, q, diagonal, &rows->set, w->pivots, &results);
            has_response = true;
        }
        solve_lane(&p, block, l, a);
    }
}
