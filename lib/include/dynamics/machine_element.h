/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machine elements of a model: rotors of geared motors, friction, springs, motors and gears at its joints.
 *
 * Each element acts on one joint with one coordinate q and the rate v. With the inertia R and the forces r of all
 * elements the model obeys
 *
 *     (M(q) + R(q)) a + h(q, v) = tau + r(q, v)
 *
 * M, h and all that follows from them, such as energies, momenta and derivatives, include the rotors. Friction and
 * springs are forces r: simulations add them to tau, and inverse dynamics returns tau without them.
 *
 * Rotor. A rotor spins at the rate G v about an axis that is fixed in the parent link of the joint, which carries the
 * motor's housing. It is balanced: its centre of mass is on the axis, and all axes that are normal to it have equal
 * moments of inertia. Its kinetic energy is
 *
 *     m c'^2 / 2 + I_t |w_t|^2 / 2 + I_a (w_a + G v)^2 / 2
 *
 * where c' is the velocity of its centre of mass, w the angular velocity of the parent link, and w_a and w_t are the
 * components of w along the axis and normal to it. The sum contains the apparent inertia G^2 I_a, and the coupling
 * G I_a between the joint and all joints that turn the housing. The diagonal approximation omits the coupling:
 *
 *     m c'^2 / 2 + I_t |w_t|^2 / 2 + I_a (w_a^2 + G^2 v^2) / 2
 *
 * The reflected inertia, which MuJoCo calls armature, omits the term I_a w_a^2 / 2 too, so that the rotor adds G^2 I_a
 * to the diagonal of the mass matrix and nothing else.
 *
 * The force tau of the joint's coordinate acts between the parent link and both the child link and the rotor. The
 * torque of the motor is tau / G. The gear transmits the component of the joint's wrench (joint_wrench.h) along the
 * coordinate.
 *
 * Shaft. A motor on any link, or on the world, drives several joints through differentials, belts or tendons, and its
 * rotor turns at the rate sum_j g_j v_j relative to that link. All shafts of a model have the coupling matrix G, with
 * one row for each: rates w = G v, forces tau = G' tau_motor. Rotors on the world, and reflected ones, add the full
 * matrix G' diag(I_a) G to the mass matrix, which couples joints of different branches. Models with shafts are computed
 * as those with mimic joints are: forward dynamics factorizes the whole mass matrix. A shaft without inertia adds
 * nothing.
 *
 * Friction, with its bristles, and a brake of a shaft hold at its rate w: r = G' f(w). A gear of a shaft loses a part
 * of its torque. Their joint is the name of the shaft, where no joint has that name.
 *
 * A rotor on a fixed joint does not spin, and is part of the link that carries it. Friction and springs of a fixed
 * joint have no effect.
 *
 * Friction. With b, f_c and f_s for the direction of the motion, and the smooth sign s(v) = v / sqrt(v^2 + w^2),
 *
 *     r = -b v - (f_c + (f_s - f_c) / (1 + (v / v_s)^2)) s(v)
 *
 * A law with f_s > f_c exhibits the Stribeck effect. The smaller v_s, the closer it is to static and kinetic friction.
 * A joint under less than the static force creeps at a velocity below w. Zero parameters omit terms: the laws of Modern
 * Robotics, figure 8.13, are
 *     (a) b        (b) f_c        (c) b, f_c        (d) f_c, f_s        (e), (f) b, f_c, f_s
 *
 * LuGre. With the bristle stiffness s_0 > 0 the same law acts through bristles with the mean deflection z, which is a
 * state (simulation.h), and the damping s_1:
 *
 *     dz/dt = v - s_0 |v| z / g(v),    r = -s_0 z - s_1 dz/dt - b v,    g = f_c + (f_s - f_c) / (1 + (v / v_s)^2)
 *
 * At a constant rate r is that of the law above with s = sign(v).
 *
 * Spring. r = -k (q - q_0), with the potential energy k (q - q_0)^2 / 2.
 *
 * Strut and cable. Between a point of a link and one of another link, or of the world, at the distance L, acts the
 * tension
 *
 *     T = k (L - L_0) + b dL/dt - P        a cable: T = max(0, k (L - L_0) + b dL/dt) for L > L_0, else 0
 *
 * with the potential energy k (L - L_0)^2 / 2 - P (L - L_0), that of a cable for L > L_0. A gas spring has the force P
 * at the length L_0. Points that coincide exert no force.
 *
 * Bushing. With the position d of the link's frame in the other one, and the rotation vector p of its orientation,
 *
 *     f = -k d - b dd/dt    on the link at its frame, and -f on the other link at the same point
 *     t = -J(p)^-T (k_r p) - b_r w    in the axes of the other frame, where dp/dt = J(p)^-1 w
 *
 * and the potential energy d' k d / 2 + p' k_r p / 2.
 *
 * Fluid. Buoyancy -density volume g acts at the centre, with the gravity g of the model, and drag -(c + c_2 |v_i|) v_i
 * along each axis i of the link, with the velocity v of the centre relative to the fluid, and likewise for rotations.
 *
 * Motor, gear and brake. They state what a motion needs (motor.h), and add nothing to M. Simulations count the losses
 * of gears, and engaged brakes (simulation.h).
 *
 * Sources: Modern Robotics (Lynch and Park 2017), section 8.9; Hess and Soom 1990 for the Stribeck curve; Canudas de
 * Wit, Olsson, Astrom and Lischinsky 1995, "A new model for control of systems with friction", equations 1 to 3.
 */
