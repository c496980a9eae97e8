"""Counterfactuals of DiCE for the patients of counterfactuals.py, which runs this in a Python with dice-ml and without structperc."""

import json
import sys
import time
import warnings

import dice_ml
import numpy as np
import pandas as pd

warnings.simplefilter("ignore")
task = json.load(sys.stdin)
coef, thresholds, spread = (np.array(task[name]) for name in ("coef", "thresholds", "spread"))
X, new, low, high = (np.array(task[name]) for name in ("X", "new", "low", "high"))
names = [f"c{j}" for j in range(X.shape[1])]


class Ranker:
    """The ranker as a classifier: probabilities of the cumulative logit."""

    classes_ = np.arange(1, len(thresholds) + 2)

    def predict(self, rows):
        return 1 + (np.asarray(rows, dtype=float) @ coef[:, None] >= thresholds).sum(axis=1)

    def predict_proba(self, rows):
        above = 1 / (1 + np.exp(-(np.asarray(rows, dtype=float) @ coef[:, None] - thresholds)))
        ends = np.column_stack([np.ones(len(above)), above, np.zeros(len(above))])
        found = np.maximum(-np.diff(ends, axis=1), 0)
        chosen = self.predict(rows) - 1
        found[np.arange(len(found)), chosen] = 1            # DiCE takes the largest one for the prediction
        return found / found.sum(axis=1, keepdims=True)


ranker = Ranker()
frame = pd.DataFrame(X, columns=names).assign(rank=ranker.predict(X) - 1)
data = dice_ml.Data(dataframe=frame, continuous_features=names, outcome_name="rank")
model = dice_ml.Model(model=ranker, backend="sklearn", model_type="classifier")
free = [name for j, name in enumerate(names) if j not in task["fixed"]]
limits = {name: [float(low[j]), float(high[j])] for j, name in enumerate(names) if name in free}
for method in ("random", "genetic"):
    search = dice_ml.Dice(data, model, method=method)
    distance, changed, seconds = [], [], []
    for x, wanted in zip(new, task["wanted"], strict=True):
        begun, best = time.process_time(), (np.inf, 0)
        try:
            more = {"random_seed": 0} if method == "random" else {}
            found = search.generate_counterfactuals(pd.DataFrame([x], columns=names), total_CFs=4, desired_class=int(wanted - 1),
                                                    features_to_vary=free, permitted_range=limits, verbose=False, **more)
            rows = found.cf_examples_list[0].final_cfs_df
            for row in [] if rows is None else rows[names].to_numpy(dtype=float):
                row[task["fixed"]] = x[task["fixed"]]
                if ranker.predict([row])[0] == wanted:
                    best = min(best, (float((np.abs(row - x)[spread > 0] / spread[spread > 0]).sum()), int((row != x).sum())))
        except Exception as error:                          # it raises where it finds none
            print(f"{method}: {error!s:.80}", file=sys.stderr)
        seconds.append(time.process_time() - begun)
        distance.append(best[0])
        changed.append(best[1])
    print(json.dumps({"name": f"DiCE {method}, nearest of four", "distance": distance, "changed": changed, "seconds": seconds}), flush=True)
