// Scores of the search: pages for users come first, parts of names in the reference last.
var Scorer = {
  score: ([page, title, anchor, description, score]) =>
    score + (/^docs\/(guide\/|start$|install$)/.test(page) ? 20 : /^docs\/(gallery\/|how-to-choose|write-a-problem|replace-a-part|parts$)/.test(page) ? 8 : 0),
  objNameMatch: 11,
  objPartialMatch: 2,
  objPrio: { 0: 5, 1: 0, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
