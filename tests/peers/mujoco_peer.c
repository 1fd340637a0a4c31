/*
 * MuJoCo: the model goes in as URDF, since that, other than MuJoCo's own nested format, has no bound on its depth.
 *
 * Only the smooth dynamics of a rigid tree are asked for, stage by stage: no contact, constraint, damping or actuator.
 * MuJoCo holds quaternions w first, and the linear velocity of a floating base in world axes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mujoco/mujoco.h>

#include "peer.h"
#include "urdf_writer.h"

struct peer {
    const dyn_model *model;
    mjModel *m;
    mjData *d;
    int nv;
    bool is_floating, in_order; /* in_order: MuJoCo's coordinates are in our order */
    int *q_address, *v_address; /* of our joint j */
    int *body;                  /* of our link i, -1 where it was merged */
    double rotation[9];         /* of the floating base, to the world */
    double *vector, *matrix;    /* nv, nv x nv (or 6 x nv) */
};

/* MuJoCo's defaults that would change the robot, switched off: merging of fixed links, checks that shift inertias. */
static const char *extension(bool merge_fixed) {
    return merge_fixed ? "<mujoco><compiler fusestatic=\"true\" balanceinertia=\"false\" boundmass=\"0\" "
                         "boundinertia=\"0\"/></mujoco>\n"
                       : "<mujoco><compiler fusestatic=\"false\" balanceinertia=\"false\" boundmass=\"0\" "
                         "boundinertia=\"0\"/></mujoco>\n";
}

/* Loads a text through MuJoCo's virtual file system. */
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

static bool allocate(peer *p) {
    size_t nv = (size_t)p->nv, joints = (size_t)dyn_model_joint_count(p->model);
    p->q_address = calloc(joints + 1, sizeof *p->q_address);
    p->v_address = calloc(joints + 1, sizeof *p->v_address);
    p->body = calloc((size_t)dyn_model_link_count(p->model), sizeof *p->body);
    p->vector = calloc(nv + 1, sizeof *p->vector);
    p->matrix = calloc((nv > 6 ? nv : 6) * nv + 1, sizeof *p->matrix);
    return p->q_address && p->v_address && p->body && p->vector && p->matrix;
}

/* Finds our joints and links in MuJoCo by name. */
static bool map_names(peer *p, char reason[PEER_REASON_SIZE]) {
    p->in_order = true;
    for (int j = 0; j < dyn_model_joint_count(p->model); j++) {
        const dyn_joint *joint = dyn_model_joint(p->model, j);
        int id = mj_name2id(p->m, mjOBJ_JOINT, joint->name);
        if (id < 0) {
            snprintf(reason, PEER_REASON_SIZE, "MuJoCo has lost joint %s", joint->name);
            return false;
        }
        p->q_address[j] = p->m->jnt_qposadr[id];
        p->v_address[j] = p->m->jnt_dofadr[id];
        p->in_order = p->in_order && p->v_address[j] == joint->v_index;
    }
    for (int i = 0; i < dyn_model_link_count(p->model); i++) {
        p->body[i] = mj_name2id(p->m, mjOBJ_BODY, dyn_model_link(p->model, i)->name);
    }
    return true;
}

static void destroy(peer *p) {
    if (p) {
        if (p->d) {
            mj_deleteData(p->d);
        }
        if (p->m) {
            mj_deleteModel(p->m);
        }
        free(p->q_address), free(p->v_address), free(p->body), free(p->vector), free(p->matrix);
        free(p);
    }
}

static peer *create_from_text(const dyn_model *model, const char *text, char reason[PEER_REASON_SIZE]) {
    peer *p = calloc(1, sizeof *p);
    if (!p) {
        return NULL;
    }
    p->model = model;
    p->nv = dyn_model_nv(model);
    p->is_floating = dyn_model_is_floating(model);
    p->m = load_text(text, reason);
    if (p->m && p->m->nv != p->nv) {
        snprintf(reason, PEER_REASON_SIZE, "MuJoCo has %d velocities instead of %d", p->m->nv, p->nv);
    } else if (p->m && allocate(p) && map_names(p, reason)) {
        p->d = mj_makeData(p->m);
        dyn_model_gravity(model, p->m->opt.gravity);
        return p;
    }
    destroy(p);
    return NULL;
}

