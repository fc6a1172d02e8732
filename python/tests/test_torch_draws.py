"""Masks of dropout against torch's own draws.  Skipped without torch."""

import unittest
from unittest import mock

try:
    import torch
except ImportError:
    raise unittest.SkipTest("needs torch") from None

from gnnc.torch import _draws


class Draws(unittest.TestCase):
    def compare(self):
        def torchs(keep, *shape):
            return torch.empty(shape, dtype=torch.bool).bernoulli_(keep)

        for seed, shape, keep in ((0, (3,), .5), (1, (700, 3), .9), (2, (41, 97), .25),
                                  (3, (0,), .5), (4, (1,), 1.), (5, (5, 1), 0.), (6, (9**6,), .4)):
            results = []
            for draw in (_draws.draw_mask, torchs):
                torch.manual_seed(seed)
                normal = torch.randn(seed)  # which leaves a number and half a pair behind
                results.append((draw(keep, *shape), draw(.5, 17), torch.randn(3), normal,
                                torch.rand(5), torch.get_rng_state()))
            for a, b in zip(*results):
                self.assertTrue(torch.equal(a, b), (seed, shape))

    def test_they_are_torchs(self):
        self.compare()

    def test_where_torch_draws_in_another_way(self):
        for done in (lambda *args: None, mock.Mock(side_effect=RuntimeError)):
            with mock.patch.object(_draws, "_same", None), mock.patch.object(_draws, "_draw", done):
                self.assertFalse(_draws.same())
                self.compare()


if __name__ == "__main__":
    unittest.main()
