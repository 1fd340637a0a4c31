/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Articulated-body algorithm: a for the forces tau at the state (q, v).
 *
 * Outward:   v = X v_p + S v_i        c = v x S v_i        p = v x* I v - external wrench
 * Inward:    U = I_A S                D = S' U             W = U D^-1             u = D^-1 (tau - S' p)
 *            I_a = I_A - U W'         p_a = p + I_a c + U u
 *            I_A,p += X* I_a X        p_p += X* p_a
 * Outward:   a' = X a_p + c           a_i = u - W' a'      a = a' + S a_i
 * Gravity is an acceleration of the world, a_0 = -g.
 *
 * The axes of a joint are constant in its body's frame. A joint with several axes is therefore equivalent to as many
 * joints of one axis with massless bodies between them. The inward step eliminates one axis after the other, the last
 * one first, and D is always a number. An optional diagonal e adds to D, as inertias of the rotors would, so that the
 * result solves (M + diag e) a = tau - h.
 *
 * Rotors (model/rotor.h) are eliminated together with the link that their joint moves: they share its coordinate and
 * its parent. The inertia I of the body that carries them includes their axial inertias. With g = sum of G I_a u, a
 * moment in the parent, and d = sum of G^2 I_a over the rotors of the joint,
 *
 *     U = I_A S + X g        D = S' I_A S + d        u = D^-1 (tau - S' p + (X g)' c)        p_p += v_p x* g v_i
 *     I_a = I_A - U U' D^-1
 *
 * and all else is as above (aba_driven.h).
 *
 * Most joints of a robot are hinges, for which aba_revolute.h has shorter steps that differ in rounding only.
 *
 * The data of long chains exceed the first-level cache, so that the passes exchange as little as possible: W is stored
 * in the place of p, and u in that of a_i.
 *
 * Sources: Featherstone 2008, table 7.1; Jain and Rodriguez 1990 for geared motors.
 */
#include "aba_passes.h"

size_t KERNEL(aba_memory)(const dyn_model *model) {
    size_t of_body = 3 * sizeof(real) + 2 * sizeof(motion) + sizeof(force) + sizeof(articulated_inertia);
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * of_body + (size_t)model->nv * sizeof(force);
}

/* Runs the three passes over the tree. Inlined for each value of t->has_rotors, so that rotors cost other models
 * nothing. */
KERNEL_STEP void run_passes(const dyn_model *model, void *memory, const packed_inputs *in, const real *diagonal,
                            const aba_tree *t, real *pivots, real *a) {
    const real *q = (const real *)in->q, *tau = (const real *)in->third;
    velocity_pass(model, q, (const real *)in->v, t);
    if (in->forces && in->forces->count > 0) {
        KERNEL(subtract_wrenches)(model, memory, q, in->forces, t->p);
    }
    if (diagonal) {
        inertia_pass(model, tau, diagonal, t, pivots, a);
    } else {
        inertia_pass(model, tau, NULL, t, pivots, a);
    }
    acceleration_pass(model, in->gravity, t, a);
}

void KERNEL(aba)(const dyn_model *model, void *memory, const packed_inputs *in, const void *diagonal, void *pivots,
                 void *a) {
    aba_tree t = lay_out_passes(model, (const real *)in->q, &memory);
    t.is_resisted = diagonal != NULL;
    if (model->body_count == 0) {
        return;
    }
    if (has_driven_joints(model)) {
        t.has_rotors = 1;
        run_passes(model, memory, in, (const real *)diagonal, &t, (real *)pivots, (real *)a);
    } else {
        t.has_rotors = 0;
        run_passes(model, memory, in, (const real *)diagonal, &t, (real *)pivots, (real *)a);
    }
}
