/* SPDX-License-Identifier: BSD-2-Clause */
/* Phases of the constraint force algorithm (constraint_levels.h). */
#include "constraint_levels.h"

enum { MOST_ROWS = 6 };

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

/* Block `block` of an array with `numbers` for each joint. */
static inline lane_number *block_at(lane_number *array, int block, int numbers) {
    return array + (size_t)block * (size_t)numbers * DYN_LANES;
}

#if DYN_LANES == 1

/* Returns number k of a block. */
KERNEL_STEP real load(const lane_number *block, int k) {
    return block[k];
}

KERNEL_STEP void store(lane_number *block, int k, real x) {
    block[k] = x;
}

/* Returns the lanes of even number of two blocks. */
KERNEL_STEP real even_lanes(real a, real b) {
    (void)b;
    return a;
}

KERNEL_STEP real odd_lanes(real a, real b) {
    (void)a;
    return b;
}

/* Returns the two blocks whose even and odd lanes are a and b. */
KERNEL_STEP void join_lanes(real *a, real *b) {
    (void)a, (void)b;
}

/* Returns the lanes that precede those of x: `before`, then all but the last. */
KERNEL_STEP real preceding_lanes(lane_number before, real x) {
    (void)x;
    return before;
}

/* Returns the lanes that follow those of x: all but the first, then `after`. */
KERNEL_STEP real following_lanes(real x, lane_number after) {
    (void)x;
    return after;
}

#else

KERNEL_STEP real load(const lane_number *block, int k) {
    real x;
    __builtin_memcpy(&x, block + (size_t)k * DYN_LANES, sizeof x);
    return x;
}

KERNEL_STEP void store(lane_number *block, int k, real x) {
    __builtin_memcpy(block + (size_t)k * DYN_LANES, &x, sizeof x);
}

#if DYN_LANES == 4
#define EVEN_LANES 0, 2, 4, 6
#define ODD_LANES 1, 3, 5, 7
#define LOW_LANES 0, 4, 1, 5
#define HIGH_LANES 2, 6, 3, 7
#define PRECEDING_LANES 7, 0, 1, 2
#define FOLLOWING_LANES 1, 2, 3, 4
#else
#define EVEN_LANES 0, 2, 4, 6, 8, 10, 12, 14
#define ODD_LANES 1, 3, 5, 7, 9, 11, 13, 15
#define LOW_LANES 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_LANES 4, 12, 5, 13, 6, 14, 7, 15
#define PRECEDING_LANES 15, 0, 1, 2, 3, 4, 5, 6
#define FOLLOWING_LANES 1, 2, 3, 4, 5, 6, 7, 8
#endif

KERNEL_STEP real even_lanes(real a, real b) {
    return __builtin_shufflevector(a, b, EVEN_LANES);
}

KERNEL_STEP real odd_lanes(real a, real b) {
    return __builtin_shufflevector(a, b, ODD_LANES);
}

KERNEL_STEP void join_lanes(real *a, real *b) {
    real x = *a, y = *b;
    *a = __builtin_shufflevector(x, y, LOW_LANES), *b = __builtin_shufflevector(x, y, HIGH_LANES);
}

KERNEL_STEP real preceding_lanes(lane_number before, real x) {
    return __builtin_shufflevector(x, real_set(before), PRECEDING_LANES);
}

KERNEL_STEP real following_lanes(real x, lane_number after) {
    return __builtin_shufflevector(x, real_set(after), FOLLOWING_LANES);
}

#endif

/* ---- small symmetric matrices ------------------------------------------------------------------------------------ */

/* Returns the place of entry (i, j), j <= i, in a lower triangle. */
KERNEL_STEP int triangle(int i, int j) {
    return i * (i + 1) / 2 + j;
}

/* Factorizes a lower triangle A = L D L' in place: D^-1 on the diagonal, L below it. */
KERNEL_STEP void factorize(int n, real *A) {
    for (int j = 0; j < n; j++) {
        real *row = A + triangle(j, 0);
        for (int i = 0; i < j; i++) {
            for (int k = 0; k < i; k++) {
                row[i] = real_fma(-A[triangle(i, k)], row[k], row[i]);
            }
        }
        for (int k = 0; k < j; k++) {
            real product = row[k];
            row[k] = product * A[triangle(k, k)];
            row[j] = real_fma(-row[k], product, row[j]);
        }
        row[j] = real_set(1) / row[j];
    }
}

/* Solves A x = b in place, from the factors. */
KERNEL_STEP void solve(int n, const real *factors, real *x) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            x[i] = real_fma(-factors[triangle(i, k)], x[k], x[i]);
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] = x[i] * factors[triangle(i, i)];
        for (int k = i + 1; k < n; k++) {
            x[i] = real_fma(-factors[triangle(k, i)], x[k], x[i]);
        }
    }
}

