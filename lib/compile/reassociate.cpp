/* SPDX-License-Identifier: BSD-2-Clause */
#include "reassociate.h"

#include <algorithm>

/* Copies the live nodes of a graph into another graph, with reordered sums. */
class rewriter {
  public:
    explicit rewriter(const compiled_function &old)
        : f(old), to(old.graph.capacity()), live(live_nodes(old)), uses(old.graph.size()), sums(old.graph.size()),
          moved(old.graph.size()) {
        count_uses();
    }

    compiled_function rewrite() {
        for (uint32_t i = 0; i < f.graph.size(); i++) {
            if (live[i] && !is_inner_sum(i)) {
                moved[i] = move(i);
            }
        }
        compiled_function g = {f.name, f.meaning, std::move(to), f.inputs, f.outputs};
        for (output_array &o : g.outputs) {
            for (expression &x : o.values) {
                x = at(x);
            }
        }
        return g;
    }

  private:
    void count_uses() {
        for (uint32_t i = 0; i < f.graph.size(); i++) {
            const graph_node &n = f.graph.node(i);
            if (live[i] && n.kind > operation::input) {
                note_use(n.a, n.kind);
            }
            if (live[i] && n.kind >= operation::sum) {
                note_use(n.b, n.kind);
            }
        }
        for (const output_array &o : f.outputs) {
            for (expression x : o.values) {
                uses[x.node()]++;
            }
        }
    }

    void note_use(expression x, operation in) {
        uses[x.node()]++;
        sums[x.node()] += in == operation::sum;
    }

    bool is_inner_sum(uint32_t i) const {
        return f.graph.node(i).kind == operation::sum && uses[i] == 1 && sums[i] == 1;
    }

    /* Returns true for a product that only sums use. It costs no operation where it is fused with a sum. */
    bool is_fusible(uint32_t i) const {
        return f.graph.node(i).kind == operation::product && uses[i] == sums[i];
    }

    expression at(expression old) const {
        return old.is_negative() ? -moved[old.node()] : moved[old.node()];
    }

    expression move(uint32_t i) {
        const graph_node &n = f.graph.node(i);
        switch (n.kind) {
        case operation::constant:
            return to.constant(n.value);
        case operation::input:
            return to.input(n.a.bits, n.b.bits);
        case operation::sine:
            return to.sine(at(n.a));
        case operation::cosine:
            return to.cosine(at(n.a));
        case operation::sum:
            return move_sum(i);
        case operation::product:
            return to.multiply(at(n.a), at(n.b));
        case operation::quotient:
            break;
        }
        return to.divide(at(n.a), at(n.b));
    }

    /* Term of a sum, with the length of the chain of operations that leads to it. */
    struct term {
        expression x;
        unsigned depth, uses;

        bool operator<(const term &other) const {
            return depth < other.depth;
        }
    };

    /* Collects the terms of a tree of sums: products to be fused, and the others. */
    void gather(uint32_t sum, bool is_negative, std::vector<term> &products, std::vector<term> &others) {
        for (expression x : {f.graph.node(sum).a, f.graph.node(sum).b}) {
            uint32_t i = x.node();
            bool is_minus = is_negative != x.is_negative();
            if (is_inner_sum(i)) {
                gather(i, is_minus, products, others);
                continue;
            }
            expression y = is_minus ? -moved[i] : moved[i];
            bool is_product = is_fusible(i) && to.node(y).kind == operation::product;
            (is_product ? products : others).push_back({y, depth_of(y) - is_product, uses[i]});
        }
    }

    /* Rewrites a sum. If all terms are products, the one with the most uses is computed separately. */
    expression move_sum(uint32_t i) {
        std::vector<term> products, others;
        gather(i, false, products, others);
        std::stable_sort(products.begin(), products.end());
        if (others.empty()) {
            auto most = std::max_element(products.begin(), products.end(),
                                         [](const term &s, const term &t) { return s.uses < t.uses; });
            others.push_back(*most);
            products.erase(most);
        }
        return add_up(products, others);
    }

    /* Adds terms in the order in which they become available: products to other terms, and these to each other. */
    expression add_up(const std::vector<term> &products, std::vector<term> &others) {
        auto later = [](const term &s, const term &t) { return t < s; };
        std::make_heap(others.begin(), others.end(), later);
        auto product = products.begin();
        while (product != products.end() || others.size() > 1) {
            std::pop_heap(others.begin(), others.end(), later);
            term sum = others.back();
            others.pop_back();
            if (product != products.end() && (others.empty() || !(others.front() < *product))) {
                sum = added(sum, *product++);
            } else {
                std::pop_heap(others.begin(), others.end(), later);
                sum = added(sum, others.back());
                others.pop_back();
            }
            others.push_back(sum);
            std::push_heap(others.begin(), others.end(), later);
        }
        return others.front().x;
    }

    term added(const term &s, const term &t) {
        expression x = to.add(s.x, t.x);
        return {x, depth_of(x), 1};
    }

    /* Returns the depth of a node of the new graph. A product in a fused operation counts as an operation of its
     * own. */
    unsigned depth_of(expression x) {
        for (uint32_t i = (uint32_t)depths.size(); i < to.size(); i++) {
            const graph_node &n = to.node(i);
            unsigned depth = 0;
            if (n.kind > operation::input) {
                depth = depths[n.a.node()] + 1;
            }
            if (n.kind >= operation::sum) {
                depth = std::max(depth, depths[n.b.node()] + 1);
            }
            depths.push_back(depth);
        }
        return depths[x.node()];
    }

    const compiled_function &f;
    expression_graph to;
    std::vector<bool> live;
    std::vector<unsigned> uses, sums; /* of a node: number of uses by live nodes, and by sums among them */
    std::vector<expression> moved;    /* of a node that is no inner sum: its expression in the new graph */
    std::vector<unsigned> depths;     /* of a new node: length of the longest chain of operations that leads to it */
};

compiled_function reassociate(const compiled_function &f) {
    return rewriter(f).rewrite();
}
