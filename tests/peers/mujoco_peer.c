/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer that computes with MuJoCo. It passes the model as URDF, which, unlike MuJoCo's own nested format, has no bound
 * on its depth.
 *
 * The peer calls only the stages for the smooth dynamics of a rigid tree: no contact, constraint, damping or actuator.
 * MuJoCo holds quaternions w first, and the linear velocity of a floating base in world axes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/description.h>
#include <mujoco/mujoco.h>

#include "coordinates.h"
#include "mjcf_writer.h"
#include "peer.h"
#include "urdf_writer.h"

struct peer {
    const dyn_model *model;
    mjModel *m;
    mjData *d;
    coordinates velocity;
    int *q_address; /* of our joint j */
    int *body;      /* of our link i, -1 where it was merged */
    bool all_moves; /* no mass is fixed to the world, so that MuJoCo's sums over bodies are ours */
    double *zero;   /* nv zeros */
    double *matrix; /* nv x nv or 6 x nv */
    double *unit;   /* nv x nv */
};

/* Returns options of MuJoCo that switch off defaults which would change the robot: checks that shift inertias and,
 * without `merge_fixed`, merging of fixed links. */
static const char *extension(bool merge_fixed) {
    return merge_fixed ? "<mujoco><compiler fusestatic=\"true\" balanceinertia=\"false\" boundmass=\"0\" "
                         "boundinertia=\"0\"/></mujoco>\n"
                       : "<mujoco><compiler fusestatic=\"false\" balanceinertia=\"false\" boundmass=\"0\" "
                         "boundinertia=\"0\"/></mujoco>\n";
}

/* Loads a model from the text of a file through MuJoCo's virtual file system. Returns NULL, with MuJoCo's reason, where
 * MuJoCo refuses the text, and NULL where memory is exhausted. */
static mjModel *load_text(const char *text, char reason[PEER_REASON_SIZE]) {
    mjVFS *files = malloc(sizeof *files);
    mjModel *model = NULL;
    size_t size = strlen(text);
    if (files) {
        mj_defaultVFS(files);
        mj_makeEmptyFileVFS(files, "robot.urdf", (int)size);
        memcpy(files->filedata[0], text, size);
        model = mj_loadXML("robot.urdf", files, reason, PEER_REASON_SIZE);
        mj_deleteVFS(files);
        free(files);
    }
    return model;
}

/* Finds our joints and links in MuJoCo by name, and creates the map of velocities. Returns false where a joint is
 * missing or memory is exhausted. */
static bool map_names(peer *p, char reason[PEER_REASON_SIZE]) {
    int joints = dyn_model_joint_count(p->model), links = dyn_model_link_count(p->model);
    int *v_address = calloc((size_t)joints + 1, sizeof *v_address);
    p->q_address = calloc((size_t)joints + 1, sizeof *p->q_address);
    p->body = calloc((size_t)links, sizeof *p->body);
    bool found = v_address && p->q_address && p->body;
    for (int j = 0; j < joints && found; j++) {
        const char *name = dyn_model_joint(p->model, j)->name;
        int id = mj_name2id(p->m, mjOBJ_JOINT, name);
        found = id >= 0;
        snprintf(reason, PEER_REASON_SIZE, "MuJoCo has lost joint %s", name);
        p->q_address[j] = found ? p->m->jnt_qposadr[id] : 0;
        v_address[j] = found ? p->m->jnt_dofadr[id] : 0;
    }
    for (int i = 0; i < links && found; i++) {
        p->body[i] = mj_name2id(p->m, mjOBJ_BODY, dyn_model_link(p->model, i)->name);
    }
    static const base_convention convention = {.linear_in_world = true};
    found = found && coordinates_create(&p->velocity, p->model, convention, v_address);
    free(v_address);
    return found;
}

static void destroy(peer *p) {
    if (p) {
        if (p->d) {
            mj_deleteData(p->d);
        }
        if (p->m) {
            mj_deleteModel(p->m);
        }
        coordinates_free(&p->velocity);
        free(p->q_address), free(p->body), free(p->zero), free(p->matrix), free(p->unit);
        free(p);
    }
}