/* Returns start + sign x . y, for n numbers. */
KERNEL_STEP real add_product(int n, real start, double sign, const real *x, const real *y) {
    for (int k = 0; k < n; k++) {
        start = real_fma(sign < 0 ? -x[k] : x[k], y[k], start);
    }
    return start;
}

/* ---- equations of one block -------------------------------------------------------------------------------------- */

/* Places in the equations of a joint. */
typedef struct equation_places {
    int A, b, next_A, next_b, C;
} equation_places;

KERNEL_STEP equation_places places_of(int rows) {
    equation_places at;
    int triangle_size = rows * (rows + 1) / 2;
    at.A = 0, at.b = triangle_size;
    at.next_A = at.b + rows, at.next_b = at.next_A + triangle_size;
    at.C = at.next_b + rows;
    return at;
}

/* Columns by which a link, or an eliminated joint, is coupled with the joints before and after it: B with `length` rows
 * and Y, its inverse matrix times B; and y, the inverse matrix times the right-hand side. */
typedef struct couplings {
    int length;
    real B[2][MOST_ROWS][MOST_ROWS], Y[2][MOST_ROWS][MOST_ROWS]; /* [before or after][column][row] */
    real y[MOST_ROWS];
} couplings;

/* Stores the equations of a level: those of the joint before, which have A and b of their own, and the contributions to
 * the joint after: A + sign B' Y, and b - B' y. */
KERNEL_STEP void store_equations(int rows, const couplings *x, double sign, const real *A, const real *b,
                                 lane_number *to) {
    const equation_places at = places_of(rows);
    const real zero = real_set(0);
    for (int i = 0; i < rows; i++) {
        const real *before = x->B[0][i], *after = x->B[1][i];
        for (int j = 0; j <= i; j++) {
            int k = triangle(i, j);
            store(to, at.A + k, add_product(x->length, A[k], sign, before, x->Y[0][j]));
            store(to, at.next_A + k, add_product(x->length, zero, sign, after, x->Y[1][j]));
        }
        for (int j = 0; j < rows; j++) {
            store(to, at.C + rows * i + j, add_product(x->length, zero, sign, before, x->Y[1][j]));
        }
        store(to, at.b + i, add_product(x->length, b[i], -1, before, x->y));
        store(to, at.next_b + i, add_product(x->length, zero, -1, after, x->y));
    }
}

/* Solves for the columns Y and for y, which holds the right-hand side. */
KERNEL_STEP void solve_couplings(int rows, const real *factors, couplings *x) {
    for (int side = 0; side < 2; side++) {
        for (int c = 0; c < rows; c++) {
            for (int r = 0; r < x->length; r++) {
                x->Y[side][c][r] = x->B[side][c][r];
            }
            solve(x->length, factors, x->Y[side][c]);
        }
    }
    solve(x->length, factors, x->y);
}

/* Stores Y and y. */
KERNEL_STEP void store_solutions(int rows, const couplings *x, lane_number *to) {
    int k = 0;
    for (int side = 0; side < 2; side++) {
        for (int c = 0; c < rows; c++) {
            for (int r = 0; r < x->length; r++) {
                store(to, k++, x->Y[side][c][r]);
            }
        }
    }
    for (int r = 0; r < x->length; r++) {
        store(to, k++, x->y[r]);
    }
}

/* Loads Y times the beta of both neighbours, in `x`, of which `length` numbers hold the sum. */
KERNEL_STEP void add_couplings(int rows, int length, double sign, const lane_number *solutions, real beta[2][MOST_ROWS],
                               real *x) {
    for (int side = 0; side < 2; side++) {
        for (int c = 0; c < rows; c++) {
            real factor = sign < 0 ? -beta[side][c] : beta[side][c];
            for (int r = 0; r < length; r++) {
                x[r] = real_fma(load(solutions, (side * rows + c) * length + r), factor, x[r]);
            }
        }
    }
}

/* ---- phases ------------------------------------------------------------------------------------------------------ */

/* Sets the lower triangle of the 6 x 6 matrix of an inertia. */
KERNEL_STEP void load_inertia(const lane_number *link, real *I) {
    const real zero = real_set(0), m = load(link, LINK_MASS);
    const real x = load(link, LINK_MOMENT), y = load(link, LINK_MOMENT + 1), z = load(link, LINK_MOMENT + 2);
    const int order[6] = {0, 1, 3, 2, 4, 5};
    const real below[3][3] = {{zero, z, -y}, {-z, zero, x}, {y, -x, zero}};
    for (int k = 0; k < 6; k++) {
        I[k] = load(link, LINK_INERTIA + order[k]);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            I[triangle(3 + i, j)] = below[i][j];
            if (j <= i) {
                I[triangle(3 + i, 3 + j)] = i == j ? m : zero;
            }
        }
    }
}

