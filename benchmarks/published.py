"""Figures as the papers print them: read by the scripts that repeat the experiments and by report.py.

Only Lin and Li print standard errors: in each cell of their two tables, but for the benchmark.
"""

import math

NINE_DIGITS, BOOSTING_DIGITS, SVOR_DIGITS, PRECISION_DIGITS = 3, 2, 3, 3     # decimals printed; a few cells have four

NINE = {        # Milidiú and Rocha: mean absolute errors of the kernel SVM of Chu and Ghahramani that they compare with, and of CuSum
    5: {"diabetes": (0.746, 0.680), "pyrimidines": (0.450, 0.522), "triazines": (0.6977, 0.720), "wisconsin": (1.003, 0.979),
        "machinecpu": (0.1915, 0.1872), "autompg": (0.259, 0.251), "bostonhousing": (0.2672, 0.2766), "stocksdomain": (0.1081, 0.160),
        "abalone": (0.229, 0.228)},
    10: {"diabetes": (2.4577, 1.076), "pyrimidines": (0.9187, 0.9729), "triazines": (1.2308, 1.2058), "wisconsin": (2.1250, 2.1171),
         "machinecpu": (0.4398, 0.4906), "autompg": (0.5081, 0.5765), "bostonhousing": (0.4971, 0.6075), "stocksdomain": (0.1804, 0.1778),
         "abalone": (0.5160, 0.5169)},
}

SVOR_BENCHMARK = {      # Lin and Li, the last column: support vector ordinal regression, mean absolute errors
    "pyrimidines": 1.294, "machine": 0.990, "boston": 0.747, "abalone": 1.361, "bank": 1.393, "computer": 0.596,
    "california": 1.008, "census": 1.205,
}

BOOSTING = {            # Lin and Li: test and training cost of a base ranker without and with boosting.
    # (mean, standard error) over 20 partitions; nan: not printed
    "ORStump": {
        "pyrimidines": (((1.91, 0.09), (1.76, 0.02)), ((1.24, 0.05), (0.02, 0.01))),
        "machine": (((1.29, 0.04), (1.12, 0.02)), ((0.84, 0.02), (0.12, 0.01))),
        "boston": (((1.17, 0.01), (1.05, 0.01)), ((0.89, 0.01), (0.00, 0.00))),
        "abalone": (((1.59, 0.00), (1.53, 0.01)), ((1.48, 0.00), (1.05, 0.01))),
        "bank": (((math.nan, math.nan), (1.98, 0.01)), ((1.53, 0.00), (1.14, 0.00))),
        "computer": (((1.20, 0.00), (1.18, 0.00)), ((0.63, 0.00), (0.50, 0.00))),
        "california": (((1.64, 0.00), (1.62, 0.00)), ((1.00, 0.00), (0.88, 0.00))),
        "census": (((1.85, 0.00), (1.83, 0.00)), ((1.25, 0.00), (1.11, 0.00))),
    },
    "PRank": {
        "pyrimidines": (((1.57, 0.07), (0.46, 0.03)), ((1.42, 0.07), (0.27, 0.05))),
        "machine": (((0.97, 0.01), (0.88, 0.01)), ((0.93, 0.02), (0.86, 0.01))),
        "boston": (((0.91, 0.01), (0.85, 0.01)), ((0.89, 0.01), (0.83, 0.01))),
        "abalone": (((1.48, 0.01), (1.44, 0.01)), ((1.48, 0.01), (1.44, 0.01))),
        "bank": (((1.54, 0.00), (1.51, 0.00)), ((1.50, 0.00), (1.47, 0.00))),
        "computer": (((0.66, 0.00), (0.66, 0.00)), ((0.66, 0.00), (0.66, 0.00))),
        "california": (((1.21, 0.00), (1.21, 0.00)), ((1.21, 0.00), (1.21, 0.00))),
        "census": (((1.60, 0.01), (1.58, 0.01)), ((1.58, 0.00), (1.56, 0.01))),
    },
    "SVOR": {
        "pyrimidines": (((2.63, 0.10), (2.44, 0.04)), ((1.36, 0.05), (0.18, 0.02))),
        "machine": (((2.62, 0.04), (2.49, 0.03)), ((0.93, 0.03), (0.36, 0.02))),
        "boston": (((2.46, 0.03), (2.43, 0.01)), ((0.80, 0.01), (0.29, 0.02))),
        "abalone": (((2.65, 0.02), (2.63, 0.01)), ((1.53, 0.01), (0.39, 0.01))),
        "bank": (((1.68, 0.07), (1.63, 0.07)), ((1.48, 0.00), (0.18, 0.02))),
        "computer": (((2.51, 0.01), (2.51, 0.01)), ((0.67, 0.01), (0.35, 0.01))),
        "california": (((2.61, 0.01), (2.61, 0.01)), ((1.10, 0.00), (0.52, 0.01))),
        "census": (((2.51, 0.01), (2.51, 0.00)), ((1.25, 0.01), (0.43, 0.02))),
    },
}

PRECISION = {           # of the latent perceptron and what it is compared with: precision at 1, 3, 5 and 10
    "latent perceptron": (0.5575, 0.5617, 0.5432, 0.487), "latent SVM": (0.680, 0.573, 0.567, 0.494),
    "Ranking SVM": (0.597, 0.543, 0.532, 0.486),
}

MARGINS = {             # Shashua and Levin, of data that are not to be had: users' ratings (mean errors), kinds of vehicles
    "ratings, PRank": 1.25, "ratings, fixed margin": 0.7, "vehicles, share of errors": 0.20,
    "vehicles, share of errors, three machines": 0.25, "vehicles, mean error": 0.216, "vehicles, mean error, PRank": 1.408,
}