#ifndef DYNAMICS_MACHINE_ELEMENT_H
#define DYNAMICS_MACHINE_ELEMENT_H

#include <dynamics/builder.h>
#include <dynamics/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bound on the machine elements of a model; beyond it the status is DYN_RESOURCE_EXHAUSTED. */
enum { DYN_MAX_MACHINE_ELEMENTS = 30000 };

/* Bound on the joints that turn a shaft; beyond it the status is DYN_INVALID_ARGUMENT. */
enum { DYN_MAX_SHAFT_JOINTS = 8 };

typedef enum dyn_machine_element_kind {
    DYN_MACHINE_ELEMENT_KIND_ROTOR = 1,
    DYN_MACHINE_ELEMENT_KIND_FRICTION = 2,
    DYN_MACHINE_ELEMENT_KIND_SPRING = 3,
    DYN_MACHINE_ELEMENT_KIND_MOTOR = 4,
    DYN_MACHINE_ELEMENT_KIND_GEAR = 5,
    DYN_MACHINE_ELEMENT_KIND_BRAKE = 6,
    DYN_MACHINE_ELEMENT_KIND_STRUT = 7,
    DYN_MACHINE_ELEMENT_KIND_CABLE = 8,
    DYN_MACHINE_ELEMENT_KIND_BUSHING = 9,
    DYN_MACHINE_ELEMENT_KIND_FLUID = 10,
    DYN_MACHINE_ELEMENT_KIND_SHAFT = 11,
} dyn_machine_element_kind;

typedef enum dyn_rotor_coupling {
    DYN_ROTOR_COUPLING_EXACT,    /* as a body that spins on the parent link */
    DYN_ROTOR_COUPLING_DIAGONAL, /* without the coupling between the spin and the parent link */
    DYN_ROTOR_COUPLING_REFLECTED /* as DIAGONAL, and the parent link includes I_a */
} dyn_rotor_coupling;

/* Rotor of a geared motor. Its frame is the joint frame, which is fixed in the parent link. */
typedef struct dyn_rotor {
    double ratio; /* G: rad/rad or rad/m, not zero; negative: the gear reverses the direction */
    dyn_rotor_coupling coupling;
    double axial_inertia;      /* I_a, kg m^2, positive */
    double transverse_inertia; /* I_t, kg m^2; zero, or at least I_a / 2 */
    double mass;               /* kg; zero: the parent link includes the mass and I_t, which is zero then */
    double position[3];        /* of the centre of mass, m */
    double axis[3];            /* of any length; zero: the axis of the joint, and z of a fixed one */
} dyn_rotor;

/* Side of the gear on which the parameters of a law hold: at the joint's rate v, or at the rotor's rate G v, which is
 * that of a gear at a joint without a rotor. */
typedef enum dyn_gear_side { DYN_GEAR_SIDE_JOINT, DYN_GEAR_SIDE_ROTOR } dyn_gear_side;

