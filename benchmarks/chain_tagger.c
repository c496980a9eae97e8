/* A linear-chain tagger written by hand: one epoch of the averaged perceptron, everything fused into one function.
 *
 * Token t has the features feature[token[t]] .. feature[token[t + 1] - 1], each with the value 1; sentence s has the tokens
 * sentence[s] .. sentence[s + 1] - 1; right[t] is the right label of token t, 0..L-1. Scores add up
 *   W[feature][label]          for each feature of each token (a feature's weights lie side by side)
 *   T[label][next label]       for each pair of neighbours
 * and the best labels are found exactly (Viterbi); ties go to the lowest label, from the last token back. U and UT are the sums behind
 * the means of W and T (mean = W - U / counter). Without U the weights stay as they are and `found` gets the labels.
 * Returns the number of tokens that got a wrong label.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int64_t chain_epoch(const int32_t *feature, const int64_t *token, const int64_t *sentence, const int32_t *right, int64_t sentences, int L,
                    int longest, double *W, double *T, double *U, double *UT, double *counter, int32_t *found) {
    double *scores = malloc(sizeof(double) * (size_t)longest * L);
    double *best = malloc(sizeof(double) * L), *next = malloc(sizeof(double) * L);
    int32_t *from = malloc(sizeof(int32_t) * (size_t)longest * L), *path = malloc(sizeof(int32_t) * longest);
    int64_t wrong = 0;
    double c = *counter;
    for (int64_t s = 0; s < sentences; s++, c += 1) {
        int64_t first = sentence[s];
        int length = (int)(sentence[s + 1] - first);
        if (!length) continue;
        for (int i = 0; i < length; i++) {
            double *e = scores + (size_t)i * L;
            for (int l = 0; l < L; l++) e[l] = 0;
            for (int64_t q = token[first + i]; q < token[first + i + 1]; q++) {
                const double *w = W + (size_t)feature[q] * L;
                for (int l = 0; l < L; l++) e[l] += w[l];
            }
        }
        memcpy(best, scores, sizeof(double) * L);
        for (int i = 1; i < length; i++) {
            int32_t *back = from + (size_t)i * L;
            for (int l = 0; l < L; l++) { next[l] = best[0] + T[l]; back[l] = 0; }
            for (int m = 1; m < L; m++) {
                const double *t = T + (size_t)m * L;
                double before = best[m];
                for (int l = 0; l < L; l++) {
                    double v = before + t[l];
                    back[l] = v > next[l] ? m : back[l];
                    next[l] = v > next[l] ? v : next[l];
                }
            }
            for (int l = 0; l < L; l++) best[l] = next[l] + scores[(size_t)i * L + l];
        }
        int last = 0;
        for (int l = 1; l < L; l++) if (best[l] > best[last]) last = l;
        for (int i = length - 1; i >= 0; i--) {
            path[i] = last;
            if (i) last = from[(size_t)i * L + last];
        }
        if (found) for (int i = 0; i < length; i++) found[first + i] = path[i];
        if (!U) continue;
        for (int i = 0; i < length; i++) {
            int g = right[first + i], p = path[i];
            if (g != p) {
                wrong++;
                for (int64_t q = token[first + i]; q < token[first + i + 1]; q++) {
                    size_t o = (size_t)feature[q] * L;
                    W[o + g] += 1; W[o + p] -= 1;
                    U[o + g] += c; U[o + p] -= c;
                }
            }
            if (i && (g != p || right[first + i - 1] != path[i - 1])) {
                size_t og = (size_t)right[first + i - 1] * L + g, op = (size_t)path[i - 1] * L + p;
                T[og] += 1; T[op] -= 1;
                UT[og] += c; UT[op] -= c;
            }
        }
    }
    *counter = c;
    free(scores); free(best); free(next); free(from); free(path);
    return wrong;
}
