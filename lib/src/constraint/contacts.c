/* SPDX-License-Identifier: BSD-2-Clause */
#include "contacts.h"

#include <math.h>
#include <string.h>

#include "../dynamics/carve.h"
#include "../model/contact_surface.h"
#include "../model/normal_form.h"
#include "../model/placement.h"
#include "closures.h"
#include "eliminate.h"

/* Share of a penetration that ends in a step, and the largest velocity of that, m/s. */
static const double recovery = 0.2, fastest_recovery = 1;

/* Gap beyond which a contact is left out unless it closes in a step, m. */
static const double near = 0.005;

/* Numbers of a surface in contact_lane. */
enum { RESULT_NUMBERS = 11 };

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

size_t contacts_lay_out(const dyn_model *model, int joints, size_t lanes, uintptr_t base, contacts *c) {
    uintptr_t cursor = base;
    size_t surfaces = (size_t)model->description->contact_surface_count, packed = lanes * sizeof(double);
    size_t pairs = (size_t)count_contact_pairs(model->description), points = (size_t)count_points(model);
    size_t singles = (size_t)joints, equalities = (size_t)model->constraint_rows,
           rows = 6 * surfaces + singles + equalities;
    size_t bounded = MOST_JOINT_ROWS * singles;
    if (pairs == 0 && joints == 0) {
        return 0;
    }
    c->pairs = dyn_carve(&cursor, pairs * sizeof *c->pairs);
    c->links = dyn_carve(&cursor, surfaces * sizeof *c->links);
    c->supports = dyn_carve(&cursor, surfaces * (size_t)model->nv * sizeof *c->supports);
    c->support_counts = dyn_carve(&cursor, surfaces * sizeof *c->support_counts);
    c->link_of_surface = dyn_carve(&cursor, surfaces * sizeof *c->link_of_surface);
    c->poses = dyn_carve(&cursor, surfaces * sizeof *c->poses);
    c->placed = dyn_carve(&cursor, surfaces * sizeof *c->placed);
    c->pose = dyn_carve(&cursor, 12 * surfaces * packed);
    c->groups = dyn_carve(&cursor, rows * sizeof *c->groups);
    c->active = dyn_carve(&cursor, surfaces * sizeof *c->active);
    c->points = dyn_carve(&cursor, lanes * points * sizeof *c->points);
    c->pair_of_point = dyn_carve(&cursor, lanes * points * sizeof *c->pair_of_point);
    c->point_counts = dyn_carve(&cursor, lanes * sizeof *c->point_counts);
    c->most_points = points;
    c->most_joints = joints;
    c->bounded = dyn_carve(&cursor, lanes * bounded * sizeof *c->bounded);
    c->bounded_counts = dyn_carve(&cursor, lanes * sizeof *c->bounded_counts);
    c->reduced = dyn_carve(&cursor, equalities > 0 ? rows * rows * sizeof(double) : 0);
    c->w_lane = dyn_carve(&cursor, rows * sizeof(double));
    c->responses = dyn_carve(&cursor, 3 * points * rows * sizeof(double));
    c->memory = dyn_carve(&cursor, contact_memory(points, bounded) * sizeof(double));
    c->u_before = dyn_carve(&cursor, rows * packed);
    c->u_free = dyn_carve(&cursor, rows * packed);
    c->w = dyn_carve(&cursor, rows * packed);
    c->u = dyn_carve(&cursor, 2 * rows * sizeof(double));
    c->origins = dyn_carve(&cursor, 3 * surfaces * sizeof(double));
    c->accelerations = dyn_carve(&cursor, (size_t)model->nv * packed);
    c->R = dyn_carve(&cursor, lanes * rows * rows * sizeof(double));
    c->lanes = dyn_carve(&cursor, lanes * sizeof *c->lanes);
    c->results = dyn_carve(&cursor, lanes * surfaces * RESULT_NUMBERS * sizeof(double));
    c->lane_count = lanes;
    cursor += constraint_rows_lay_out(model, (int)rows, lanes, true, cursor, &c->rows);
    return cursor - base;
}

/* ---- Pairs and rows ---------------------------------------------------------------------------------------------- */

