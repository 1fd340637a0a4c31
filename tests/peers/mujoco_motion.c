/* SPDX-License-Identifier: BSD-2-Clause */
#include "mujoco_motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/contact.h>
#include <dynamics/dynamics.h>
#include <mujoco/mujoco.h>

#include "coordinates.h"
#include "urdf_writer.h"

struct mujoco_motion {
    const dyn_model *model;
    mjModel *m;
    mjData *d;
    coordinates velocity;
    int *q_address, *v_address; /* of our joint j */
};

static const char extension[] = "<mujoco><compiler fusestatic=\"true\" balanceinertia=\"false\" boundmass=\"0\" "
                                "boundinertia=\"0\"/></mujoco>\n";

static mjModel *load_text(const char *text) {
    mjVFS *files = malloc(sizeof *files);
    mjModel *model = NULL;
    char reason[256];
    size_t size = strlen(text);
    if (files) {
        mj_defaultVFS(files);
        mj_makeEmptyFileVFS(files, "robot.urdf", (int)size);
        memcpy(files->filedata[0], text, size);
        model = mj_loadXML("robot.urdf", files, reason, sizeof reason);
        mj_deleteVFS(files);
        free(files);
    }
    return model;
}

/* Finds our joints in MuJoCo's model by name. Returns false where a joint is missing or memory is exhausted. */
static bool map_joints(mujoco_motion *motion) {
    static const base_convention convention = {.linear_in_world = true};
    int count = dyn_model_joint_count(motion->model);
    motion->q_address = calloc((size_t)count + 1, sizeof *motion->q_address);
    motion->v_address = calloc((size_t)count + 1, sizeof *motion->v_address);
    bool found = motion->q_address && motion->v_address;
    for (int j = 0; found && j < count; j++) {
        int id = mj_name2id(motion->m, mjOBJ_JOINT, dyn_model_joint(motion->model, j)->name);
        found = id >= 0;
        motion->q_address[j] = found ? motion->m->jnt_qposadr[id] : 0;
        motion->v_address[j] = found ? motion->m->jnt_dofadr[id] : 0;
    }
    return found && coordinates_create(&motion->velocity, motion->model, convention, motion->v_address);
}

/* Sets the armature of each joint to the reflected inertia of its rotors. Returns false where the model has other
 * machine elements, or memory is exhausted. */
static bool set_armatures(mujoco_motion *motion) {
    dyn_builder *builder;
    dyn_error error;
    if (dyn_model_describe(motion->model, &builder, &error) != DYN_OK) {
        return false;
    }
    bool is_set = true;
    for (int i = 0; i < dyn_builder_machine_element_count(builder); i++) {
        const dyn_machine_element_description *e = dyn_builder_machine_element(builder, i);
        int j = dyn_model_find_joint(motion->model, e->joint);
        is_set = is_set && j >= 0 && e->kind == DYN_MACHINE_ELEMENT_KIND_ROTOR &&
                 e->rotor.coupling == DYN_ROTOR_COUPLING_REFLECTED && e->rotor.mass == 0;
        if (is_set) {
            motion->m->dof_armature[motion->v_address[j]] += e->rotor.ratio * e->rotor.ratio * e->rotor.axial_inertia;
        }
    }
    dyn_builder_free(builder);
    return is_set;
}

/* Gives a surface the parameters of a soft contact. */
static void soften(mjModel *m, int geom, const dyn_soft_contact *soft) {
    const double reference[] = {soft->time_constant, soft->damping_ratio};
    const double impedance[] = {soft->impedance[0], soft->impedance[1], soft->width, soft->midpoint, soft->power};
    memcpy(m->geom_solref + mjNREF * geom, reference, sizeof reference);
    memcpy(m->geom_solimp + mjNIMP * geom, impedance, sizeof impedance);
}

/* Makes the surfaces of the world planes that touch all others, which do not touch each other; all have the friction of
 * the first pair. Where some are soft, all are, with the parameters of the last of these, and the cones are elliptic.
 */
static void set_surfaces(mujoco_motion *motion) {
    mjModel *m = motion->m;
    double mu = 1;
    const dyn_soft_contact *soft = NULL;
    for (int i = 0; i < dyn_model_contact_surface_count(motion->model); i++) {
        const dyn_contact_surface *surface = dyn_model_contact_surface(motion->model, i);
        mu = fmin(mu, surface->friction);
        soft = surface->soft.time_constant > 0 ? &surface->soft : soft;
    }
    if (soft) {
        m->opt.cone = mjCONE_ELLIPTIC;
        m->opt.tolerance = 1e-14;
    }
    for (int i = 0; i < m->ngeom; i++) {
        bool is_plane = m->geom_bodyid[i] == 0;
        m->geom_contype[i] = !is_plane;
        m->geom_conaffinity[i] = is_plane;
        m->geom_condim[i] = mu > 0 ? 3 : 1;
        m->geom_friction[3 * i] = mu;
        if (soft) {
            soften(m, i, soft);
        }
        if (is_plane) {
            m->geom_type[i] = mjGEOM_PLANE;
            m->geom_rbound[i] = 0;
            m->geom_size[3 * i] = m->geom_size[3 * i + 1] = 0;
        }
    }
}

