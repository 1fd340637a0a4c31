/* SPDX-License-Identifier: BSD-2-Clause */
#include "matrix.h"

void KERNEL(matrix_clear)(matrix A) {
    for (int i = 0; i < A.rows; i++) {
        for (int j = 0; j < A.columns; j++) {
            *matrix_at(A, i, j) = real_set(0);
        }
    }
}

void KERNEL(matrix_identity)(matrix A) {
    KERNEL(matrix_clear)(A);
    for (int i = 0; i < A.rows; i++) {
        *matrix_at(A, i, i) = real_set(1);
    }
}

void KERNEL(matrix_product)(matrix A, matrix B, matrix C) {
    KERNEL(matrix_clear)(C);
    KERNEL(matrix_add_product)(A, B, C);
}

void KERNEL(matrix_add_product)(matrix A, matrix B, matrix C) {
    for (int i = 0; i < A.rows; i++) {
        for (int j = 0; j < B.columns; j++) {
            real sum = *matrix_at(C, i, j);
            for (int k = 0; k < A.columns; k++) {
                sum = real_fma(*matrix_at(A, i, k), *matrix_at(B, k, j), sum);
            }
            *matrix_at(C, i, j) = sum;
        }
    }
}

void KERNEL(matrix_subtract_product)(matrix A, matrix B, matrix C) {
    for (int i = 0; i < A.rows; i++) {
        for (int j = 0; j < B.columns; j++) {
            real sum = *matrix_at(C, i, j);
            for (int k = 0; k < A.columns; k++) {
                sum = real_fma(-*matrix_at(A, i, k), *matrix_at(B, k, j), sum);
            }
            *matrix_at(C, i, j) = sum;
        }
    }
}

static void set_column(matrix column, vec3 angular, vec3 linear) {
    *matrix_at(column, 0, 0) = angular.x, *matrix_at(column, 1, 0) = angular.y, *matrix_at(column, 2, 0) = angular.z;
    *matrix_at(column, 3, 0) = linear.x, *matrix_at(column, 4, 0) = linear.y, *matrix_at(column, 5, 0) = linear.z;
}

static vec3 column_part(matrix column, int i) {
    return vec3_set(*matrix_at(column, i, 0), *matrix_at(column, i + 1, 0), *matrix_at(column, i + 2, 0));
}

void KERNEL(matrix_set_motion)(matrix column, motion m) {
    set_column(column, m.w, m.v);
}

void KERNEL(matrix_set_force)(matrix column, force f) {
    set_column(column, f.n, f.f);
}

motion KERNEL(matrix_motion)(matrix column) {
    return motion_set(column_part(column, 0), column_part(column, 3));
}

force KERNEL(matrix_force)(matrix column) {
    return force_set(column_part(column, 0), column_part(column, 3));
}

static vec3 unit_vector(int k) {
    return vec3_set(real_set(k == 0), real_set(k == 1), real_set(k == 2));
}

void KERNEL(matrix_set_inertia)(matrix A, articulated_inertia I) {
    for (int k = 0; k < 3; k++) {
        motion turn = motion_set(unit_vector(k), vec3_zero()), shift = motion_set(vec3_zero(), unit_vector(k));
        KERNEL(matrix_set_force)(matrix_block(A, 0, k, 6, 1), articulated_apply(I, turn));
        KERNEL(matrix_set_force)(matrix_block(A, 0, 3 + k, 6, 1), articulated_apply(I, shift));
    }
}

void KERNEL(matrix_set_force_transform)(matrix A, placement X) {
    for (int k = 0; k < 3; k++) {
        force moment = force_set(unit_vector(k), vec3_zero()), push = force_set(vec3_zero(), unit_vector(k));
        KERNEL(matrix_set_force)(matrix_block(A, 0, k, 6, 1), force_to_parent(X, moment));
        KERNEL(matrix_set_force)(matrix_block(A, 0, 3 + k, 6, 1), force_to_parent(X, push));
    }
}
