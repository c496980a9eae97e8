/* The tree kernel as its recursion is written down: every pair of nodes, nothing remembered. What fast matching is compared with. */

#include <stdint.h>

typedef struct {
    const int *production;      /* of each node */
    const int *first;           /* where its children begin in `children`; one more at the end */
    const int *children;        /* nodes */
} Trees;

static double common(const Trees *t, int n, int m, double decay)
{
    if (t->production[n] != t->production[m])
        return 0;
    double value = decay;
    const int *mine = t->children + t->first[n], *its = t->children + t->first[m];
    for (int k = 0; k < t->first[n + 1] - t->first[n]; k++)
        value *= 1 + common(t, mine[k], its[k], decay);
    return value;
}

/* values[i * n_trees + j] between all trees; tree i has the nodes starts[i] ... starts[i + 1] - 1. */
void tree_kernels(int n_trees, const int *starts, const int *production, const int *first, const int *children, double decay, double *values)
{
    const Trees t = {production, first, children};
    for (int i = 0; i < n_trees; i++)
        for (int j = 0; j < n_trees; j++) {
            double total = 0;
            for (int n = starts[i]; n < starts[i + 1]; n++)
                for (int m = starts[j]; m < starts[j + 1]; m++)
                    total += common(&t, n, m, decay);
            values[(int64_t) i * n_trees + j] = total;
        }
}
