/* Names and units of coordinates. */
#include "methods/coordinates.h"

static const joint_units units[] = {
    [DYN_JOINT_REVOLUTE] = {{"rad"}, {"rad/s"}, {"N m"}},
    [DYN_JOINT_CONTINUOUS] = {{"rad"}, {"rad/s"}, {"N m"}},
    [DYN_JOINT_PRISMATIC] = {{"m"}, {"m/s"}, {"N"}},
    [DYN_JOINT_HELICAL] = {{"rad"}, {"rad/s"}, {"N m"}},
    [DYN_JOINT_CYLINDRICAL] = {{"rad", "m"}, {"rad/s", "m/s"}, {"N m", "N"}},
    [DYN_JOINT_UNIVERSAL] = {{"rad", "rad"}, {"rad/s", "rad/s"}, {"N m", "N m"}},
    [DYN_JOINT_PLANAR] = {{"m", "m", "rad"}, {"m/s", "m/s", "rad/s"}, {"N", "N", "N m"}},
    [DYN_JOINT_SPHERICAL] = {{"1", "1", "1", "1"}, {"rad/s", "rad/s", "rad/s"}, {"N m", "N m", "N m"}},
    [DYN_JOINT_FLOATING] = {{"m", "m", "m", "1", "1", "1", "1"},
                            {"m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"},
                            {"N", "N", "N", "N m", "N m", "N m"}},
};

const joint_units *joint_units_of(dyn_joint_type type) {
    return &units[type];
}

/* The joint that has a velocity, and which of its velocities it is. */
static const dyn_joint *find_joint(const dyn_model *model, int column, int *index) {
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        *index = column - joint->v_index;
        if (*index >= 0 && *index < joint->nv) {
            return joint;
        }
    }
    *index = 0;
    return dyn_model_joint(model, 0);
}

bool coordinates_name(batch *b, char ***joints, char ***force_units) {
    *joints = call_allocate(b->call, b->nv, sizeof **joints);
    *force_units = call_allocate(b->call, b->nv, sizeof **force_units);
    for (size_t i = 0; *joints && *force_units && i < b->nv; i++) {
        int index, column = b->order.is_identity ? (int)i : b->order.v[i];
        const dyn_joint *joint = find_joint(b->model, column, &index);
        (*joints)[i] = (char *)(uintptr_t)joint->name;
        (*force_units)[i] = (char *)(uintptr_t)joint_units_of(joint->type)->tau[index];
    }
    return *joints && *force_units;
}