static bool allocate(peer *p) {
    size_t nv = (size_t)p->m->nv;
    p->zero = calloc(nv + 1, sizeof *p->zero);
    p->matrix = calloc((nv > 6 ? nv : 6) * nv + 1, sizeof *p->matrix);
    p->unit = calloc(nv * nv + 1, sizeof *p->unit);
    p->d = mj_makeData(p->m);
    return p->zero && p->matrix && p->unit && p->d;
}

static peer *create_from_text(const dyn_model *model, const char *text, char reason[PEER_REASON_SIZE]) {
    peer *p = calloc(1, sizeof *p);
    if (!p) {
        return NULL;
    }
    p->model = model;
    p->m = load_text(text, reason);
    if (p->m && p->m->nv != dyn_model_nv(model)) {
        snprintf(reason, PEER_REASON_SIZE, "MuJoCo has %d velocities instead of %d", p->m->nv, dyn_model_nv(model));
    } else if (p->m && map_names(p, reason) && allocate(p)) {
        dyn_model_gravity(model, p->m->opt.gravity);
        p->m->opt.enableflags |= mjENBL_ENERGY;
        p->all_moves = fabs(mj_getTotalmass(p->m) - dyn_model_mass(model)) <= 1e-9 * dyn_model_mass(model);
        return p;
    }
    destroy(p);
    return NULL;
}

/* Stores the points of the second bodies of coincident points, which MuJoCo has found in the zero configuration. */
static void set_anchors(peer *p, const dyn_builder *description) {
    for (int i = 0; i < p->m->neq; i++) {
        if (p->m->eq_type[i] == mjEQ_CONNECT) {
            mju_copy3(p->m->eq_data + i * mjNEQDATA + 3,
                      dyn_builder_constraint(description, i)->predecessor.pose.position);
        }
    }
}

/* Creates the robot of a model with constraints, which needs MuJoCo's own format. */
static peer *create_with_constraints(const dyn_model *model, char reason[PEER_REASON_SIZE]) {
    dyn_builder *description;
    dyn_error error;
    char *text = mjcf_write(model, reason);
    peer *p = text ? create_from_text(model, text, reason) : NULL;
    free(text);
    if (!p) {
        return NULL;
    }
    if (dyn_model_describe(model, &description, &error) != DYN_OK) {
        snprintf(reason, PEER_REASON_SIZE, "%.200s", error.message);
        destroy(p);
        return NULL;
    }
    set_anchors(p, description);
    dyn_builder_free(description);
    return p;
}

static peer *create(const dyn_model *model, bool merge_fixed, char reason[PEER_REASON_SIZE]) {
    if (dyn_model_constraint_count(model) > 0) {
        return create_with_constraints(model, reason);
    }
    char *text = urdf_write(model, extension(merge_fixed));
    if (!text) {
        snprintf(reason, PEER_REASON_SIZE, "URDF has no joint of a type of this robot's");
        return NULL;
    }
    peer *p = create_from_text(model, text, reason);
    free(text);
    return p;
}

/* Loads the text of a URDF file by MuJoCo's own reader, with MuJoCo's options inserted before the closing tag. Returns
 * NULL, with the reason, where the robot is floating or the text is refused. */
