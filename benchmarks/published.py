"""Figures as the papers print them: read by the scripts that repeat the experiments and by report.py.

Only Lin and Li print standard errors, from 0.00 to 0.10. Which belongs to which cell is not known.
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

BOOSTING = {            # Lin and Li: test and training cost of a base ranker without and with boosting; nan: not published
    "ORStump": {"pyrimidines": ((1.91, 1.76), (1.24, 0.02)), "machine": ((1.29, 1.12), (0.84, 0.12)),
                "boston": ((1.17, 1.05), (0.89, 0.00)), "abalone": ((1.59, 1.53), (1.48, 1.05)), "bank": ((math.nan, 1.98), (1.53, 1.14)),
                "computer": ((1.20, 1.18), (0.63, 0.50)),
                "california": ((1.64, 1.62), (1.00, 0.88)), "census": ((1.85, 1.83), (1.25, 1.11))},
    "PRank": {"pyrimidines": ((1.57, 0.46), (1.42, 0.27)), "machine": ((0.97, 0.88), (0.93, 0.86)), "boston": ((0.91, 0.85), (0.89, 0.83)),
              "abalone": ((1.48, 1.44), (1.48, 1.44)), "bank": ((1.54, 1.51), (1.50, 1.47)), "computer": ((0.66, 0.66), (0.66, 0.66)),
              "california": ((1.21, 1.21), (1.21, 1.21)), "census": ((1.60, 1.58), (1.58, 1.56))},
    "SVOR": {"pyrimidines": ((2.63, 2.44), (1.36, 0.18)), "machine": ((2.62, 2.49), (0.93, 0.36)), "boston": ((2.46, 2.43), (0.80, 0.29)),
             "abalone": ((2.65, 2.63), (1.53, 0.39)), "bank": ((1.68, 1.63), (1.48, 0.18)), "computer": ((2.51, 2.51), (0.67, 0.35)),
             "california": ((2.61, 2.61), (1.10, 0.52)), "census": ((2.51, 2.51), (1.25, 0.43))},
}

PRECISION = {           # of the latent perceptron and what it is compared with: precision at 1, 3, 5 and 10
    "latent perceptron": (0.5575, 0.5617, 0.5432, 0.487), "latent SVM": (0.680, 0.573, 0.567, 0.494),
    "Ranking SVM": (0.597, 0.543, 0.532, 0.486),
}

MARGINS = {             # Shashua and Levin, of data that are not to be had: users' ratings (mean errors), kinds of vehicles
    "ratings, PRank": 1.25, "ratings, fixed margin": 0.7, "vehicles, share of errors": 0.20,
    "vehicles, share of errors, three machines": 0.25, "vehicles, mean error": 0.216, "vehicles, mean error, PRank": 1.408,
}
