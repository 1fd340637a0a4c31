/*
 * The algorithms of this instance, collected.
 */
#include "instance.h"

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t memory_size(const dyn_model *model) {
    size_t size = larger(KERNEL(rnea_memory)(model), KERNEL(gravity_memory)(model));
    size = larger(size, larger(KERNEL(crba_memory)(model), KERNEL(frame_memory)(model)));
    size = larger(size, larger(KERNEL(rnea_derivatives_memory)(model), KERNEL(aba_second_derivatives_memory)(model)));
    size = larger(size, larger(KERNEL(rnea_directional_memory)(model), KERNEL(aba_directional_memory)(model)));
    size = larger(size, KERNEL(centroidal_derivatives_memory)(model));
    size = larger(size, larger(KERNEL(gravity_derivatives_memory)(model), KERNEL(frame_derivatives_memory)(model)));
    size = larger(size, larger(KERNEL(regressor_memory)(model), KERNEL(minverse_memory)(model)));
    size = larger(size, larger(KERNEL(energy_memory)(model), KERNEL(center_of_mass_memory)(model)));
    size = larger(size, larger(KERNEL(centroidal_memory)(model), KERNEL(coriolis_memory)(model)));
    size = larger(size, larger(KERNEL(frame_motion_memory)(model), KERNEL(joint_wrenches_memory)(model)));
    size = larger(size, larger(KERNEL(step_memory)(model), KERNEL(control_memory)(model)));
    size = larger(size, KERNEL(resisted_acceleration_memory)(model));
    size = larger(size, larger(KERNEL(operational_space_memory)(model), KERNEL(energy_regressor_memory)(model)));
    return larger(size, KERNEL(forward_dynamics_memory)(model));
}

static void packed_sines(const void *angle, int count, void *sine, void *cosine) {
    KERNEL(sines)((const real *)angle, count, (real *)sine, (real *)cosine);
}

const kernel_table KERNEL(kernel_table) = {
    DYN_LANES,
    sizeof(real) / DYN_LANES,
    memory_size,
    KERNEL(pack),
    KERNEL(unpack),
    KERNEL(all_finite),
    KERNEL(all_within),
    KERNEL(all_positive),
    packed_sines,
    KERNEL(rnea),
    KERNEL(gravity),
    KERNEL(crba),
    KERNEL(crba_in_row),
    KERNEL(forward_dynamics),
    KERNEL(frame_pose),
    KERNEL(frame_jacobian),
    KERNEL(place_frame),
    KERNEL(refer_jacobian),
    KERNEL(refer_motion),
    KERNEL(rnea_derivatives),
    KERNEL(aba_derivatives),
    KERNEL(gravity_derivatives),
    KERNEL(frame_derivatives),
    KERNEL(frame_hessian),
    KERNEL(centroidal_derivatives),
    KERNEL(rnea_directional),
    KERNEL(aba_directional),
    KERNEL(rnea_second_derivatives),
    KERNEL(aba_second_derivatives),
    KERNEL(regressor),
    KERNEL(minverse),
    KERNEL(mass_factors),
    KERNEL(mass_solve),
    KERNEL(energy),
    KERNEL(center_of_mass),
    KERNEL(centroidal),
    KERNEL(centroidal_momentum),
    KERNEL(coriolis),
    KERNEL(frame_motion),
    KERNEL(joint_wrenches),
    KERNEL(integrate),
    KERNEL(step),
    KERNEL(resisted_acceleration),
    KERNEL(control),
    KERNEL(energy_regressor),
    KERNEL(operational_space),
};
