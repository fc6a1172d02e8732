"""gnnc from Python: graph neural networks, compiled.

    import gnnc
    run = gnnc.compile("gcn.gnn", data=data, train=True).run(data)
    run.fit(200); scores = run.infer()

`data` is `Data` or `HeteroData` of PyTorch Geometric, a graph of DGL, or a mapping of arrays; the
page "Python" of the documentation (docs/python.md) begins there.  Nothing but the library
libgnnc.so is needed: NumPy is used where it is installed.
"""

from ._arrays import Tensor
from ._context import (CacheInfo, Context, DeviceInfo, Diagnostic, GnncWarning, default_context,
                       doctor)
from ._data import Data
from ._errors import (BackendError, DataError, Error, FileError, InternalError, LibraryError,
                      MemoryError_, ModelError, UsageError)
from ._executable import (Executable, ExecutableInfo, Module, ProgramInfo, TuningInfo, ValueInfo,
                          compile)
from ._graph import Graph
from ._profile import Profile, ProfileRow
from ._run import History, Run, RunInfo, accuracy
from ._state import State
from ._version import __version__

__all__ = [
    "BackendError", "CacheInfo", "Context", "Data", "DataError", "DeviceInfo", "Diagnostic",
    "Error", "Executable", "ExecutableInfo", "FileError", "GnncWarning", "Graph", "History",
    "InternalError", "LibraryError", "MemoryError_", "Module", "ModelError", "Profile",
    "ProfileRow", "ProgramInfo", "Run", "RunInfo", "State", "Tensor", "TuningInfo", "UsageError",
    "ValueInfo", "__version__", "accuracy", "compile", "default_context", "doctor",
]