mujoco_motion *mujoco_motion_create(const dyn_model *model, bool runge_kutta, double dt) {
    mujoco_motion *motion = calloc(1, sizeof *motion);
    char *text = urdf_write(model, extension);
    if (motion && text) {
        motion->model = model;
        motion->m = load_text(text);
    }
    free(text);
    if (!motion || !motion->m || !map_joints(motion) || !set_armatures(motion)) {
        mujoco_motion_free(motion);
        return NULL;
    }
    mjModel *m = motion->m;
    dyn_model_gravity(model, m->opt.gravity);
    m->opt.timestep = dt;
    m->opt.integrator = runge_kutta ? mjINT_RK4 : mjINT_EULER;
    m->opt.disableflags |= mjDSBL_PASSIVE | mjDSBL_ACTUATION | mjDSBL_SENSOR;
    if (dyn_model_contact_surface_count(model) > 0) {
        set_surfaces(motion);
    } else {
        m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_CONSTRAINT;
    }
    motion->d = mj_makeData(m);
    return motion;
}

void mujoco_motion_bound_joints(mujoco_motion *motion, double time_constant) {
    mjModel *m = motion->m;
    const double reference[mjNREF] = {time_constant, 10}, impedance[mjNIMP] = {0.9999, 0.9999, 0.001, 0.5, 2};
    for (int j = 0; j < dyn_model_joint_count(motion->model); j++) {
        const dyn_joint *joint = dyn_model_joint(motion->model, j);
        int id = mj_name2id(m, mjOBJ_JOINT, joint->name), v = motion->v_address[j];
        m->jnt_limited[id] = joint->has_limits;
        m->jnt_range[2 * id] = joint->limits.lower, m->jnt_range[2 * id + 1] = joint->limits.upper;
        m->dof_frictionloss[v] = joint->friction;
        memcpy(m->jnt_solref + mjNREF * id, reference, sizeof reference);
        memcpy(m->jnt_solimp + mjNIMP * id, impedance, sizeof impedance);
        memcpy(m->dof_solref + mjNREF * v, reference, sizeof reference);
        memcpy(m->dof_solimp + mjNIMP * v, impedance, sizeof impedance);
    }
    m->opt.disableflags &= ~mjDSBL_CONSTRAINT;
    m->opt.tolerance = 1e-14;
    m->njmax += 3 * m->nv, m->nstack += 100 * m->nv * m->nv + 10000;
    mj_deleteData(motion->d);
    motion->d = mj_makeData(m);
}

void mujoco_motion_free(mujoco_motion *motion) {
    if (motion) {
        if (motion->d) {
            mj_deleteData(motion->d);
        }
        if (motion->m) {
            mj_deleteModel(motion->m);
        }
        coordinates_free(&motion->velocity);
        free(motion->q_address);
        free(motion->v_address);
        free(motion);
    }
}

void mujoco_motion_set(mujoco_motion *motion, const double *q, const double *v) {
    coordinates_turn(&motion->velocity, q);
    coordinates_to_peer(&motion->velocity, v, motion->d->qvel);
    for (int j = 0; j < dyn_model_joint_count(motion->model); j++) {
        const dyn_joint *joint = dyn_model_joint(motion->model, j);
        const double *from = q + joint->q_index;
        double *to = motion->d->qpos + motion->q_address[j];
        if (joint->type == DYN_JOINT_TYPE_FLOATING) {
            const double moved[7] = {from[0], from[1], from[2], from[6], from[3], from[4], from[5]};
            memcpy(to, moved, sizeof moved);
        } else {
            *to = *from;
        }
    }
    motion->d->time = 0;
}

void mujoco_motion_push(mujoco_motion *motion, const double *tau) {
    coordinates_to_peer(&motion->velocity, tau, motion->d->qfrc_applied);
}

int mujoco_motion_contact(const mujoco_motion *motion, double force[3]) {
    force[0] = force[1] = force[2] = 0;
    for (int i = 0; i < motion->d->ncon; i++) {
        mjtNum local[6], world[3];
        const mjContact *contact = &motion->d->contact[i];
        bool is_of_plane = motion->m->geom_bodyid[contact->geom1] == 0;
        mj_contactForce(motion->m, motion->d, i, local);
        mju_rotVecMatT(world, local, contact->frame);
        for (int k = 0; k < 3; k++) {
            force[k] += is_of_plane ? world[k] : -world[k];
        }
    }
    return motion->d->ncon;
}

void mujoco_motion_step(mujoco_motion *motion, size_t steps) {
    for (size_t i = 0; i < steps; i++) {
        mj_step(motion->m, motion->d);
    }
}

void mujoco_motion_get(const mujoco_motion *motion, double *q, double *v) {
    for (int j = 0; j < dyn_model_joint_count(motion->model); j++) {
        const dyn_joint *joint = dyn_model_joint(motion->model, j);
        if (joint->nv == 1) {
            q[joint->q_index] = motion->d->qpos[motion->q_address[j]];
            v[joint->v_index] = motion->d->qvel[motion->v_address[j]];
        }
    }
}

void mujoco_motion_base(const mujoco_motion *motion, double position[3]) {
    memcpy(position, motion->d->qpos + motion->q_address[0], 3 * sizeof *position);
}