static peer *create(const dyn_model *model, bool merge_fixed, char reason[PEER_REASON_SIZE]) {
    char *text = urdf_write(model, extension(merge_fixed));
    if (!text) {
        snprintf(reason, PEER_REASON_SIZE, "URDF has no joint of a type of this robot's");
        return NULL;
    }
    peer *p = create_from_text(model, text, reason);
    free(text);
    return p;
}

/* MuJoCo's own reading of a file; its options go in before the closing tag. */
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

/* ---- conversion -------------------------------------------------------------------------------------------------- */

/* out = R x, or R' x; out may be x. */
static void rotate(const double R[9], bool transposed, const double x[3], double out[3]) {
    double y[3];
    for (int i = 0; i < 3; i++) {
        y[i] = transposed ? R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2]
                          : R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
    }
    memcpy(out, y, sizeof y);
}

/* w x v of a base velocity (v; w): what the acceleration of a point has beside the rate of its body coordinates. */
static void transport_acceleration(const double *v, double out[3]) {
    out[0] = v[4] * v[2] - v[5] * v[1];
    out[1] = v[5] * v[0] - v[3] * v[2];
    out[2] = v[3] * v[1] - v[4] * v[0];
}

/* Writes a vector of ours as one of MuJoCo's in velocity coordinates; a floating base's linear part is turned. */
static void put_vector(const peer *p, const double *x, double *out) {
    if (p->in_order) {
        memcpy(out, x, (size_t)p->nv * sizeof *x);
    } else {
        for (int j = 0; j < dyn_model_joint_count(p->model); j++) {
            const dyn_joint *joint = dyn_model_joint(p->model, j);
            memcpy(out + p->v_address[j], x + joint->v_index, (size_t)joint->nv * sizeof *x);
        }
    }
    if (p->is_floating) {
        double *base = out + p->v_address[0];
        rotate(p->rotation, false, base, base);
    }
}

static void take_vector(const peer *p, const double *x, double *out) {
    if (p->in_order) {
        memcpy(out, x, (size_t)p->nv * sizeof *x);
    } else {
        for (int j = 0; j < dyn_model_joint_count(p->model); j++) {
            const dyn_joint *joint = dyn_model_joint(p->model, j);
            memcpy(out + joint->v_index, x + p->v_address[j], (size_t)joint->nv * sizeof *x);
        }
    }
    if (p->is_floating) {
        rotate(p->rotation, true, out, out);
    }
}

static void put_configuration(peer *p, const double *q) {
    if (p->in_order && !p->is_floating) {
        memcpy(p->d->qpos, q, (size_t)p->nv * sizeof *q);
        return;
    }
    for (int j = 0; j < dyn_model_joint_count(p->model); j++) {
        const dyn_joint *joint = dyn_model_joint(p->model, j);
        const double *from = q + joint->q_index;
        double *to = p->d->qpos + p->q_address[j];
        if (joint->type == DYN_JOINT_FLOATING) {
            const double moved[7] = {from[0], from[1], from[2], from[6], from[3], from[4], from[5]};
            memcpy(to, moved, sizeof moved);
            mju_quat2Mat(p->rotation, moved + 3);
        } else {
            *to = *from;
        }
    }
}

/* Adds (or takes off) what distinguishes MuJoCo's acceleration of a floating base from ours, in body axes. */
static void shift_acceleration(const peer *p, const double *v, double sign, double *a) {
    double extra[3];
    transport_acceleration(v, extra);
    for (int i = 0; i < 3 && p->is_floating; i++) {
        a[i] += sign * extra[i];
    }
}

/* Accelerations of ours as MuJoCo's; a NULL stands for zeros. */
static void put_acceleration(peer *p, const double *v, const double *a) {
    if (a) {
        memcpy(p->vector, a, (size_t)p->nv * sizeof *a);
    } else {
        memset(p->vector, 0, (size_t)p->nv * sizeof *p->vector);
    }
    if (p->is_floating) {
        shift_acceleration(p, v, 1, p->vector);
    }
    put_vector(p, p->vector, p->d->qacc);
}