/* Friction law. Parameters with two values hold for positive and for negative rates of their side. */
typedef struct dyn_friction {
    dyn_gear_side side;         /* rotor: the joint has exactly one rotor, or none and a gear */
    double viscous[2];          /* b, N m s/rad or N s/m */
    double coulomb[2];          /* f_c, N m or N */
    double breakaway[2];        /* f_s, N m or N; zero: f_c; otherwise at least f_c */
    double stribeck_velocity;   /* v_s, rad/s or m/s; positive where f_s differs from f_c */
    double transition_velocity; /* w, rad/s or m/s; zero: that of the simulation (simulation.h) */
    double bristle_stiffness;   /* s_0, N m/rad or N/m; zero: no bristles; otherwise f_c is positive */
    double bristle_damping;     /* s_1, N m s/rad or N s/m; zero without bristles */
    double temperature_factor;  /* factor of b at the temperature of the lubricant; zero: 1 */
} dyn_friction;

/* Spring between the two links of a joint. */
typedef struct dyn_spring {
    double stiffness; /* k, N m/rad or N/m */
    double rest;      /* q_0, rad or m */
} dyn_spring;

/* Values of a motor's data sheet, at the nominal voltage. All zero: not stated. */
typedef struct dyn_nominal_values {
    double voltage;         /* V_n, V */
    double no_load_speed;   /* w_0, rad/s */
    double no_load_current; /* I_0, A */
    double stall_current;   /* I_s, A, greater than I_0 */
} dyn_nominal_values;

/* Direct-current motor of a joint. Either `nominal` states R and k_t, or these members do; a description that was added
 * has R and k_t, and no nominal values:
 *
 *     R = V_n / I_s          k_t = (V_n - R I_0) / w_0
 *
 * A limit of zero is none. The thermal model has the winding and the housing as two bodies, each with its resistance
 * towards the next one, and its time constant. A body whose resistance is zero has the temperature of the next. */
typedef struct dyn_motor {
    double resistance;              /* R at 25 degrees Celsius, ohm; positive */
    double inductance;              /* L, H */
    double torque_constant;         /* k_t, N m/A, which equals V s/rad; positive */
    double maximum_voltage;         /* V */
    double maximum_current;         /* A, for a short time */
    double continuous_current;      /* A, root mean square */
    double maximum_speed;           /* of the rotor, rad/s */
    double winding_resistance;      /* thermal, from the winding to the housing, K/W */
    double winding_time_constant;   /* s; positive where the resistance is */
    double housing_resistance;      /* thermal, from the housing to the ambient air, K/W */
    double housing_time_constant;   /* s; positive where the resistance is */
    double temperature_coefficient; /* of R, 1/K; 0.00393 for copper */
    double maximum_temperature;     /* of the winding, degrees Celsius */
    dyn_nominal_values nominal;
} dyn_motor;

/* Gear between the motor and the joint, or on a shaft with a motor. A limit of zero is none. */
typedef struct dyn_gear {
    double ratio; /* rad/rad or rad/m; zero: that of the joint's only rotor, or 1 where it has none; zero on a shaft */
    double efficiency;              /* eta of power from the motor to the joint, positive, at most 1 */
    double back_driving_efficiency; /* eta_b of power from the joint to the motor, 0 to 1; zero: self-locking */
    double maximum_torque;          /* at the joint, for a short time, N m or N */
    double continuous_torque;       /* at the joint, root mean square, N m or N */
    double maximum_speed;           /* of the motor's side, rad/s */
} dyn_gear;

/* Brake on the shaft of a motor, which holds the rotor at rest where it is engaged. */
typedef struct dyn_brake {
    double torque; /* N m, positive; at rest at most, and in motion */
} dyn_brake;

/* Spring, damper or gas spring between two points, or a cable, which never pushes. */
typedef struct dyn_strut {
    double position[3], other_position[3]; /* of the points, in the frames of the links, m */
    double stiffness;                      /* k, N/m */
    double rest;                           /* L_0, m */
    double damping;                        /* b, N s/m */
    double push;                           /* P, N; positive: pushes the points apart; zero for a cable */
} dyn_strut;