static peer *read_urdf(const dyn_model *model, const char *urdf, char reason[PEER_REASON_SIZE]) {
    if (dyn_model_is_floating(model)) {
        snprintf(reason, PEER_REASON_SIZE, "MuJoCo fixes the root of a URDF file to the world");
        return NULL;
    }
    const char *end = strstr(urdf, "</robot>");
    char *text = NULL;
    if (!end || asprintf(&text, "%.*s%s</robot>", (int)(end - urdf), urdf, extension(false)) < 0) {
        snprintf(reason, PEER_REASON_SIZE, "the text has no </robot>");
        return NULL;
    }
    peer *p = create_from_text(model, text, reason);
    free(text);
    return p;
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

static void set_configuration(peer *p, const double *q) {
    coordinates_turn(&p->velocity, q);
    if (p->velocity.is_same_order && !p->velocity.is_floating) {
        memcpy(p->d->qpos, q, (size_t)p->m->nq * sizeof *q);
        return;
    }
    for (int j = 0; j < dyn_model_joint_count(p->model); j++) {
        const dyn_joint *joint = dyn_model_joint(p->model, j);
        const double *from = q + joint->q_index;
        double *to = p->d->qpos + p->q_address[j];
        if (joint->type == DYN_JOINT_TYPE_FLOATING) {
            const double moved[7] = {from[0], from[1], from[2], from[6], from[3], from[4], from[5]};
            memcpy(to, moved, sizeof moved);
        } else {
            *to = *from;
        }
    }
}

static void positions(peer *p, const algorithm_input *in) {
    set_configuration(p, in->q);
    mj_kinematics(p->m, p->d);
    mj_comPos(p->m, p->d);
}

static void velocities(peer *p, const double *v) {
    coordinates_to_peer(&p->velocity, v, p->d->qvel);
    mj_comVel(p->m, p->d);
}

static bool copy(const peer *p, const double *x, double *out) {
    if (out) {
        coordinates_from_peer(&p->velocity, x, out);
    }
    return true;
}

/* Stores the angular, then the linear part, unless `out` is NULL. Returns true. */
static bool copy_pair(const double *angular, const double *linear, double *out) {
    if (out) {
        mju_copy3(out, angular);
        mju_copy3(out + 3, linear);
    }
    return true;
}

/* ---- dynamics ---------------------------------------------------------------------------------------------------- */

/* Computes tau for the acceleration a; v, a and tau are in this library's coordinates. */
static bool inverse_dynamics(peer *p, const algorithm_input *in, const double *v, const double *a, double *tau) {
    positions(p, in);
    velocities(p, v);
    coordinates_acceleration_to_peer(&p->velocity, v, a, p->d->qacc);
    mj_rne(p->m, p->d, 1, p->d->qfrc_inverse);
    return copy(p, p->d->qfrc_inverse, tau);
}

static bool rnea(peer *p, const algorithm_input *in, double *tau) {
    return inverse_dynamics(p, in, in->v, in->a, tau);
}

static bool bias(peer *p, const algorithm_input *in, double *h) {
    if (p->velocity.is_floating) { /* acceleration is not one of MuJoCo's numbers */
        return inverse_dynamics(p, in, in->v, p->zero, h);
    }
    positions(p, in);
    velocities(p, in->v);
    mj_rne(p->m, p->d, 0, p->d->qfrc_bias);
    return copy(p, p->d->qfrc_bias, h);
}

/* Computes the bias force without gravity. */
static bool coriolis_forces(peer *p, const algorithm_input *in, double *c) {
    double g[3];
    mju_copy3(g, p->m->opt.gravity);
    mju_zero3(p->m->opt.gravity);
    bool found = bias(p, in, c);
    mju_copy3(p->m->opt.gravity, g);
    return found;
}

static bool gravity(peer *p, const algorithm_input *in, double *g) {
    positions(p, in);
    velocities(p, p->zero);
    mj_rne(p->m, p->d, 0, p->d->qfrc_bias);
    return copy(p, p->d->qfrc_bias, g);
}

static bool crba(peer *p, const algorithm_input *in, double *M) {
    positions(p, in);
    mj_crb(p->m, p->d);
    if (M) {
        mj_fullM(p->m, p->matrix, p->d->qM);
        coordinates_square_from_peer(&p->velocity, p->matrix, M);
    }
    return true;
}

/* Computes M^-1, whose columns are the accelerations of unit forces. */
static bool minverse(peer *p, const algorithm_input *in, double *inverse) {
    int nv = p->m->nv;
    positions(p, in);
    mj_crb(p->m, p->d);
    mj_factorM(p->m, p->d);
    mju_zero(p->unit, nv * nv);
    for (int i = 0; i < nv; i++) {
        p->unit[i * nv + i] = 1;
    }
    mj_solveM(p->m, p->d, p->matrix, p->unit, nv);
    if (inverse) {
        coordinates_square_from_peer(&p->velocity, p->matrix, inverse);
    }
    return true;
}

/* Computes J v of MuJoCo's constraints at its configuration, moved for a time dt at its velocity, into `rates`. */
static void moved_rates(peer *p, double dt, double *rates) {
    int nq = p->m->nq;
    double *q = p->unit; /* nq = nv for joints with one coordinate */
    mju_copy(q, p->d->qpos, nq);
    mj_integratePos(p->m, p->d->qpos, p->d->qvel, dt);
    mj_fwdPosition(p->m, p->d);
    mj_mulJacVec(p->m, p->d, rates, p->d->qvel);
    mju_copy(p->d->qpos, q, nq);
}

/* Computes accelerations with constraints in a state that keeps them. MuJoCo's constraints are soft, and lack
 * dJ/dt v: here their regularization, about a tenth of their own response, is reduced by 1e-8, and the reference
 * acceleration is -dJ/dt v, by central differences of MuJoCo's Jacobian. A caller that does not read the accelerations
 * gets MuJoCo's own, with soft constraints. */
static bool constrained_dynamics(peer *p, const algorithm_input *in, double *a) {
    const double dt = 1e-5;
    set_configuration(p, in->q);
    coordinates_to_peer(&p->velocity, in->v, p->d->qvel);
    coordinates_to_peer(&p->velocity, in->tau, p->d->qfrc_applied);
    if (!a) {
        mj_forward(p->m, p->d);
        return true;
    }
    mj_fwdPosition(p->m, p->d);
    int rows = p->d->nefc;
    double *ahead = p->matrix, *behind = p->matrix + rows;
    if (rows > 6) { /* one constraint has six */
        return false;
    }
    moved_rates(p, dt, ahead);
    moved_rates(p, -dt, behind);
    mj_fwdPosition(p->m, p->d);
    mj_fwdVelocity(p->m, p->d);
    for (int i = 0; i < rows; i++) {
        p->d->efc_aref[i] = (behind[i] - ahead[i]) / (2 * dt);
        p->d->efc_R[i] *= 1e-8;
        p->d->efc_D[i] *= 1e8;
    }
    mj_fwdActuation(p->m, p->d);
    mj_fwdAcceleration(p->m, p->d);
    mj_fwdConstraint(p->m, p->d);
    return copy(p, p->d->qacc, a);
}

/* Computes accelerations by the smooth part of MuJoCo's step: mass matrix, its factors, bias, solution. */
static bool forward_dynamics(peer *p, const algorithm_input *in, double *a) {
    if (p->m->neq > 0) {
        return constrained_dynamics(p, in, a);
    }
    positions(p, in);
    mj_crb(p->m, p->d);
    mj_factorM(p->m, p->d);
    velocities(p, in->v);
    mj_rne(p->m, p->d, 0, p->d->qfrc_bias);
    coordinates_to_peer(&p->velocity, in->tau, p->d->qfrc_smooth);
    mju_subFrom(p->d->qfrc_smooth, p->d->qfrc_bias, p->m->nv);
    mj_solveM(p->m, p->d, p->d->qacc, p->d->qfrc_smooth, 1);
    if (a) {
        coordinates_acceleration_from_peer(&p->velocity, in->v, p->d->qacc, a);
    }
    return true;
}

/* ---- energy and momentum ----------------------------------------------------------------------------------------- */

static bool kinetic_energy(peer *p, const algorithm_input *in, double *T) {
    positions(p, in);
    mj_crb(p->m, p->d);
    coordinates_to_peer(&p->velocity, in->v, p->d->qvel);
    mj_energyVel(p->m, p->d);
    if (T) {
        *T = p->d->energy[1];
    }
    return true;
}

static bool potential_energy(peer *p, const algorithm_input *in, double *V) {
    if (!p->all_moves) {
        return false;
    }
    set_configuration(p, in->q);
    mj_kinematics(p->m, p->d);
    mj_energyPos(p->m, p->d);
    if (V) {
        *V = p->d->energy[0];
    }
    return true;
}

static bool center_of_mass(peer *p, const algorithm_input *in, double *c) {
    if (!p->all_moves) {
        return false;
    }
    positions(p, in);
    if (c) {
        mju_copy3(c, p->d->subtree_com);
    }
    return true;
}

static bool center_of_mass_jacobian(peer *p, const algorithm_input *in, double *J) {
    if (!p->all_moves) {
        return false;
    }
    positions(p, in);
    mj_jacSubtreeCom(p->m, p->d, p->matrix, 0);
    if (J) {
        coordinates_rows_from_peer(&p->velocity, p->matrix, 3, J);
    }
    return true;
}

static bool centroidal_momentum(peer *p, const algorithm_input *in, double *h) {
    if (!p->all_moves) {
        return false;
    }
    double linear[3];
    positions(p, in);
    velocities(p, in->v);
    mj_subtreeVel(p->m, p->d);
    mju_scl3(linear, p->d->subtree_linvel, mj_getTotalmass(p->m));
    return copy_pair(p->d->subtree_angmom, linear, h);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static bool pose(peer *p, const algorithm_input *in, double *out) {
    int body = p->body[in->frame];
    if (body < 0) {
        return false;
    }
    set_configuration(p, in->q);
    mj_kinematics(p->m, p->d);
    if (out) {
        mju_copy3(out, p->d->xpos + 3 * body);
        mju_copy(out + 3, p->d->xmat + 9 * body, 9);
    }
    return true;
}

static bool jacobian(peer *p, const algorithm_input *in, double *J) {
    if (p->body[in->frame] < 0) {
        return false;
    }
    positions(p, in);
    mj_jacBody(p->m, p->d, p->matrix + 3 * p->m->nv, p->matrix, p->body[in->frame]);
    if (J) {
        coordinates_rows_from_peer(&p->velocity, p->matrix, 6, J);
    }
    return true;
}

static bool twist(peer *p, const algorithm_input *in, double *V) {
    if (p->body[in->frame] < 0) {
        return false;
    }
    double found[6];
    positions(p, in);
    velocities(p, in->v);
    mj_objectVelocity(p->m, p->d, mjOBJ_XBODY, p->body[in->frame], found, 0);
    return copy_pair(found, found + 3, V);
}

static bool frame_force(peer *p, const algorithm_input *in, double *tau) {
    int body = p->body[in->frame];
    if (body < 0) {
        return false;
    }
    positions(p, in);
    mju_zero(p->d->qfrc_applied, p->m->nv);
    mj_applyFT(p->m, p->d, in->wrench + 3, in->wrench, p->d->xpos + 3 * body, body, p->d->qfrc_applied);
    return copy(p, p->d->qfrc_applied, tau);
}

static const peer_algorithm algorithms[] = {
    {ALGORITHM_RNEA, rnea},
    {ALGORITHM_BIAS, bias},
    {ALGORITHM_CORIOLIS_FORCES, coriolis_forces},
    {ALGORITHM_GRAVITY, gravity},
    {ALGORITHM_CRBA, crba},
    {ALGORITHM_MINVERSE, minverse},
    {ALGORITHM_ABA, forward_dynamics},
    {ALGORITHM_KINETIC_ENERGY, kinetic_energy},
    {ALGORITHM_POTENTIAL_ENERGY, potential_energy},
    {ALGORITHM_CENTER_OF_MASS, center_of_mass},
    {ALGORITHM_CENTER_OF_MASS_JACOBIAN, center_of_mass_jacobian},
    {ALGORITHM_CENTROIDAL_MOMENTUM, centroidal_momentum},
    {ALGORITHM_POSE, pose},
    {ALGORITHM_JACOBIAN, jacobian},
    {ALGORITHM_TWIST, twist},
    {ALGORITHM_FRAME_FORCE, frame_force},
    {ALGORITHM_COUNT, NULL},
};

const peer_library mujoco_library = {
    .name = "MuJoCo 2.2",
    .key = "mujoco",
    .tolerance = 1e-6, /* MuJoCo finds the principal axes of an inertia by an iteration that stops at about 1e-8 */
    .has_floating_base = true,
    .create = create,
    .read = read_urdf,
    .destroy = destroy,
    .algorithms = algorithms,
};
