"""BibTeX of papers that several parts cite. One text for each: `Engine.citation` shows equal texts once."""

COLLINS = """@inproceedings{collins2002discriminative,
  author = {Michael Collins},
  title = {Discriminative Training Methods for Hidden {Markov} Models: Theory and Experiments with Perceptron Algorithms},
  booktitle = {Proceedings of EMNLP},
  pages = {1--8},
  year = {2002}
}"""

YU_JOACHIMS = """@inproceedings{yu2009learning,
  author = {Chun-Nam John Yu and Thorsten Joachims},
  title = {Learning Structural {SVMs} with Latent Variables},
  booktitle = {Proceedings of the 26th International Conference on Machine Learning},
  pages = {1169--1176},
  year = {2009}
}"""

LATENT_PERCEPTRON = """@misc{latentperceptron,
  title = {A Perceptron Algorithm for Latent Variables}
}"""
