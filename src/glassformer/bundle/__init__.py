"""One recording, one file: safetensors with a versioned header, memory-mapped when opened.

In:   a Recording, or arrays declared while recording.
Out:  a `.bundle` file; from a file, a Recording whose arrays stay on disk until they are used. Without torch.

The file is valid safetensors: the metadata in its header say `format: glassformer-recording`, `version: 2`;
its tensors are the arrays, and the tensor `recording` holds, as JSON, everything that is not an array.
Files of version 1, in which texts of evidence are strings, open as well. A file of version 2 keeps them as
messages, {"message": {"code": …, "parameters": …}}, so that they are read in any language; programs that know
only version 1 refuse it by its version. A file with a picture or a sound beside its tokens has version 3.
"""

from glassformer.bundle.reader import open
from glassformer.bundle.writer import BundleWriter, save

__all__ = ["BundleWriter", "open", "save"]
