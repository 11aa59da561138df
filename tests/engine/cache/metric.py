"""How far two predictions are apart."""

import numpy as np


def divergence(expected, found):
    """The Kullback-Leibler divergence of two rows of logits, in nats."""
    expected, found = _log_probabilities(expected), _log_probabilities(found)
    return float((np.exp(expected) * (expected - found)).sum())


def _log_probabilities(logits):
    logits = logits.astype(np.float64)
    shifted = logits - logits.max()
    return shifted - np.log(np.exp(shifted).sum())
