/* SPDX-License-Identifier: BSD-2-Clause */
/* The form of each quantity that Evaluate returns. */
#include "methods/quantities.h"

const char *const quantity_axis_names[AXIS_KINDS] = {
    [AXIS_NONE] = "",
    [AXIS_JOINTS] = "joints",
    [AXIS_BODIES] = "bodies",
    [AXIS_PARAMETERS] = "m mx my mz Ixx Ixy Iyy Ixz Iyz Izz",
    [AXIS_XYZ] = "x y z",
    [AXIS_XYZW] = "x y z w",
    [AXIS_TASK] = "task",
    [AXIS_SEMIAXES] = "semi-axes",
    [AXIS_JOINT_SEMIAXES] = "semi-axes",
    [AXIS_MANIPULABILITY] = "measure isotropy",
};

/* Frames that are fixed. */
#define IN_WORLD "axes and origin of the world"
#define ALONG_WORLD "axes of the world"
#define CENTROIDAL "axes of the world, origin at the centre of mass"

/* Units that depend on the joints of the row and the column. */
#define FORCE "N m for rotations, N for translations"
#define ACCELERATION "rad/s^2 for rotations, m/s^2 for translations"
#define INERTIA "kg m^2 between rotations, kg m between a rotation and a translation, kg between translations"
#define INVERSE_INERTIA                                                                                                \
    "1/(kg m^2) between rotations, 1/(kg m) between a rotation and a translation, 1/kg between translations"
#define DAMPING "kg m^2/s between rotations, kg m/s between a rotation and a translation, kg/s between translations"
#define SYMBOL "kg m^(2 - t)" OF_THREE
#define STIFFNESS "N m between rotations, N between a rotation and a translation, N/m between translations"
#define ACCELERATION_BY_POSITION                                                                                       \
    "1/s^2 between joints alike, 1/(m s^2) of a rotation by a translation, m/s^2 of a translation by a rotation"
#define ACCELERATION_BY_VELOCITY                                                                                       \
    "1/s between joints alike, 1/(m s) of a rotation by a translation, m/s of a translation by a rotation"

#define TASK_FORCE "N m of angular rows, N of linear rows"
#define TASK_INERTIA "kg m^2 between angular rows, kg m between an angular and a linear row, kg between linear rows"
#define INVERSE_TASK_INERTIA                                                                                           \
    "1/(kg m^2) between angular rows, 1/(kg m) between an angular and a linear row, 1/kg between linear rows"

/* Units of three indices. */
#define OF_THREE ", t being how many of the three joints are translations"
#define OF_TWO_AND_ONE ", t being 1 where the first joint is a translation, u how many of the other two are"

/* A block that begins at entry `first` of the library's result, and one that is a part of each entry; then its axes. */
#define BLOCK(name, unit, first, ...) PART(name, unit, first, 0, __VA_ARGS__)
#define PART(name, unit, first, pitch, ...)                                                                            \
    { name, unit, {__VA_ARGS__}, first, pitch, false }
/* A block that begins where one of its size ends. */
#define SECOND(name, unit, ...)                                                                                        \
    { name, unit, {__VA_ARGS__}, 0, 0, true }

/* A vector or a matrix that runs over joints, and a number. */
#define JOINT_VECTOR(unit)                                                                                             \
    { BLOCK("value", unit, 0, AXIS_JOINTS) }
#define JOINT_MATRIX(unit)                                                                                             \
    { BLOCK("value", unit, 0, AXIS_JOINTS, AXIS_JOINTS) }
#define NUMBER(unit)                                                                                                   \
    { BLOCK("value", unit, 0, AXIS_NONE) }
#define VECTOR(unit)                                                                                                   \
    { BLOCK("value", unit, 0, AXIS_XYZ) }

/* The library puts angular rows first. */
#define SPATIAL_VECTOR(linear, angular)                                                                                \
    { BLOCK("linear", linear, 3, AXIS_XYZ), BLOCK("angular", angular, 0, AXIS_XYZ) }
#define SPATIAL_MATRIX(linear, angular)                                                                                \
    { BLOCK("linear", linear, 3, AXIS_XYZ, AXIS_JOINTS), BLOCK("angular", angular, 0, AXIS_XYZ, AXIS_JOINTS) }
#define JOINT_CUBE(unit)                                                                                               \
    { BLOCK("value", unit, 0, AXIS_JOINTS, AXIS_JOINTS, AXIS_JOINTS) }
