/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hash-consed graph of expressions: the computations of the algorithms for one robot.
 *
 * An expression is a node with a sign, so that x and -x share one node, and a - b and b - a as well. Equal expressions
 * are one node. The graph folds constants, simplifies x 0, x 1, x + 0, x - x and x + x, combines constant factors and
 * terms, and moves signs of products and quotients outward. The simplifications are those of real numbers: results
 * change by rounding only.
 */
#ifndef DYNAMICS_COMPILE_GRAPH_H
#define DYNAMICS_COMPILE_GRAPH_H

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

/* Expression: number of a node, and a sign. */
struct expression {
    uint32_t bits;

    uint32_t node() const {
        return bits >> 1;
    }
    bool is_negative() const {
        return bits & 1;
    }
    expression operator-() const {
        return {bits ^ 1};
    }
    expression magnitude() const {
        return {bits & ~1u};
    }
    bool operator==(expression other) const {
        return bits == other.bits;
    }
    bool operator!=(expression other) const {
        return bits != other.bits;
    }
};

/* Operation of a node. */
enum class operation : uint8_t { constant, input, sine, cosine, sum, product, quotient };

/* Node of the graph. a and b are the operands; those of an input are its array and its index, as bits. `value` is that
 * of a constant. */
struct graph_node {
    operation kind;
    expression a, b;
    double value;
};

class expression_graph {
  public:
    /* Creates an empty graph. Functions throw std::length_error if it would exceed `limit` nodes. */
    explicit expression_graph(size_t limit);

    expression constant(double value);
    expression input(unsigned array, unsigned place);
    expression add(expression x, expression y);
    expression multiply(expression x, expression y);
    expression divide(expression x, expression y);
    expression sine(expression x);
    expression cosine(expression x);

    const graph_node &node(expression x) const {
        return nodes[x.node()];
    }
    const graph_node &node(uint32_t number) const {
        return nodes[number];
    }
    size_t size() const {
        return nodes.size();
    }
    size_t capacity() const {
        return limit;
    }
    bool is_constant(expression x) const {
        return node(x).kind == operation::constant;
    }
    /* Returns the value of a constant. */
    double value(expression x) const {
        return x.is_negative() ? -node(x).value : node(x).value;
    }

  private:
    struct key_hash {
        size_t operator()(const graph_node &n) const;
    };
    struct key_equal {
        bool operator()(const graph_node &m, const graph_node &n) const;
    };

    expression intern(operation kind, expression a, expression b, double value);
    bool split_product(expression x, expression *factor, expression *rest) const;
    bool split_sum(expression x, expression *term, expression *rest) const;

    size_t limit;
    std::vector<graph_node> nodes;
    std::unordered_map<graph_node, uint32_t, key_hash, key_equal> numbers;
};

/* Selects the graph that symbolic numbers of this thread are added to, during its lifetime. */
class current_graph {
  public:
    explicit current_graph(expression_graph &graph);
    ~current_graph();
    current_graph(const current_graph &) = delete;
    current_graph &operator=(const current_graph &) = delete;
    static expression_graph &get();

  private:
    expression_graph *previous;
};

#endif
