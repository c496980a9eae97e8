// Online learning of structures: solvers, update rules, and the loop that joins them. Nothing here knows of pages.
//
// A problem has atoms for each example x, each with features; a structure is what it counts of these atoms. Then for every visit
//     s[a] = w . phi(x, a)      y = the structure of largest score      c = step(s, gold, y)      w += sum_a c[a] phi(x, a)
"use strict";

// ---- solvers: the structure of largest score; ties go where the engine's go ----

// Ranks 1, 2, ... by the scores of "rank > k"; at a tie the highest.
function bestRank(s) {
  let sum = 0, largest = 0, best = 1;
  s.forEach((score, k) => {
    sum += score;
    if (sum >= largest) [largest, best] = [sum, k + 2];
  });
  return best;
}

// Viterbi: labels of tokens by scores tokens[t][l] and transitions[l][l']; at a tie the lowest label, from the last token back.
function bestTags(tokens, transitions) {
  const from = [];
  let messages = tokens[0].map(() => 0);
  for (let t = 1; t < tokens.length; t++) {
    const before = messages.map((message, l) => message + tokens[t - 1][l]);
    from.push(messages.map((_, to) => firstLargest(before.map((message, l) => message + transitions[l][to]))));
    messages = from[t - 1].map((l, to) => before[l] + transitions[l][to]);
  }
  const tags = [firstLargest(messages.map((message, l) => message + tokens[tokens.length - 1][l]))];
  for (let t = from.length - 1; t >= 0; t--) tags.unshift(from[t][tags[0]]);
  return tags;
}

// Eisner: the heads of words 1..n by scores[head][word], where arcs do not cross and one word has the head 0.
function bestTree(scores) {
  const n = scores.length - 1, table = () => scores.map(() => Array(n + 1).fill(0));
  const right = table(), left = table(), under = table();      // spans governed at their left end, at their right end; two halves of an arc
  const split = { right: table(), left: table(), under: table() };
  const arc = (head, word) => scores[head][word] + under[Math.min(head, word)][Math.max(head, word)];
  for (let j = 2; j <= n; j++) {
    for (let i = j - 1; i >= 1; i--) {
      [under[i][j], split.under[i][j]] = largest(i, j - 1, (q) => right[i][q] + left[q + 1][j]);
      [right[i][j], split.right[i][j]] = largest(i + 1, j, (q) => arc(i, q) + right[q][j]);
      [left[i][j], split.left[i][j]] = largest(i, j - 1, (q) => left[i][q] + arc(j, q));
    }
  }
  const heads = Array(n + 1).fill(0);
  const [, root] = largest(1, n, (r) => scores[0][r] + left[1][r] + right[r][n]);
  const open = [["left", 1, root], ["right", root, n]];
  while (open.length) {
    const [kind, i, j] = open.pop(), q = split[kind][i][j];
    if (kind === "under") open.push(["right", i, q], ["left", q + 1, j]);
    else if (i < j && kind === "right") {
      heads[q] = i;
      open.push(["under", i, q], ["right", q, j]);
    } else if (i < j) {
      heads[q] = j;
      open.push(["left", i, q], ["under", q, j]);
    }
  }
  return heads.slice(1);
}

function firstLargest(values) {
  return values.reduce((best, value, k) => (value > values[best] ? k : best), 0);
}

// The largest value of a function on first..last, and the first place that has it.
function largest(first, last, value) {
  let best = first;
  for (let q = first + 1; q <= last; q++) if (value(q) > value(best)) best = q;
  return [value(best), best];
}

// ---- update rules: coefficients over atoms, or null for no step ----

// Each is asked with the trial (s, c = n_gold - n_y, loss, norm = ||sum_a c[a] phi(x, a)||^2, signs, gram) and the aggressiveness C.
const RULES = {
  "perceptron": { step: (trial) => trial.c, size: (R2) => R2 },
  "pa": { step: (trial) => passiveAggressive(trial, (h, norm) => h / norm), size: (R2) => R2 },
  "pa1": { step: (trial, C) => passiveAggressive(trial, (h, norm) => Math.min(C, h / norm)), size: (R2, C) => Math.max(R2, 1 / C), usesC: true },
  "pa2": { step: (trial, C) => passiveAggressive(trial, (h, norm) => h / (norm + 1 / (2 * C))), size: (R2, C) => R2 + 1 / (2 * C), usesC: true },
  "exact-pa": { step: (trial) => exact(trial, 0, Infinity), size: (R2) => R2, always: true },
  "exact-pa1": { step: (trial, C) => exact(trial, 0, C), size: (R2, C) => Math.max(R2, 1 / C), usesC: true, always: true },
  "exact-pa2": { step: (trial, C) => exact(trial, 1 / (2 * C), Infinity), size: (R2, C) => R2 + 1 / (2 * C), usesC: true, always: true },
};

