"""gnnc from Python: graph neural networks, compiled."""

from ._version import __version__