/* Returns the mean of two soft laws, of which one may be absent. */
static dyn_soft_contact mean_of_soft(const dyn_soft_contact *a, const dyn_soft_contact *b) {
    if (!(a->time_constant > 0) || !(b->time_constant > 0)) {
        return a->time_constant > 0 ? *a : *b;
    }
    return (dyn_soft_contact){
        .time_constant = (a->time_constant + b->time_constant) / 2,
        .damping_ratio = (a->damping_ratio + b->damping_ratio) / 2,
        .impedance = {(a->impedance[0] + b->impedance[0]) / 2, (a->impedance[1] + b->impedance[1]) / 2},
        .width = (a->width + b->width) / 2,
        .midpoint = (a->midpoint + b->midpoint) / 2,
        .power = (a->power + b->power) / 2};
}

/* Returns the law of two surfaces. */
static contact_pair pair_of(const dyn_contact_surface *a, const dyn_contact_surface *b) {
    contact_pair pair = {.friction = sqrt(a->friction * b->friction),
                         .restitution = fmax(a->restitution, b->restitution)};
    double sum = a->stiffness + b->stiffness;
    bool are_both = a->stiffness > 0 && b->stiffness > 0;
    pair.stiffness = are_both ? a->stiffness * b->stiffness / sum : sum;
    pair.dissipation = are_both ? (a->dissipation * b->stiffness + b->dissipation * a->stiffness) / sum
                                : a->dissipation + b->dissipation;
    pair.soft = mean_of_soft(&a->soft, &b->soft);
    return pair;
}

/* Replaces the law of a pair by that of the options. */
static void choose_law(dyn_contact_law law, contact_pair *pair) {
    const dyn_soft_contact standard = DYN_SOFT_CONTACT_INIT();
    if (law == DYN_CONTACT_LAW_OF_SURFACES) {
        return;
    }
    pair->stiffness = pair->dissipation = 0;
    if (law == DYN_CONTACT_LAW_RIGID) {
        pair->soft = (dyn_soft_contact){0};
    } else {
        pair->restitution = 0;
        pair->soft = pair->soft.time_constant > 0 ? pair->soft : standard;
    }
}