#define SPATIAL_CUBE(linear, angular)                                                                                  \
    {                                                                                                                  \
        BLOCK("linear", linear, 3, AXIS_XYZ, AXIS_JOINTS, AXIS_JOINTS),                                                \
            BLOCK("angular", angular, 0, AXIS_XYZ, AXIS_JOINTS, AXIS_JOINTS)                                           \
    }
#define POSE                                                                                                           \
    { BLOCK("position", "m", 0, AXIS_XYZ), BLOCK("quaternion", "1", 3, AXIS_XYZW) }
#define REGRESSOR                                                                                                      \
    { BLOCK("value", FORCE ", for each kg, kg m, kg m^2", 0, AXIS_JOINTS, AXIS_BODIES, AXIS_PARAMETERS) }
#define WRENCHES                                                                                                       \
    { PART("force", "N", 3, 6, AXIS_BODIES, AXIS_XYZ), PART("torque", "N m", 0, 6, AXIS_BODIES, AXIS_XYZ) }
#define TWIST_BY_POSITION                                                                                              \
    SPATIAL_MATRIX("m/s for rotations, 1/s for translations", "1/s for rotations, 1/(m s) for translations")

#define QUANTITY(name) DYNAMICS__V1__QUANTITY__QUANTITY_##name

static const quantity_form forms[] = {
    [QUANTITY(INVERSE_DYNAMICS)] = {"", OF_ROBOT, JOINT_VECTOR(FORCE)},
    [QUANTITY(FORWARD_DYNAMICS)] = {"", OF_ROBOT, JOINT_VECTOR(ACCELERATION)},
    [QUANTITY(MASS_MATRIX)] = {"", OF_ROBOT, JOINT_MATRIX(INERTIA)},
    [QUANTITY(INVERSE_MASS_MATRIX)] = {"", OF_ROBOT, JOINT_MATRIX(INVERSE_INERTIA)},
    [QUANTITY(CORIOLIS_MATRIX)] = {"", OF_ROBOT, JOINT_MATRIX(DAMPING)},
    [QUANTITY(CHRISTOFFEL_SYMBOLS)] = {"", OF_ROBOT, JOINT_CUBE(SYMBOL)},
    [QUANTITY(GRAVITY_FORCES)] = {"", OF_ROBOT, JOINT_VECTOR(FORCE)},
    [QUANTITY(BIAS_FORCES)] = {"", OF_ROBOT, JOINT_VECTOR(FORCE)},
    [QUANTITY(KINETIC_ENERGY)] = {"", OF_ROBOT, NUMBER("J")},
    [QUANTITY(POTENTIAL_ENERGY)] = {"", OF_ROBOT, NUMBER("J")},
    [QUANTITY(POWER)] = {"", OF_ROBOT, NUMBER("W")},
    [QUANTITY(CENTER_OF_MASS)] = {IN_WORLD, OF_ROBOT, VECTOR("m")},
    [QUANTITY(CENTER_OF_MASS_VELOCITY)] = {ALONG_WORLD, OF_ROBOT, VECTOR("m/s")},
    [QUANTITY(CENTER_OF_MASS_ACCELERATION)] = {ALONG_WORLD, OF_ROBOT, VECTOR("m/s^2")},
    [QUANTITY(CENTER_OF_MASS_JACOBIAN)] =
        {ALONG_WORLD, OF_ROBOT, {BLOCK("value", "m for rotations, 1 for translations", 0, AXIS_XYZ, AXIS_JOINTS)}},
    [QUANTITY(CENTROIDAL_MOMENTUM)] = {CENTROIDAL, OF_ROBOT, SPATIAL_VECTOR("kg m/s", "kg m^2/s")},
    [QUANTITY(CENTROIDAL_MOMENTUM_MATRIX)] = {CENTROIDAL, OF_ROBOT,
                                              SPATIAL_MATRIX("kg m for rotations, kg for translations",
                                                             "kg m^2 for rotations, kg m for translations")},
    [QUANTITY(CENTROIDAL_MOMENTUM_MATRIX_RATE)] = {CENTROIDAL, OF_ROBOT,
                                                   SPATIAL_MATRIX("kg m/s for rotations, kg/s for translations",
                                                                  "kg m^2/s for rotations, kg m/s for translations")},
    [QUANTITY(CENTROIDAL_INERTIA)] = {CENTROIDAL, OF_ROBOT, {BLOCK("value", "kg m^2", 0, AXIS_XYZ, AXIS_XYZ)}},
    [QUANTITY(FRAME_POSE)] = {IN_WORLD, OF_FRAMES, POSE},
    [QUANTITY(FRAME_TWIST)] = {NULL, OF_FRAMES, SPATIAL_VECTOR("m/s", "rad/s")},
    [QUANTITY(FRAME_ACCELERATION)] = {NULL, OF_FRAMES, SPATIAL_VECTOR("m/s^2", "rad/s^2")},
    [QUANTITY(FRAME_JACOBIAN)] = {NULL, OF_FRAMES,
                                  SPATIAL_MATRIX("m for rotations, 1 for translations",
                                                 "1 for rotations, 1/m for translations")},
    [QUANTITY(FRAME_JACOBIAN_RATE)] = {NULL, OF_FRAMES, TWIST_BY_POSITION},
    [QUANTITY(FRAME_TWIST_BY_Q)] = {NULL, OF_FRAMES, TWIST_BY_POSITION},
    [QUANTITY(FRAME_ACCELERATION_BY_Q)] = {NULL, OF_FRAMES,
                                           SPATIAL_MATRIX("m/s^2 for rotations, 1/s^2 for translations",
                                                          "1/s^2 for rotations, 1/(m s^2) for translations")},
    [QUANTITY(FRAME_ACCELERATION_BY_V)] = {NULL, OF_FRAMES, TWIST_BY_POSITION},
    [QUANTITY(TORQUE_REGRESSOR)] = {"", OF_ROBOT, REGRESSOR},
    [QUANTITY(INVERSE_DYNAMICS_BY_Q)] = {"", OF_ROBOT, JOINT_MATRIX(STIFFNESS)},
    [QUANTITY(INVERSE_DYNAMICS_BY_V)] = {"", OF_ROBOT, JOINT_MATRIX(DAMPING)},
    [QUANTITY(FORWARD_DYNAMICS_BY_Q)] = {"", OF_ROBOT, JOINT_MATRIX(ACCELERATION_BY_POSITION)},
    [QUANTITY(FORWARD_DYNAMICS_BY_V)] = {"", OF_ROBOT, JOINT_MATRIX(ACCELERATION_BY_VELOCITY)},
    [QUANTITY(GRAVITY_FORCES_BY_Q)] = {"", OF_ROBOT, JOINT_MATRIX(STIFFNESS)},
    [QUANTITY(JOINT_WRENCHES)] = {"axes and origin of each body's link", OF_ROBOT, WRENCHES},
    [QUANTITY(FRAME_JACOBIAN_BY_Q)] = {NULL, OF_FRAMES,
                                       SPATIAL_CUBE("m^(1 - t), t being how many of the two joints are translations",
                                                    "m^-t, t being how many of the two joints are translations")},
    [QUANTITY(CENTROIDAL_MOMENTUM_BY_Q)] = {CENTROIDAL, OF_ROBOT,
                                            SPATIAL_MATRIX("kg m/s for rotations, kg/s for translations",
                                                           "kg m^2/s for rotations, kg m/s for translations")},
    [QUANTITY(CENTROIDAL_MOMENTUM_RATE_BY_Q)] = {CENTROIDAL, OF_ROBOT,
                                                 SPATIAL_MATRIX("N for rotations, N/m for translations",
                                                                "N m for rotations, N for translations")},
    [QUANTITY(CENTROIDAL_MOMENTUM_RATE_BY_V)] = {CENTROIDAL, OF_ROBOT,
                                                 SPATIAL_MATRIX("kg m/s for rotations, kg/s for translations",
                                                                "kg m^2/s for rotations, kg m/s for translations")},
    [QUANTITY(INVERSE_DYNAMICS_BY_Q_Q)] = {"", OF_ROBOT, JOINT_CUBE("N m^(1 - t)" OF_THREE)},
    [QUANTITY(INVERSE_DYNAMICS_BY_V_V)] = {"", OF_ROBOT, JOINT_CUBE(SYMBOL)},
    [QUANTITY(INVERSE_DYNAMICS_BY_Q_V)] = {"", OF_ROBOT, JOINT_CUBE("kg m^(2 - t)/s" OF_THREE)},
    [QUANTITY(MASS_MATRIX_BY_Q)] = {"", OF_ROBOT, JOINT_CUBE(SYMBOL)},
    [QUANTITY(FORWARD_DYNAMICS_BY_Q_Q)] = {"", OF_ROBOT, JOINT_CUBE("m^(t - u)/s^2" OF_TWO_AND_ONE)},
    [QUANTITY(FORWARD_DYNAMICS_BY_V_V)] = {"", OF_ROBOT, JOINT_CUBE("m^(t - u)" OF_TWO_AND_ONE)},
    [QUANTITY(FORWARD_DYNAMICS_BY_Q_V)] = {"", OF_ROBOT, JOINT_CUBE("m^(t - u)/s" OF_TWO_AND_ONE)},
    [QUANTITY(INVERSE_MASS_MATRIX_BY_Q)] =
        {"", OF_ROBOT,
         JOINT_CUBE("m^(t - 2)/kg, t being how many of the first two joints are translations, less 1 where the third "
                    "is")},
    [QUANTITY(INVERSE_DYNAMICS_ALONG)] = {"", OF_ROBOT, JOINT_VECTOR(FORCE)},
    [QUANTITY(FORWARD_DYNAMICS_ALONG)] = {"", OF_ROBOT, JOINT_VECTOR(ACCELERATION)},
    [QUANTITY(EXTERNAL_FORCES)] = {"", OF_ROBOT, JOINT_VECTOR(FORCE)},
    [QUANTITY(OPERATIONAL_SPACE_INERTIA)] = {NULL, OF_TASK, {BLOCK("value", TASK_INERTIA, 0, AXIS_TASK, AXIS_TASK)}},
    [QUANTITY(OPERATIONAL_SPACE_INVERSE_INERTIA)] = {NULL,
                                                     OF_TASK,
                                                     {BLOCK("value", INVERSE_TASK_INERTIA, 0, AXIS_TASK, AXIS_TASK)}},
    [QUANTITY(OPERATIONAL_SPACE_BIAS)] = {NULL, OF_TASK, {BLOCK("value", TASK_FORCE, 0, AXIS_TASK)}},
    [QUANTITY(OPERATIONAL_SPACE_GRAVITY)] = {NULL, OF_TASK, {BLOCK("value", TASK_FORCE, 0, AXIS_TASK)}},
    [QUANTITY(DYNAMICALLY_CONSISTENT_INVERSE)] =
        {NULL,
         OF_TASK,
         {BLOCK("value",
                "1 of a rotation by an angular and of a translation by a linear row, 1/m of a rotation by a "
                "linear, m of a translation by an angular row",
                0, AXIS_JOINTS, AXIS_TASK)}},
    [QUANTITY(NULL_SPACE_PROJECTOR)] =
        {NULL,
         OF_TASK,
         {BLOCK("value", "1 between joints alike, 1/m of a rotation by a translation, m of a translation by a rotation",
                0, AXIS_JOINTS, AXIS_JOINTS)}},
    [QUANTITY(FRAME_MANIPULABILITY)] =
        {"",
         OF_FRAMES,
         {BLOCK("linear", "m^3, less m for each translation that takes part, and 1", 2, AXIS_MANIPULABILITY),
          BLOCK("angular", "1", 0, AXIS_MANIPULABILITY),
          BLOCK("spatial", "m^3, less m for each translation that takes part", 4, AXIS_NONE)}},
    [QUANTITY(FRAME_ELLIPSOIDS)] =
        {NULL,
         OF_FRAMES,
         {BLOCK("velocity", "m/s", 0, AXIS_SEMIAXES), BLOCK("velocity_axes", "1", 1, AXIS_SEMIAXES, AXIS_XYZ),
          BLOCK("angular_velocity", "rad/s", 12, AXIS_SEMIAXES),
          BLOCK("angular_velocity_axes", "1", 5, AXIS_SEMIAXES, AXIS_XYZ), BLOCK("mass", "kg", 24, AXIS_SEMIAXES),
          BLOCK("mass_axes", "1", 9, AXIS_SEMIAXES, AXIS_XYZ), BLOCK("inertia", "kg m^2", 36, AXIS_SEMIAXES),
          BLOCK("inertia_axes", "1", 13, AXIS_SEMIAXES, AXIS_XYZ)}},
    [QUANTITY(ENERGY_REGRESSOR)] = {"",
                                    OF_ROBOT,
                                    {BLOCK("kinetic", "J for each kg, kg m, kg m^2", 0, AXIS_BODIES, AXIS_PARAMETERS),
                                     SECOND("potential", "J for each kg, kg m, kg m^2", AXIS_BODIES, AXIS_PARAMETERS)}},
    [QUANTITY(
        TORQUE_ELLIPSOID)] = {"",
                              OF_ROBOT,
                              {BLOCK("lengths", "kg m^2 of rotations, kg of translations", 0, AXIS_JOINT_SEMIAXES),
                               BLOCK("axes", "1", 1, AXIS_JOINT_SEMIAXES, AXIS_JOINTS)}},
};

const quantity_form *quantity_find(Dynamics__V1__Quantity quantity) {
    size_t number = (size_t)quantity;
    return number < sizeof forms / sizeof forms[0] && forms[number].blocks[0].name ? &forms[number] : NULL;
}