/* Rows of a matrix over MuJoCo's velocities (rows x nv), as rows over ours; they may not be the same array. */
static void take_rows(const peer *p, const double *matrix, int rows, double *out) {
    for (int i = 0; i < rows; i++) {
        take_vector(p, matrix + (size_t)i * (size_t)p->nv, out + (size_t)i * (size_t)p->nv);
    }
}

static void transpose(double *matrix, int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            double x = matrix[i * n + j];
            matrix[i * n + j] = matrix[j * n + i];
            matrix[j * n + i] = x;
        }
    }
}

/* ---- quantities -------------------------------------------------------------------------------------------------- */

static void positions(peer *p, const double *q) {
    put_configuration(p, q);
    mj_kinematics(p->m, p->d);
    mj_comPos(p->m, p->d);
}

static void velocities(peer *p, const double *v) {
    put_vector(p, v, p->d->qvel);
    mj_comVel(p->m, p->d);
}

static bool inverse_dynamics(peer *p, const double *q, const double *v, const double *a, double *tau) {
    positions(p, q);
    velocities(p, v);
    put_acceleration(p, v, a);
    mj_rne(p->m, p->d, 1, p->d->qfrc_inverse);
    take_vector(p, p->d->qfrc_inverse, tau);
    return true;
}

static bool bias(peer *p, const double *q, const double *v, double *h) {
    if (p->is_floating) {
        return inverse_dynamics(p, q, v, NULL, h);
    }
    positions(p, q);
    velocities(p, v);
    mj_rne(p->m, p->d, 0, p->d->qfrc_bias);
    take_vector(p, p->d->qfrc_bias, h);
    return true;
}

static bool gravity(peer *p, const double *q, double *g) {
    positions(p, q);
    mju_zero(p->d->qvel, p->nv);
    mj_comVel(p->m, p->d);
    mj_rne(p->m, p->d, 0, p->d->qfrc_bias);
    take_vector(p, p->d->qfrc_bias, g);
    return true;
}

static bool mass_matrix(peer *p, const double *q, double *M) {
    positions(p, q);
    mj_crb(p->m, p->d);
    if (M) {
        mj_fullM(p->m, M, p->d->qM);
        take_rows(p, M, p->nv, p->matrix);
        transpose(p->matrix, p->nv);
        take_rows(p, p->matrix, p->nv, M);
    }
    return true;
}

static bool forward_dynamics(peer *p, const double *q, const double *v, const double *tau, double *a) {
    positions(p, q);
    mj_crb(p->m, p->d);
    mj_factorM(p->m, p->d);
    velocities(p, v);
    mj_rne(p->m, p->d, 0, p->d->qfrc_bias);
    put_vector(p, tau, p->vector);
    mju_subFrom(p->vector, p->d->qfrc_bias, p->nv);
    mj_solveM(p->m, p->d, p->d->qacc, p->vector, 1);
    take_vector(p, p->d->qacc, a);
    if (p->is_floating) {
        shift_acceleration(p, v, -1, a);
    }
    return true;
}

static bool frame_pose(peer *p, const double *q, int link, double position[3], double rotation[9]) {
    if (p->body[link] < 0) {
        return false;
    }
    put_configuration(p, q);
    mj_kinematics(p->m, p->d);
    mju_copy3(position, p->d->xpos + 3 * p->body[link]);
    mju_copy(rotation, p->d->xmat + 9 * p->body[link], 9);
    return true;
}

static bool frame_jacobian(peer *p, const double *q, int link, double *J) {
    if (p->body[link] < 0) {
        return false;
    }
    positions(p, q);
    mj_jacBody(p->m, p->d, p->matrix + 3 * p->nv, p->matrix, p->body[link]);
    take_rows(p, p->matrix, 6, J);
    return true;
}

const peer_library mujoco_library = {
    .name = "MuJoCo 2.2",
    .key = "mujoco",
    .tolerance = 1e-6, /* it finds the principal axes of an inertia by an iteration that stops at about 1e-8 */
    .create = create,
    .read = read_urdf,
    .destroy = destroy,
    .inverse_dynamics = inverse_dynamics,
    .bias = bias,
    .gravity = gravity,
    .mass_matrix = mass_matrix,
    .forward_dynamics = forward_dynamics,
    .frame_pose = frame_pose,
    .frame_jacobian = frame_jacobian,
};