/* Lists the coordinates that move link number i. */
static void list_support(contacts *c, int i) {
    const dyn_model *model = c->model;
    int *supports = c->supports + (size_t)i * (size_t)model->nv, count = 0;
    for (int k = 0; k < model->nv; k++) {
        supports[k] = model->has_coupling;
    }
    for (int b = model->frames[c->links[i]].body; b >= 0; b = model->bodies[b].parent) {
        for (int k = 0; k < model->bodies[b].nv; k++) {
            supports[model->bodies[b].v_index + k] = true;
        }
    }
    for (int k = 0; k < model->nv; k++) {
        if (supports[k]) {
            supports[count++] = k;
        }
    }
    c->support_counts[i] = count;
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
        list_support(c, i);
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

/* Sets the axes of a pair to those of its plane, as it is placed. */
static void place_axes(const contacts *c, contact_pair *pair) {
    const double *R = c->placed[pair->plane].rotation;
    for (int k = 0; k < 3; k++) {
        pair->axes[k] = R[3 * k + 2];
    }
    contact_tangents(pair->axes);
}

/* Adds the rows of the joints and those of the constraints, after those of the links. */
static void use_joints(contacts *c, int count, const contact_joint *joints) {
    for (int i = 0; i < count; i++) {
        const row_term term = {.source = ROW_OF_COORDINATE, .index = joints[i].v, .factor = 1};
        constraint_rows_add(&c->rows, &(row_group){1, 1, {term}});
    }
    c->joints = joints;
    c->joint_count = count;
    closures_add_rows(c->model, &c->rows);
    c->closure_rows = c->model->constraint_rows;
}

void contacts_choose(const dyn_model *model, const dyn_workspace *workspace, int count, const contact_joint *joints,
                     contacts *c) {
    c->model = model, c->workspace = workspace;
    c->surface_count = model->description->contact_surface_count;
    c->pair_count = c->link_count = 0;
    constraint_rows_clear(&c->rows);
    size_t surfaces = (size_t)c->surface_count;
    for (size_t l = 0; l < c->lane_count; l++) {
        double *of_lane = c->results + l * surfaces * RESULT_NUMBERS;
        c->lanes[l] = (contact_lane){
            of_lane, of_lane + 3 * surfaces, of_lane + 4 * surfaces, of_lane + 5 * surfaces, of_lane + 8 * surfaces,
            {0, 0}};
    }
    for (int i = 0; i < c->surface_count; i++) {
        place_surface(c, i);
    }
    use_joints(c, count, joints);
    for (int i = 0; i < c->surface_count; i++) {
        for (int k = 0; k < c->surface_count; k++) {
            if (contact_surfaces_touch(model->description, i, k)) {
                contact_pair pair = pair_of(surface_at(model, i), surface_at(model, k));
                choose_law(c->law, &pair);
                pair.surface = i, pair.plane = k;
                pair.links[0] = c->link_of_surface[i], pair.links[1] = c->link_of_surface[k];
                place_axes(c, &pair);
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

/* Returns the sum of the products of one lane over some coordinates. It stays in a register, unlike a sum of lanes. */
static double sum_supported(int count, const int *support, const double *row, const double *x) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += row[support[i]] * x[support[i]];
    }
    return sum;
}

/* Computes the packed twists A x of the links, and the rates of the joints, where x are packed velocities. */
static void find_twists(const contacts *c, sample_block block, const double *restrict x, double *restrict u) {
    size_t nv = (size_t)c->model->nv, lanes = block.lanes;
    size_t twists = 6 * (size_t)c->link_count;
    for (size_t r = 0; r < twists; r++) {
        const double *restrict row = c->rows.A + r * nv * lanes;
        const int *support = c->supports + r / 6 * nv;
        double *restrict sum = u + r * lanes;
        int count = c->support_counts[r / 6];
        if (lanes == 1) {
            *sum = sum_supported(count, support, row, x);
            continue;
        }
        for (size_t l = 0; l < lanes; l++) {
            sum[l] = 0;
        }
        for (int i = 0; i < count; i++) {
            size_t at = (size_t)support[i] * lanes;
            for (size_t l = 0; l < lanes; l++) {
                sum[l] += row[at + l] * x[at + l];
            }
        }
    }
    for (int i = 0; i < c->joint_count; i++) {
        memcpy(u + (twists + (size_t)i) * lanes, x + (size_t)c->joints[i].v * lanes, lanes * sizeof *u);
    }
}

/* Returns the number of rows of all links and joints. */
static int moving_rows(const contacts *c) {
    return 6 * c->link_count + c->joint_count;
}

/* Stores the packed twists of a lane: of all links and joints. */
static void take_lane(const contacts *c, sample_block block, size_t l, const double *packed, double *u) {
    for (int r = 0; r < moving_rows(c); r++) {
        u[r] = packed[(size_t)r * block.lanes + l];
    }
}

/* States the law of a rigid contact. */
static void require_rigid(const contact_pair *pair, const contact_step *step, double gap, double v_before,
                          double v_free, contact_row *row) {
    row->required[0] = gap > 0 ? -gap / step->dt : fmin(-recovery * gap / step->dt, fastest_recovery);
    if (v_before < -step->rest_velocity && gap + step->dt * v_free < 0) {
        row->required[0] = fmax(row->required[0], -pair->restitution * v_before);
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
    row->compliance[0] = 1 / (step->dt * slope);
    row->required[0] = F / slope - rate;
    return true;
}

/* Returns the impedance d of a soft contact at a penetration. */
static double impedance(const dyn_soft_contact *soft, double penetration) {
    double x = fmin(penetration / soft->width, 1), m = soft->midpoint, p = soft->power;
    double share = x <= m ? pow(x / m, p) * m : 1 - pow((1 - x) / (1 - m), p) * (1 - m);
    return soft->impedance[0] + share * (soft->impedance[1] - soft->impedance[0]);
}

/* States the law of a soft contact with the velocity v before the step. Returns false where it has no force. */
static bool require_soft(const contact_pair *pair, const contact_step *step, double gap, const double v[3],
                         contact_row *row) {
    const dyn_soft_contact *soft = &pair->soft;
    if (!(gap < 0)) {
        return false;
    }
    double d = impedance(soft, -gap), T = soft->impedance[1] * fmax(soft->time_constant, 2 * step->dt);
    double B = 2 / T, K = 1 / (T * T * soft->damping_ratio * soft->damping_ratio);
    row->softness = (1 - d) / d;
    for (int k = 0; k < 3; k++) {
        row->required[k] = v[k] - step->dt * (B * v[k] + (k == 0 ? K * d * gap : 0));
    }
    return true;
}

/* Problem of a lane while its contacts are collected. */
typedef struct lane_problem {
    contacts *c;
    const contact_step *step;
    contact_lane *lane;
    contact_row *points;
    int *pair_of_point;
    bounded_row *bounded;
    const double *u_before, *u; /* twists of all links, at the start of the step and without impulses */
    int count;                  /* of contacts */
} lane_problem;

/* Point of a surface that may touch, with the axes of the contact and its gap. */
typedef struct contact_site {
    double point[3], axes[9], gap;
} contact_site;

/* Sets the place of a contact. The force of a soft contact acts in the middle between the point and the plane, as in
 * MuJoCo. */
static void place_contact(const contacts *c, const contact_pair *pair, const contact_site *site, contact_row *row) {
    memcpy(row->axes, site->axes, sizeof row->axes);
    for (int side = 0; side < 2; side++) {
        if (row->links[side] >= 0) {
            const double *origin = c->origins + 3 * row->links[side];
            double arm[3], half = pair->soft.time_constant > 0 ? site->gap / 2 : 0;
            for (int k = 0; k < 3; k++) {
                arm[k] = site->point[k] - origin[k] - half * row->axes[k];
            }
            contact_lever(row, side, arm);
        }
    }
}

/* Stores the place of a contact for a surface, which it pushes along sign n, where its gap is the smallest so far. */
static void store_nearest(contact_lane *lane, int surface, double sign, const contact_site *site) {
    if (site->gap < lane->gap[surface]) {
        lane->gap[surface] = site->gap;
        for (int k = 0; k < 3; k++) {
            lane->normal[3 * surface + k] = sign * site->axes[k];
            lane->point[3 * surface + k] = site->point[k];
        }
    }
}

/* States the law of a contact in an impact. Returns whether it strikes. */
static bool require_impact(const contact_pair *pair, const contact_step *step, double gap, double v_before,
                           contact_row *row) {
    row->required[0] = contacts_rebound(step, pair->restitution, v_before);
    return pair->stiffness == 0 && !(pair->soft.time_constant > 0) && contacts_strike(step, gap, v_before);
}

/* Adds a contact where its point may touch in this step. */
static void add_contact(lane_problem *p, int pair_index, const contact_site *site) {
    contacts *c = p->c;
    const contact_pair *pair = &c->pairs[pair_index];
    contact_row *row = &p->points[p->count];
    double before[3], free[3];
    row->links[0] = pair->links[0], row->links[1] = pair->links[1];
    row->friction = pair->friction;
    row->softness = 0;
    for (int k = 0; k < 3; k++) {
        row->impulse[k] = row->compliance[k] = row->required[k] = 0;
    }
    const double gap = site->gap;
    place_contact(c, pair, site, row);
    store_nearest(p->lane, pair->surface, 1, site);
    store_nearest(p->lane, pair->plane, -1, site);
    contact_velocity(row, p->u_before, before);
    contact_velocity(row, p->u, free);
    bool is_near = gap <= near || gap + 2 * p->step->dt * fmin(before[0], free[0]) <= 0;
    if (p->step->reach > 0) {
        is_near = require_impact(pair, p->step, gap, before[0], row);
    } else if (pair->soft.time_constant > 0) {
        is_near = require_soft(pair, p->step, gap, before, row);
    } else if (pair->stiffness > 0) {
        is_near = is_near && require_compliant(pair, p->step, gap, before[0], row);
    } else {
        require_rigid(pair, p->step, gap, before[0], free[0], row);
    }
    p->pair_of_point[p->count] = pair_index;
    p->count += is_near;
}

/* Finds the place of a point on the plane or the height field of a pair, whose axes are placed. Returns false where it
 * is beyond the grid. */
static bool find_site(const contacts *c, const contact_pair *pair, const double point[3], contact_site *site) {
    const dyn_contact_surface *surface = surface_at(c->model, pair->surface);
    const dyn_contact_surface *ground = surface_at(c->model, pair->plane);
    const dyn_pose *pose = &c->placed[pair->plane];
    memcpy(site->point, point, sizeof site->point);
    memcpy(site->axes, pair->axes, sizeof site->axes);
    if (ground->shape == DYN_CONTACT_SHAPE_HEIGHT_FIELD) {
        bool is_ball = surface->shape == DYN_CONTACT_SHAPE_SPHERE || surface->shape == DYN_CONTACT_SHAPE_CAPSULE;
        return contact_on_field(ground, pose, is_ball ? surface->radius : 0, site->point, site->axes, &site->gap);
    }
    site->gap = 0;
    for (int k = 0; k < 3; k++) {
        site->gap += site->axes[k] * (point[k] - pose->position[k]);
    }
    return true;
}

static void collect_contacts(lane_problem *p) {
    contacts *c = p->c;
    for (int i = 0; i < c->pair_count; i++) {
        contact_pair *pair = &c->pairs[i];
        const dyn_contact_surface *surface = surface_at(c->model, pair->surface);
        double points[MOST_CONTACT_POINTS][3];
        if (pair->links[1] >= 0) {
            place_axes(c, pair);
        }
        contact_points(surface, &c->placed[pair->surface], pair->axes, points);
        for (int k = 0; k < contact_point_count(surface->shape); k++) {
            contact_site site;
            if (find_site(c, pair, points[k], &site)) {
                add_contact(p, i, &site);
            }
        }
    }
}

/* Adds the force of a contact to those of its two surfaces, and its slip at the twists u. */
static void store_force(const lane_problem *p, int i, const double *u) {
    const contact_row *row = &p->points[i];
    const contact_pair *pair = &p->c->pairs[p->pair_of_point[i]];
    double v[3];
    contact_velocity(row, u, v);
    double slip = row->impulse[0] > 0 ? sqrt(v[1] * v[1] + v[2] * v[2]) : 0;
    for (int side = 0; side < 2; side++) {
        int surface = side == 0 ? pair->surface : pair->plane;
        double sign = side == 0 ? 1 : -1;
        for (int k = 0; k < 3; k++) {
            double f = row->axes[k] * row->impulse[0] + row->axes[3 + k] * row->impulse[1] +
                       row->axes[6 + k] * row->impulse[2];
            p->lane->force[3 * surface + k] += sign * f / p->step->dt;
        }
        p->lane->slip[surface] = fmax(p->lane->slip[surface], slip);
    }
}

static void clear_lane(const contacts *c, contact_lane *lane) {
    lane->course = (contact_course){0, 0};
    for (int i = 0; i < c->surface_count; i++) {
        for (int k = 0; k < 3; k++) {
            lane->force[3 * i + k] = lane->normal[3 * i + k] = lane->point[3 * i + k] = 0;
        }
        lane->gap[i] = INFINITY;
        lane->slip[i] = 0;
    }
}

/* Returns the problem of a lane, with no contact yet. */
static lane_problem problem_of_lane(contacts *c, const contact_step *step, size_t l) {
    size_t first = l * c->most_points;
    return (lane_problem){.c = c,
                          .step = step,
                          .lane = &c->lanes[l],
                          .points = c->points + first,
                          .pair_of_point = c->pair_of_point + first,
                          .bounded = c->bounded + l * MOST_JOINT_ROWS * (size_t)c->most_joints};
}

/* Collects the contacts of a lane. */
static void begin_lane(contacts *c, sample_block block, const contact_step *step, size_t l) {
    lane_problem p = problem_of_lane(c, step, l);
    double *u_before = c->u, *u = c->u + moving_rows(c);
    clear_lane(c, p.lane);
    place_lane(c, block, l);
    take_lane(c, block, l, c->u_before, u_before);
    take_lane(c, block, l, c->u_free, u);
    p.u_before = u_before, p.u = u;
    collect_contacts(&p);
    c->point_counts[l] = p.count;
    contacts_add_joints(c, block, step, l, 6 * c->link_count);
}

/* Chooses the links that touch in some lane. All links respond where the response needs all rows of A. */
static void choose_active(contacts *c, size_t lanes) {
    for (int i = 0; i < c->link_count; i++) {
        c->active[i] = c->model->has_coupling ? 0 : -1;
    }
    for (size_t l = 0; l < lanes; l++) {
        for (int i = 0; i < c->point_counts[l]; i++) {
            const contact_row *row = &c->points[l * c->most_points + (size_t)i];
            for (int side = 0; side < 2; side++) {
                if (row->links[side] >= 0) {
                    c->active[row->links[side]] = 0;
                }
            }
        }
    }
    c->active_count = 0;
    for (int i = 0; i < c->link_count; i++) {
        if (c->active[i] == 0) {
            c->groups[c->active_count] = c->rows.groups[i];
            c->active[i] = c->active_count++;
        }
    }
    size_t links = (size_t)c->link_count, others = c->rows.set.group_count - links;
    memcpy(c->groups + c->active_count, c->rows.groups + links, others * sizeof *c->groups);
}

/* Returns the number of rows that respond: those of the links that touch, of the joints and of the constraints. */
static int active_rows(const contacts *c) {
    return 6 * c->active_count + c->joint_count + c->closure_rows;
}

/* Computes the response of the links that touch. */
static void respond(contacts *c, sample_block block, const void *q, const void *diagonal) {
    constraint_rows *rows = &c->rows;
    const dyn_workspace *w = c->workspace;
    const int m = active_rows(c);
    size_t groups = rows->set.group_count - (size_t)(c->link_count - c->active_count);
    const row_set set = {m, groups, c->groups, rows->A};
    const row_results results = {rows->response, rows->accelerations, !c->model->has_coupling};
    block.kernels->row_response(c->model, w->memory, q, diagonal, &set, w->pivots, &results);
    block.kernels->unpack(rows->response, (size_t)(m * m), block.lanes, c->R);
    memset(c->w, 0, (size_t)m * block.lanes * sizeof *c->w);
}

/* Returns the response of the links and joints of a lane, `rows` of all m rows, under the constraints of the model. */
static const double *reduce(contacts *c, size_t l, int m, int rows) {
    double *R = c->R + l * (size_t)(m * m);
    if (m == rows) {
        return R;
    }
    eliminate_equalities(m, rows, R);
    for (int i = 0; i < rows; i++) {
        memcpy(c->reduced + i * rows, R + i * m, (size_t)rows * sizeof *R);
    }
    return c->reduced;
}

/* Stores the velocities without impulses of the links that touch, and of the joints. */
static void take_free_velocities(contacts *c, sample_block block, size_t l) {
    for (int i = 0; i < c->link_count; i++) {
        for (int r = 0; r < 6 && c->active[i] >= 0; r++) {
            c->u[6 * c->active[i] + r] = c->u_free[(size_t)(6 * i + r) * block.lanes + l];
        }
    }
    for (int i = 0; i < c->joint_count; i++) {
        c->u[6 * c->active_count + i] = c->u_free[(size_t)(6 * c->link_count + i) * block.lanes + l];
    }
}

/* Computes the responses of the contacts and joints of a lane. */
static void prepare_lane(contacts *c, lane_problem *p, size_t l, int rows, const double *R) {
    for (int i = 0; i < c->point_counts[l]; i++) {
        contact_row *row = &p->points[i];
        row->response = c->responses + (size_t)(3 * i * rows);
        for (int side = 0; side < 2; side++) {
            row->links[side] = row->links[side] >= 0 ? c->active[row->links[side]] : -1;
        }
        contact_respond(row, rows, R);
    }
    for (int i = 0; i < c->bounded_counts[l]; i++) {
        bounded_row *b = &p->bounded[i];
        b->row += 6 * (c->active_count - c->link_count);
        b->response = R + b->row * rows;
    }
}

/* Solves a lane, and stores its forces and its wrench impulses. */
static void solve_lane(contacts *c, sample_block block, const contact_step *step, size_t l) {
    lane_problem p = problem_of_lane(c, step, l);
    int m = active_rows(c), rows = m - c->closure_rows, count = c->point_counts[l], bounded = c->bounded_counts[l];
    double *w = c->w_lane;
    take_free_velocities(c, block, l);
    prepare_lane(c, &p, l, rows, reduce(c, l, m, rows));
    p.lane->course = contact_solve(
        &(contact_problem){rows, count, bounded, step->most_sweeps, c->u, p.points, p.bounded, c->memory});
    memset(w, 0, (size_t)m * sizeof *w);
    for (int i = 0; i < count; i++) {
        contact_add_wrench(&p.points[i], p.points[i].impulse, w);
        store_force(&p, i, c->u);
    }
    for (int i = 0; i < bounded; i++) {
        w[p.bounded[i].row] += p.bounded[i].impulse;
    }
    eliminate_recover(m, rows, c->R + l * (size_t)(m * m), w);
    for (int r = 0; r < m; r++) {
        c->w[(size_t)r * block.lanes + l] = w[r] / step->dt;
    }
}

/* Adds M^-1 A' w of the links that touch to the packed accelerations. The response left L^-T A', or M^-1 A' where mimic
 * joints are coupled (row_response.c). */
static void accelerate(const contacts *c, sample_block block, double *restrict a) {
    size_t m = (size_t)active_rows(c), nv = (size_t)c->model->nv, lanes = block.lanes;
    double *restrict sum = c->accelerations;
    for (size_t k = 0; k < nv && lanes == 1; k++) {
        double of_lane = 0;
        for (size_t r = 0; r < m; r++) {
            of_lane += c->rows.accelerations[k * m + r] * c->w[r];
        }
        sum[k] = of_lane;
    }
    for (size_t k = 0; k < nv && lanes > 1; k++) {
        for (size_t l = 0; l < lanes; l++) {
            sum[k * lanes + l] = 0;
        }
        for (size_t r = 0; r < m; r++) {
            const double *restrict x = c->rows.accelerations + (k * m + r) * lanes, *restrict w = c->w + r * lanes;
            for (size_t l = 0; l < lanes; l++) {
                sum[k * lanes + l] += x[l] * w[l];
            }
        }
    }
    if (!c->model->has_coupling) {
        const row_results results = {NULL, sum, false};
        block.kernels->row_response(c->model, c->workspace->memory, NULL, NULL, &(row_set){1, 0, NULL, NULL}, NULL,
                                    &results);
    }
    for (size_t i = 0; i < nv * lanes; i++) {
        a[i] += sum[i];
    }
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

/* Computes the poses and twists of the links in all lanes. */
static void move_links(contacts *c, sample_block block, const contact_step *step, const void *q, const double *v,
                       const double *a) {
    const dyn_workspace *w = c->workspace;
    for (int i = 0; i < c->link_count; i++) {
        size_t at = 12 * (size_t)i;
        block.kernels->frame_pose(c->model, w->memory, q, c->links[i], dyn_packed(c->pose, at, block),
                                  dyn_packed(c->pose, at + 3, block));
    }
    /* Where mimic joints are coupled, the response needs all rows of A. */
    const row_set twists = {6 * c->link_count, (size_t)c->link_count, c->rows.groups, c->rows.A};
    const row_set *set = c->model->has_coupling ? &c->rows.set : &twists;
    if (set->m > 0) {
        block.kernels->row_jacobian(c->model, w->memory, q, NULL, set, c->rows.A, NULL);
    }
    c->q = q;
    find_twists(c, block, v, c->u_before);
    find_twists(c, block, a, c->u_free);
    for (size_t i = 0; i < (size_t)moving_rows(c) * block.lanes; i++) {
        c->u_free[i] = c->u_before[i] + step->dt * c->u_free[i];
    }
}

void contacts_apply(contacts *c, sample_block block, const contact_step *step, const void *q, const void *v,
                    const void *diagonal, void *a) {
    move_links(c, block, step, q, v, a);
    int count = 0;
    for (size_t l = 0; l < block.lanes; l++) {
        begin_lane(c, block, step, l);
        count += c->point_counts[l] + c->bounded_counts[l];
    }
    if (count == 0) {
        return;
    }
    choose_active(c, block.lanes);
    respond(c, block, q, diagonal);
    for (size_t l = 0; l < block.lanes; l++) {
        if (c->point_counts[l] + c->bounded_counts[l] > 0) {
            solve_lane(c, block, step, l);
        }
    }
    accelerate(c, block, a);
}
