"""Output layers of one encoder on chunks or part-of-speech tags: Chain with two losses, pytorch-crf, and softmax without structure.

    python benchmarks/chain_layers.py [--corpus tags] [--seeds 2] [--epochs 4]

The encoder has embeddings of words, last letters and part-of-speech tags, and one convolution over five tokens. If tags are the labels,
shapes replace them. The record of tags is chain_layers_tags. It needs torch.
"""

import argparse
import functools
import time

import job
import numpy as np
import sentences
import torch
from measuring import single_thread, table

from structperc import Engine
from structperc.metrics.tagged_phrases import phrase_f1
from structperc.torch import Chain

SIZE, HIDDEN, WINDOW = 64, 128, 5
RATE, BATCH = 0.002, 32
CRF, HINGE, RIVAL, SOFTMAX, LINEAR = "Chain, log loss", "Chain, hinge", "pytorch-crf", "softmax", "linear, features of names"

CORPORA = {"chunks": (sentences.chunking, "F1 of phrases"), "tags": (sentences.parts_of_speech, "accuracy of tags")}


class Encoder(torch.nn.Module):
    """Scores of labels for each token, by the tokens around it."""

    def __init__(self, sizes, n_labels):
        super().__init__()
        self.tables = torch.nn.ModuleList(torch.nn.Embedding(size + 1, SIZE) for size in sizes)
        self.around = torch.nn.Conv1d(SIZE * len(sizes), HIDDEN, WINDOW, padding=WINDOW // 2)
        self.scores, self.dropped = torch.nn.Linear(HIDDEN, n_labels), torch.nn.Dropout(0.3)

    def forward(self, x):
        joined = self.dropped(torch.cat([own(x[..., i]) for i, own in enumerate(self.tables)], dim=-1))
        return self.scores(torch.relu(self.around(joined.mT)).mT)


def columns_of(token):
    """The word, its last letters, and its part of speech, or its shape if that is the label."""
    return token[0].lower(), token[0][-3:], token[1] if len(token) > 2 else sentences.spelling(token[0])[2]


def quality(y_true, y_pred, measure) -> float:
    """In percent."""
    if measure == CORPORA["chunks"][1]:
        return 100 * float(phrase_f1(y_true, y_pred))
    return 100 * float(np.mean([a == b for one, other in zip(y_true, y_pred, strict=True) for a, b in zip(one, other, strict=True)]))


def encoded(data):
    """Sentences as numbers, 0 for what training lacks, the sizes of vocabularies, and the labels."""
    known = [{} for _ in range(3)]
    for sentence in data.train:
        for token in sentence:
            for i, value in enumerate(columns_of(token)):
                known[i].setdefault(value, len(known[i]) + 1)
    labels = sorted({token[-1] for sentence in data.train for token in sentence})
    number = {label: i for i, label in enumerate(labels)}

    def read(part):
        return [(torch.tensor([[known[i].get(value, 0) for i, value in enumerate(columns_of(token))] for token in sentence]),
                 torch.tensor([number.get(token[-1], 0) for token in sentence])) for sentence in part]
    return read(data.train), read(data.test), [len(one) for one in known], labels


class Softmax(torch.nn.Module):
    """Each token by itself."""

    def forward(self, emissions, mask, tags):
        return torch.nn.functional.cross_entropy(emissions.flatten(0, 1), tags.flatten(), reduction="none").reshape(tags.shape) * mask

    def decode(self, emissions, mask):
        return [best[keep].tolist() for best, keep in zip(emissions.argmax(-1), mask, strict=True)]


class Rival(torch.nn.Module):
    """pytorch-crf with the same calls."""

    def __init__(self, n_labels):
        super().__init__()
        from torchcrf import CRF

        self.crf = CRF(n_labels, batch_first=True)

    def forward(self, emissions, mask, tags):
        return -self.crf(emissions, tags, mask, reduction="none")

    def decode(self, emissions, mask):
        return self.crf.decode(emissions, mask)


def layers(n_labels):
    numbers = list(range(n_labels))
    made = {CRF: lambda: Chain(numbers), HINGE: lambda: Chain(numbers, loss="hinge"), SOFTMAX: Softmax}
    try:
        import torchcrf  # noqa: F401
    except ImportError:
        return made
    return made | {RIVAL: lambda: Rival(n_labels)}


def padded(part):
    """Tokens, mask and tags of a mini-batch."""
    x, y = zip(*part, strict=True)
    lengths = torch.tensor([len(own) for own in y])
    return (torch.nn.utils.rnn.pad_sequence(x, batch_first=True), torch.arange(int(lengths.max())) < lengths[:, None],
            torch.nn.utils.rnn.pad_sequence(y, batch_first=True))


def run(make, train, test, sizes, labels, measure, epochs, seed):
    """The quality, CPU seconds of training and of those of the layer, and CPU seconds of decoding."""
    torch.manual_seed(seed)
    encoder, layer = Encoder(sizes, len(labels)), make()
    optimizer = torch.optim.Adam([*encoder.parameters(), *layer.parameters()], lr=RATE)
    began, inside = time.process_time(), 0.0
    for _ in range(epochs):
        encoder.train()
        for rows in torch.randperm(len(train)).split(BATCH):
            x, mask, tags = padded([train[i] for i in rows.tolist()])
            emissions = encoder(x)
            scores = emissions.detach().requires_grad_()
            start = time.process_time()
            value = layer(scores, mask, tags).sum() / len(rows)
            optimizer.zero_grad()
            value.backward()
            inside += time.process_time() - start
            emissions.backward(scores.grad)
            optimizer.step()
    whole, found, decoding = time.process_time() - began, [], 0.0
    encoder.eval()
    with torch.no_grad():
        for i in range(0, len(test), 256):
            x, mask, _ = padded(test[i:i + 256])
            emissions = encoder(x)
            start = time.process_time()
            found += layer.decode(emissions, mask)
            decoding += time.process_time() - start
    y_true = [[labels[k] for k in y.tolist()] for _, y in test]
    predicted = [[labels[k] for k in own] for own in found]
    return {"quality": quality(y_true, predicted, measure), "seconds": whole / epochs, "inside": inside / epochs, "decoding": decoding}


def linear(data, measure):
    """The linear model with features of tokens."""
    began = time.process_time()
    engine = Engine("sequence", start=True, end=True, update="log-loss", random_state=0).fit(data.strings(data.train),
                                                                                           sentences.labels(data.train))
    seconds, start = time.process_time() - began, time.process_time()
    found = engine.predict(data.strings(data.test))
    decoding = time.process_time() - start
    predicted = [list(own) for own in found]
    return {"quality": quality(sentences.labels(data.test), predicted, measure), "seconds": seconds, "inside": None, "decoding": decoding}


def measure(quick, corpus, seeds, epochs):
    load, of = CORPORA[corpus]
    data = load(quick)
    train, test, sizes, labels = encoded(data)
    raw = {"data": data.name, "measure": of, "sentences": len(train), "seeds": seeds, "epochs": epochs,
           "runs": {LINEAR: [linear(data, of)]}}
    for name, make in layers(len(labels)).items():
        raw["runs"][name] = [run(make, train, test, sizes, labels, of, epochs, seed) for seed in range(seeds)]
        print(name, raw["runs"][name], flush=True)
    return raw


def mean(raw, name, figure):
    return float(np.mean([run[figure] for run in raw["runs"][name]]))


def report(raw):
    rows = [[name, f"{mean(raw, name, 'quality'):.2f}", ", ".join(f"{run['quality']:.2f}" for run in runs),
             f"{mean(raw, name, 'seconds'):.2f}",
             "" if runs[0]["inside"] is None else f"{mean(raw, name, 'inside'):.2f}", f"{mean(raw, name, 'decoding'):.3f}"]
            for name, runs in raw["runs"].items()]
    return "\n\n".join([
        f"{raw['data']}: {raw['sentences']:,} sentences, {raw['epochs']} epochs of Adam ({RATE}), mini-batches of {BATCH}, "
        f"{raw['seeds']} seed(s). CPU seconds of one thread. The linear model has the features of the benchmark of taggers. "
        f"Its seconds are of making strings and of the whole fit.",
        table(["layer", raw["measure"], "of each seed",
               "training: s an epoch", "of these in the layer", "decoding the test part: s"], rows)])


def goals(raw):
    runs = raw["runs"]
    structure = mean(raw, CRF, "quality") - mean(raw, SOFTMAX, "quality")
    least = 0.3 if raw["measure"] == CORPORA["chunks"][1] else 0
    found = [job.Goal(f"{raw['measure']}: Chain above softmax", f"≥ {least}", f"{structure:.2f}", structure >= least)]
    if RIVAL in runs:
        apart, ratio = abs(mean(raw, CRF, "quality") - mean(raw, RIVAL, "quality")), mean(raw, CRF, "inside") / mean(raw, RIVAL, "inside")
        found += [job.Goal(f"{raw['measure']}: Chain and pytorch-crf differ by", "≤ 0.3", f"{apart:.2f}", apart <= 0.3),
                  job.Goal("seconds in Chain beside pytorch-crf", "≤ 0.5", f"{ratio:.2f}", ratio <= 0.5)]
    return found


def draw(raw, folder):
    """None. The table has all figures."""


if __name__ == "__main__":
    single_thread()
    parser = argparse.ArgumentParser(description="Output layers of one encoder")
    parser.add_argument("--corpus", default="chunks", choices=tuple(CORPORA))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=4)
    options = job.options(parser)
    torch.set_num_threads(1)
    name = "chain_layers" if options.corpus == "chunks" else f"chain_layers_{options.corpus}"
    job.carry_out(options, name, "Output layers of one encoder", functools.partial(measure, options.quick, options.corpus, options.seeds,
                                                                                   options.epochs), report, goals, draw)
