"""
My model works in a notebook. How does it get into a service?
=============================================================

A trained model can leave Python (deployment). This page saves one grader as a model file, a numpy module, a C file and a page. All
forms must predict the same grades, and the page checks it. It measures the time of one request, beside a scikit-learn pipeline. At the
end is a model card, which states what the model was trained on and how good it is.
"""

import ctypes
import runpy
import shutil
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc import Engine
from structperc.estimators import PRank

data = load_diabetes(scaled=False)
X, y = data.data, np.digitize(data.target, np.quantile(data.target, [0.25, 0.5, 0.75])) + 1
X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
model = PRank(random_state=0).fit(X, y)

# %%
# **Four forms.** ``export`` compares its arithmetic with ``predict`` before it writes a file.

folder = TemporaryDirectory()
home = Path(folder.name)
model.save(home / "grade.model")
for name in ("grade.py", "grade.c", "grade.html"):
    model.export(home / name)
for path in sorted(home.iterdir()):
    print(f"{path.name:12} {path.stat().st_size / 1000:6.1f} kB")

# %%
# **The same grades.** The C file is compiled if there is a compiler.

loaded, module = Engine.load(home / "grade.model"), runpy.run_path(str(home / "grade.py"))
rival = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
forms = {"scikit-learn pipeline": rival.predict, "PRank": model.predict, "the model file": loaded.predict,
         "numpy module": module["predict"]}
if compiler := shutil.which("cc"):
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", home / "grade.c", "-o", home / "grade.so", "-lm"], check=True)
    function = ctypes.CDLL(str(home / "grade.so")).grade_predict
    function.argtypes = [np.ctypeslib.ndpointer(dtype=float, flags="C_CONTIGUOUS")]
    forms["C, called from Python"] = lambda rows: np.array([model.classes_[function(np.ascontiguousarray(row))] for row in rows])
for name, predict in list(forms.items())[2:]:
    print(f"{name}: {np.array_equal(predict(X_test), model.predict(X_test))}")

# %%
# **One request** is one row. A service that gets rows one by one gains most by the compiled forms.

micro = {}
for name, predict in forms.items():
    times = []
    for row in np.resize(X_test, (300, 1, X.shape[1])):
        begin = time.perf_counter()
        predict(row)
        times.append(time.perf_counter() - begin)
    micro[name] = 1e6 * np.median(times)
figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
bars = ax.barh(list(micro), micro.values(), color=["#D55E00"] + ["#0072B2"] * (len(micro) - 1))
ax.bar_label(bars, fmt="%.0f", padding=3)
ax.set(xscale="log", xlabel="microseconds for one row, logarithmic (left is better)")
ax.invert_yaxis()
plt.show()

# %%
# **The card.** Write "Intended use" yourself, and save it beside the model.

card = str(model.engine_.card(X_test, y_test, name="grade", data="a third of the patients"))
print(card.partition("## What it predicts")[2])
folder.cleanup()

# %%
# **What to try next.** ONNX, JavaScript and safetensors: :doc:`/docs/guide/export`. ``structperc export grade.model grade.c`` does the
# same in the terminal, and :doc:`/docs/model-files` states what a model file contains.