/* Compliance in six directions between two frames, whose axes are those of the links. */
typedef struct dyn_bushing {
    double position[3], other_position[3];        /* of the frames, m */
    double stiffness[3], rotational_stiffness[3]; /* N/m, N m/rad */
    double damping[3], rotational_damping[3];     /* N s/m, N m s/rad */
} dyn_bushing;

/* Buoyancy and drag of a body in a fluid. */
typedef struct dyn_fluid {
    double density, volume;              /* kg/m^3, m^3 */
    double center[3];                    /* of buoyancy and drag, in the frame of the link, m */
    double drag[3];                      /* N s/m, along the axes of the link */
    double quadratic_drag[3];            /* N s^2/m^2 */
    double rotational_drag[3];           /* N m s/rad */
    double quadratic_rotational_drag[3]; /* N m s^2/rad^2 */
    double current[3];                   /* velocity of the fluid in the world, m/s */
} dyn_fluid;

/* Shaft of a motor that several joints turn. */
typedef struct dyn_shaft {
    int joint_count;                          /* 1 to DYN_MAX_SHAFT_JOINTS */
    const char *joints[DYN_MAX_SHAFT_JOINTS]; /* different ones, each fixed or with one coordinate */
    double ratios[DYN_MAX_SHAFT_JOINTS];      /* g_j, rad/rad or rad/m, not zero */
    bool has_motor;                           /* its motor is `motor` of the element */
} dyn_shaft;

/* Machine element of a description. Members that its kind does not name are not read. */
typedef struct dyn_machine_element_description {
    const char *name;
    dyn_machine_element_kind kind;
    const char *joint; /* of friction and a brake on a shaft: the name of the shaft */
    dyn_rotor rotor;
    dyn_friction friction;
    dyn_spring spring;
    dyn_motor motor; /* of a shaft too */
    dyn_gear gear;
    dyn_brake brake;
    const char *link, *other_link; /* that struts, cables, bushings and fluids act on, or whose motor has the shaft;
                                      other_link NULL, and link of a shaft NULL: the world. Their joint is NULL or
                                      "". */
    dyn_strut strut;               /* of a cable too */
    dyn_bushing bushing;
    dyn_fluid fluid;
    dyn_shaft shaft; /* its rotor is `rotor` with the ratio 0, placed in the frame of link, where its axis is z by
                        default */
    int line;        /* as for a link */
} dyn_machine_element_description;

/* Adds a machine element. Its joint or shaft may be added later. dyn_builder_build refuses an element whose joint does
 * not exist, or moves with other than one coordinate, friction on the side of a rotor where the joint has several, or
 * neither a rotor nor a gear, a second motor, gear or brake of a joint or shaft, one of these at a joint that turns a
 * shaft, a brake without a motor, a gear of a shaft without a motor, a motor at a joint of several rotors, and the
 * ratio of a gear at a joint with a rotor or on a shaft.
 * Errors, with place "machine element NAME" and the member, such as "rotor.ratio" or "friction.viscous[1]", as part of
 * the site: DYN_INVALID_ARGUMENT for an invalid or repeated name, an unknown kind, a ratio of zero, a negative inertia,
 * mass, friction or stiffness, an inertia that no body can have, a motor without resistance or torque constant, an
 * efficiency above one, a value that is not finite; DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_builder_add_machine_element(dyn_builder *builder, const dyn_machine_element_description *element,
                                                   dyn_error *error);

/* Removes the mass and the inertia of all rotors, also those of shafts. A rotor whose ratio a motor, a brake or
 * friction refers to becomes a gear with that ratio; a gear that it has receives the ratio.
 * Errors: DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_builder_remove_rotors(dyn_builder *builder, dyn_error *error);

/* Machine elements in the order in which they were added. The description and its strings live until the builder is
 * changed or freed. The result is NULL for an index that is out of range. */
DYN_API int dyn_builder_machine_element_count(const dyn_builder *builder);
DYN_API const dyn_machine_element_description *dyn_builder_machine_element(const dyn_builder *builder, int element);

/* Returns the number of machine elements of a model. */
DYN_API int dyn_model_machine_element_count(const dyn_model *model);

/* Returns the number of deflections z, one for each friction with bristles at a joint or shaft that moves. */
DYN_API int dyn_model_bristle_count(const dyn_model *model);

#ifdef __cplusplus
}
#endif

#endif
