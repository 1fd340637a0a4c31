/*
 * Reading a description, and copying it out of a model.
 */
#include <dynamics/description.h>

#include <string.h>

#include "description.h"
#include "normal_form.h"

dyn_status builder_copy(const dyn_builder *from, dyn_error *error, dyn_builder **copy) {
    dyn_status status = dyn_builder_create(from->name, error, copy);
    if (status != DYN_OK) {
        return status;
    }
    memcpy((*copy)->gravity, from->gravity, sizeof from->gravity);
    for (int i = 0; i < from->link_count && status == DYN_OK; i++) {
        status = builder_append_link(*copy, &from->links[i], error);
    }
    for (int j = 0; j < from->joint_count && status == DYN_OK; j++) {
        status = builder_append_joint(*copy, &from->joints[j], error);
    }
    if (status != DYN_OK) {
        dyn_builder_free(*copy);
        *copy = NULL;
    }
    return status;
}

dyn_status dyn_model_describe(const dyn_model *model, dyn_error *error, dyn_builder **builder) {
    return builder_copy(model->description, error, builder);
}

dyn_build_options dyn_model_build_options(const dyn_model *model) {
    return model->options;
}

const char *dyn_builder_name(const dyn_builder *builder) {
    return builder->name;
}

void dyn_builder_gravity(const dyn_builder *builder, double gravity[3]) {
    memcpy(gravity, builder->gravity, sizeof builder->gravity);
}

int dyn_builder_link_count(const dyn_builder *builder) {
    return builder->link_count;
}

const dyn_link_description *dyn_builder_link(const dyn_builder *builder, int link) {
    return link >= 0 && link < builder->link_count ? &builder->links[link] : NULL;
}

int dyn_builder_joint_count(const dyn_builder *builder) {
    return builder->joint_count;
}

const dyn_joint_description *dyn_builder_joint(const dyn_builder *builder, int joint) {
    return joint >= 0 && joint < builder->joint_count ? &builder->joints[joint] : NULL;
}
