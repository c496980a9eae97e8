// Three problems with a few examples each. R2 and u2 are what the mistake bounds need: the largest ||Phi(x, gold) - Phi(x, y)||^2 / loss,
// and ||u||^2 of the shortest weights u that lead by the loss on every example.
"use strict";

const PROBLEMS = {
  ranks: {
    title: "Ranks",
    engine: "prank",
    rules: ["perceptron", "exact-pa", "exact-pa1", "exact-pa2"],
    about: "Each point has a rank from 1 to 4. One direction orders the points, and three thresholds cut the order into ranks.",
    R2: 11.2351, u2: 52.00907,
    ranks: 4,
    examples: [
      { x: [0.4, 1.27], gold: 4 }, { x: [0.88, -0.88], gold: 3 }, { x: [1.59, 0.94], gold: 4 }, { x: [0.39, 1.56], gold: 4 },
      { x: [-0.91, -1.09], gold: 1 }, { x: [0.36, -1.46], gold: 2 }, { x: [-1.49, 0.05], gold: 1 }, { x: [-0.11, 1.33], gold: 3 },
      { x: [0.41, 0.05], gold: 3 }, { x: [-0.01, -0.81], gold: 2 }, { x: [-1.56, -0.98], gold: 1 }, { x: [-0.42, -1.59], gold: 1 },
      { x: [1.06, -1.11], gold: 3 }, { x: [0.03, 1.11], gold: 3 }, { x: [-0.44, 0.31], gold: 2 }, { x: [-1.41, -0.36], gold: 1 },
      { x: [-0.57, -1.12], gold: 1 }, { x: [1.53, 0.29], gold: 4 }, { x: [0.34, 0.44], gold: 3 }, { x: [0.56, -1.12], gold: 2 },
      { x: [1.2, 0.52], gold: 4 }, { x: [-1.18, 1.1], gold: 2 },
    ],
    atoms: (x) => [1, 2, 3].map((k) => [["x", x[0]], ["y", x[1]], [`threshold ${k}|${k + 1}`, -1]]),
    argmax: (x, s) => bestRank(s),
    count: (x, rank) => [1, 2, 3].map((k) => Number(rank > k)),
    signs: (rank) => [1, 2, 3].map((k) => (rank > k ? 1 : -1)),
    gram: (x) => ({ own: 1, shared: x[0] * x[0] + x[1] * x[1] }),
    loss: (gold, y) => Math.abs(gold - y),
  },
  tags: {
    title: "A sentence",
    engine: "sequence",
    rules: ["perceptron", "pa", "pa1", "pa2"],
    about: "Each word gets a tag. The weights are those of words with their tags, and of neighbouring tags; all tags of a sentence are chosen together.",
    R2: 8, u2: 11.932814,
    labels: ["ADJ", "DET", "NOUN", "VERB"],
    examples: [
      "the/DET dog/NOUN barks/VERB", "a/DET light/ADJ rain/NOUN falls/VERB", "the/DET light/NOUN falls/VERB", "dogs/NOUN fish/VERB",
      "the/DET fish/NOUN barks/VERB", "light/ADJ dogs/NOUN fish/VERB", "fish/NOUN light/VERB the/DET rain/NOUN",
    ].map(taggedSentence),
    atoms(x) {
      const tokens = x.flatMap((word) => this.labels.map((label) => [[`${word} is ${label}`, 1]]));
      return [...tokens, ...this.labels.flatMap((before) => this.labels.map((label) => [[`${before} then ${label}`, 1]]))];
    },
    argmax(x, s) {
      const rows = Array.from({ length: x.length + this.labels.length }, (_, t) => s.slice(t * this.labels.length, (t + 1) * this.labels.length));
      return bestTags(rows.slice(0, x.length), rows.slice(x.length)).map((l) => this.labels[l]);
    },
    count(x, tags) {
      const tokens = tags.flatMap((tag) => this.labels.map((label) => Number(tag === label)));
      const pairs = this.labels.flatMap((before) => this.labels.map((label) => tags.filter((tag, t) => t > 0 && tags[t - 1] === before && tag === label).length));
      return [...tokens, ...pairs];
    },
    loss: (gold, y) => gold.filter((tag, t) => tag !== y[t]).length,
  },
  tree: {
    title: "A tree",
    engine: "parsing",
    rules: ["perceptron", "pa", "pa1", "pa2"],
    about: "Each word depends on a head, another word or the root. The weights are those of pairs of tags, by direction and by distance; all arcs of a tree are chosen together.",
    R2: 6, u2: 5.0795435,
    examples: [
      ["dogs/NOUN bark/VERB", [2, 0]], ["the/DET cat/NOUN sleeps/VERB", [2, 3, 0]], ["she/PRON reads/VERB old/ADJ books/NOUN", [2, 0, 4, 2]],
      ["the/DET dog/NOUN saw/VERB a/DET bird/NOUN", [2, 3, 0, 5, 3]], ["birds/NOUN sing/VERB in/ADP trees/NOUN", [2, 0, 2, 3]],
      ["the/DET man/NOUN with/ADP keys/NOUN left/VERB", [2, 5, 2, 3, 0]],
    ].map(([text, gold]) => ({ x: text.split(" ").map((token) => token.split("/")), gold })),
    atoms(x) {
      const tags = ["root", ...x.map(([, tag]) => tag)];
      return tags.flatMap((head, h) => tags.map((tag, m) => {
        if (m === 0 || h === m) return [];
        const name = `${head} → ${tag}, ${h < m ? "right" : "left"}`;
        return [[name, 1], [`${name} by ${Math.abs(h - m)}`, 1]];
      }));
    },
    argmax: (x, s) => bestTree(Array.from({ length: x.length + 1 }, (_, h) => s.slice(h * (x.length + 1), (h + 1) * (x.length + 1)))),
    count(x, heads) {
      const counts = Array((x.length + 1) ** 2).fill(0);
      heads.forEach((head, m) => { counts[head * (x.length + 1) + m + 1] = 1; });
      return counts;
    },
    loss: (gold, y) => gold.filter((head, m) => head !== y[m]).length,
  },
};

function taggedSentence(text) {
  const pairs = text.split(" ").map((token) => token.split("/"));
  return { x: pairs.map(([word]) => word), gold: pairs.map(([, tag]) => tag) };
}

if (typeof module !== "undefined") module.exports = PROBLEMS;