/* Returns the first lane of number k of block `block`, or zero after the last block. */
KERNEL_STEP lane_number first_lane(const constraint_level *level, lane_number *array, int numbers, int block, int k) {
    return block < level->blocks ? block_at(array, block, numbers)[(size_t)k * DYN_LANES] : (lane_number)0;
}

/* Stores the equations of joints after the last one: a beta of zero. */
KERNEL_STEP void store_padding(int rows, const constraint_level *level, int block) {
    lane_number *to = block_at(level->equations, block, equation_numbers(rows));
    for (int k = 0; k < equation_numbers(rows); k++) {
        store(to, k, real_set(0));
    }
    for (int i = 0; i < rows; i++) {
        store(to, triangle(i, i), real_set(1));
    }
}

/* Fills the last pair of blocks of a level after its last block. */
KERNEL_STEP void complete_pair(int rows, const constraint_level *level, int block) {
    if (block == level->blocks - 1 && block % 2 == 0) {
        store_padding(rows, level, block + 1);
    }
}

KERNEL_STEP void set_links_of_block(const constraint_chain *chain, int block, int rows) {
    const constraint_level *level = &chain->levels[0];
    const lane_number *link = block_at(chain->links, block, link_numbers(rows));
    couplings x;
    real I[21], A[21], b[MOST_ROWS], c[6];
    load_inertia(link, I);
    x.length = 6;
    for (int r = 0; r < 6; r++) {
        c[r] = load(link, LINK_C + r);
        x.y[r] = load(link, LINK_WRENCH + r);
    }
    for (int i = 0; i < rows; i++) {
        for (int r = 0; r < 6; r++) {
            int k = LINK_T + 6 * i + r;
            real T = load(link, k);
            x.B[0][i][r] = T;
            x.B[1][i][r] = -following_lanes(T, first_lane(level, chain->links, link_numbers(rows), block + 1, k));
        }
        b[i] = add_product(6, real_set(0), 1, x.B[0][i], c);
        for (int j = 0; j <= i; j++) {
            A[triangle(i, j)] = i == j ? load(link, LINK_T + 6 * rows + i) : real_set(0);
        }
    }
    factorize(6, I);
    solve_couplings(rows, I, &x);
    store_equations(rows, &x, 1, A, b, block_at(level->equations, block, equation_numbers(rows)));
    store_solutions(rows, &x, block_at(chain->responses, block, response_numbers(rows)));
    complete_pair(rows, level, block);
}

/* Pair of blocks of a level: joints of even and of odd number. */
typedef struct joint_pair {
    const lane_number *first, *second; /* blocks */
    const lane_number *before;         /* block before the pair; NULL: none */
} joint_pair;

KERNEL_STEP real even_entry(joint_pair pair, int k) {
    return even_lanes(load(pair.first, k), load(pair.second, k));
}

KERNEL_STEP real odd_entry(joint_pair pair, int k) {
    return odd_lanes(load(pair.first, k), load(pair.second, k));
}

/* Returns an entry of the joints of even number: entry k, plus entry `next` of the joints before them. */
KERNEL_STEP real total_of_even(joint_pair pair, int k, int next) {
    lane_number before = pair.before ? pair.before[(size_t)next * DYN_LANES + DYN_LANES - 1] : (lane_number)0;
    return even_entry(pair, k) + preceding_lanes(before, odd_entry(pair, next));
}

KERNEL_STEP void eliminate_block(const constraint_chain *chain, int l, int block, int rows) {
    const constraint_level *level = &chain->levels[l];
    const int numbers = equation_numbers(rows);
    const equation_places at = places_of(rows);
    joint_pair pair;
    couplings x;
    real A[21], b[MOST_ROWS], odd[21];
    pair.first = block_at(level->equations, 2 * block, numbers);
    pair.second = block_at(level->equations, 2 * block + 1, numbers);
    pair.before = block > 0 ? block_at(level->equations, 2 * block - 1, numbers) : NULL;
    x.length = rows;
    for (int k = 0; k < at.b; k++) {
        A[k] = total_of_even(pair, at.A + k, at.next_A + k);
        odd[k] = odd_entry(pair, at.A + k) + even_entry(pair, at.next_A + k);
    }
    for (int i = 0; i < rows; i++) {
        b[i] = total_of_even(pair, at.b + i, at.next_b + i);
        x.y[i] = odd_entry(pair, at.b + i) + even_entry(pair, at.next_b + i);
        for (int r = 0; r < rows; r++) {
            x.B[0][i][r] = even_entry(pair, at.C + rows * i + r);
            x.B[1][i][r] = odd_entry(pair, at.C + rows * r + i);
        }
    }
    factorize(rows, odd);
    solve_couplings(rows, odd, &x);
    store_equations(rows, &x, -1, A, b, block_at(chain->levels[l + 1].equations, block, numbers));
    store_solutions(rows, &x, block_at(level->eliminated, block, eliminated_numbers(rows)));
    complete_pair(rows, &chain->levels[l + 1], block);
}