// The shortest step after which gold leads y by the loss: tau (n_gold - n_y).
function passiveAggressive({ s, c, loss, norm }, length) {
  const h = loss - dot(c, s);
  if (h <= 0 || norm === 0) return null;
  const tau = length(h, norm);
  return c.map((value) => tau * value);
}

// The shortest step after which every atom of gold scores at least 1, every other at most -1. With deficits l_a = 1 - t_a s_a and a Gram of
// the form shared + [a = b] own, lambda_a = clip((l_a - t_a g) / d, 0, cap), where g is the root of q g = sum_a t_a clip(l_a - t_a g, 0, cap d).
function exact({ s, signs, gram }, softness, cap) {
  const deficits = s.map((score, a) => 1 - signs[a] * score);
  if (Math.max(...deficits) <= 0) return null;
  const d = gram.own + softness, q = d / gram.shared, limit = cap * d;
  const clip = (value, most) => Math.min(Math.max(value, 0), most);
  const excess = (g) => q * g - deficits.reduce((sum, l, a) => sum + signs[a] * clip(l - signs[a] * g, limit), 0);      // rises with g
  const bends = deficits.flatMap((l, a) => [signs[a] * l, signs[a] * (l - limit)]).filter(Number.isFinite).sort((a, b) => a - b);
  const low = bends.filter((g) => excess(g) <= 0).pop() ?? bends[0] - 1, high = bends.find((g) => excess(g) > 0) ?? low + 1;
  const slope = (excess(high) - excess(low)) / (high - low);
  const g = low - excess(low) / slope;
  return deficits.map((l, a) => signs[a] * Math.min(clip(l - signs[a] * g, Infinity) / d, cap));
}

function dot(a, b) {
  return a.reduce((sum, value, k) => sum + value * b[k], 0);
}

// ---- the loop ----

class Learner {
  constructor(problem, rule = "perceptron", C = 1) {
    Object.assign(this, { problem, rule, C, visits: 0, epoch: 1, mistakes: 0, cost: 0, costs: [0], updates: 0, status: "learning" });
    this.w = new Map();                 // weights by the names of features; those without an entry are 0
    this.sums = new Map();              // of a step made at visit t, t times the step: the mean is w - sums / visits
  }

  get next() {
    return this.visits % this.problem.examples.length;
  }

  // What no number of visits can exceed: the cost so far is at most size * ||u||^2, for any u that leads by the loss everywhere.
  get bound() {
    return RULES[this.rule].size(this.problem.R2, this.C) * this.problem.u2;
  }

  weights(averaged) {
    if (!averaged || this.visits === 0) return this.w;
    return new Map([...this.w].map(([name, value]) => [name, (this.visits * value - this.sums.get(name)) / this.visits]));
  }

  scores(x, w) {
    return this.problem.atoms(x).map((features) => features.reduce((sum, [name, value]) => sum + (w.get(name) ?? 0) * value, 0));
  }

  predict(x, averaged = false) {
    return this.problem.argmax(x, this.scores(x, this.weights(averaged)));
  }

  // Visits the next example, and says what happened there.
  step() {
    const { problem } = this, rule = RULES[this.rule], example = this.next, { x, gold } = problem.examples[example];
    const s = this.scores(x, this.w), y = problem.argmax(x, s), loss = problem.loss(gold, y), right = loss === 0;
    let change = new Map();
    if (!right || rule.always) {
      const had = problem.count(x, y), c = problem.count(x, gold).map((value, a) => value - had[a]);
      const norm = [...this.change(x, c).values()].reduce((sum, value) => sum + value * value, 0);
      const step = rule.step({ s, c, loss, norm, signs: problem.signs?.(gold), gram: problem.gram?.(x) }, this.C);
      if (step) {
        change = this.change(x, step);
        for (const [name, value] of change) {
          this.w.set(name, (this.w.get(name) ?? 0) + value);
          this.sums.set(name, (this.sums.get(name) ?? 0) + this.visits * value);
        }
        this.updates++;
      }
    }
    this.visits++;
    this.mistakes += !right;
    this.cost += loss;
    this.costs.push(this.cost);
    if (this.next === 0) this.endEpoch();
    return { example, gold, said: y, loss, right, change };
  }

  // sum_a c[a] phi(x, a), without entries that are 0.
  change(x, c) {
    const change = new Map();
    this.problem.atoms(x).forEach((features, a) => {
      if (c[a]) for (const [name, value] of features) change.set(name, (change.get(name) ?? 0) + c[a] * value);
    });
    return new Map([...change].filter(([, value]) => value !== 0));
  }

  // An epoch without an update ends training: no later one could change the weights.
  endEpoch() {
    if (this.updates === 0) this.status = "converged";
    else this.epoch++;
    this.updates = 0;
  }
}

if (typeof module !== "undefined") module.exports = { bestRank, bestTags, bestTree, RULES, Learner };