static void solve_last(const constraint_chain *chain, int l, int first, int end) {
    const int rows = chain->rows;
    const equation_places at = places_of(rows);
    const lane_number *equations = chain->levels[l].equations;
    real A[21], beta[MOST_ROWS];
    (void)first, (void)end;
    for (int k = 0; k < at.b; k++) {
        A[k] = load(equations, at.A + k);
    }
    for (int i = 0; i < rows; i++) {
        beta[i] = load(equations, at.b + i);
    }
    factorize(rows, A);
    solve(rows, A, beta);
    for (int i = 0; i < rows; i++) {
        store(chain->levels[l].beta, i, beta[i]);
    }
}

/* Loads beta of the joints of a block of a level, and of the joints after them. */
KERNEL_STEP void load_beta(const constraint_level *level, int rows, int block, real beta[2][MOST_ROWS]) {
    for (int i = 0; i < rows; i++) {
        beta[0][i] = load(block_at(level->beta, block, rows), i);
        beta[1][i] = following_lanes(beta[0][i], first_lane(level, level->beta, rows, block + 1, i));
    }
}

KERNEL_STEP void substitute_block(const constraint_chain *chain, int l, int block, int rows) {
    const constraint_level *level = &chain->levels[l];
    const lane_number *solutions = block_at(level->eliminated, block, eliminated_numbers(rows));
    lane_number *to = block_at(level->beta, 2 * block, rows);
    real beta[2][MOST_ROWS], odd[MOST_ROWS];
    load_beta(&chain->levels[l + 1], rows, block, beta);
    for (int i = 0; i < rows; i++) {
        odd[i] = load(solutions, 2 * rows * rows + i);
    }
    add_couplings(rows, rows, -1, solutions, beta, odd);
    for (int i = 0; i < rows; i++) {
        join_lanes(&beta[0][i], &odd[i]);
        store(to, i, beta[0][i]);
        store(to, rows + i, odd[i]);
    }
}

KERNEL_STEP void accelerate_block(const constraint_chain *chain, int block, int rows) {
    const lane_number *responses = block_at(chain->responses, block, response_numbers(rows));
    real beta[2][MOST_ROWS], a[6];
    load_beta(&chain->levels[0], rows, block, beta);
    for (int r = 0; r < 6; r++) {
        a[r] = load(responses, 12 * rows + r);
    }
    add_couplings(rows, 6, 1, responses, beta, a);
    for (int r = 0; r < 6; r++) {
        store(block_at(chain->a, block, 6), r, a[r]);
    }
}

/* Joints of one coordinate have 5 rows, a constant with which the compiler unrolls all loops. */
enum { USUAL_ROWS = 5 };

static void set_links(const constraint_chain *chain, int level, int first, int end) {
    (void)level;
    for (int g = first; g < end; g++) {
        if (chain->rows == USUAL_ROWS) {
            set_links_of_block(chain, g, USUAL_ROWS);
        } else {
            set_links_of_block(chain, g, chain->rows);
        }
    }
}

static void eliminate(const constraint_chain *chain, int level, int first, int end) {
    for (int g = first; g < end; g++) {
        if (chain->rows == USUAL_ROWS) {
            eliminate_block(chain, level, g, USUAL_ROWS);
        } else {
            eliminate_block(chain, level, g, chain->rows);
        }
    }
}

static void substitute(const constraint_chain *chain, int level, int first, int end) {
    for (int g = first; g < end; g++) {
        if (chain->rows == USUAL_ROWS) {
            substitute_block(chain, level, g, USUAL_ROWS);
        } else {
            substitute_block(chain, level, g, chain->rows);
        }
    }
}

static void accelerate(const constraint_chain *chain, int level, int first, int end) {
    (void)level;
    for (int g = first; g < end; g++) {
        if (chain->rows == USUAL_ROWS) {
            accelerate_block(chain, g, USUAL_ROWS);
        } else {
            accelerate_block(chain, g, chain->rows);
        }
    }
}

const constraint_lanes KERNEL(constraint_lanes) = {DYN_LANES, set_links, eliminate, solve_last, substitute, accelerate};
