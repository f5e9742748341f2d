"""The built front end, as text: one ES module and one style sheet, with nothing to download."""

from __future__ import annotations

import base64
import hashlib
import zlib
from functools import cache
from importlib.resources import files

_LOADER = """\
// a widget of stepviz, packed to a third: the module is stepviz/widgets/static/{name}
// Unpacked once for all widgets of a page: modules stay in memory as long as the page does.
const key = Symbol.for("stepviz {name} {digest}");
const unpack = async (text) => {{
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const code = await new Response(stream).arrayBuffer();
  const url = URL.createObjectURL(new Blob([code], {{ type: "text/javascript" }}));
  try {{
    return (await import(url)).default;
  }} catch (error) {{
    delete globalThis[key];
    throw error;
  }} finally {{
    URL.revokeObjectURL(url);
  }}
}};
export default await (globalThis[key] ??= unpack("{packed}"));
"""


@cache
def bundle_text(name: str) -> str:
    """Return a file of the built front end, read once for all widgets of a process.

    Parameters
    ----------
    name : {"editor.js", "editor.css", "viewer.js", "viewer.css"}
        The file in ``stepviz/widgets/static``.

    Returns
    -------
    str
        Its text, which a widget hands over as it is: given a path instead, anywidget would watch
        the file and keep every widget alive, closed or not.
    """
    return files("stepviz.widgets").joinpath("static", name).read_text(encoding="utf-8")


@cache
def packed_module(name: str = "editor.js") -> str:
    """Return a small ES module that unpacks another one in the page and exports what it exports.

    A notebook sends and saves the module once for every widget in it. So the readable one, which
    is committed and which a saved page carries once, travels compressed.

    Parameters
    ----------
    name : {"editor.js", "viewer.js"}
        The other one, in ``stepviz/widgets/static``.

    Returns
    -------
    str
        Source of a module whose default export is that of the other one.
    """
    code = bundle_text(name).encode()
    packed = base64.b64encode(zlib.compress(code, 9)).decode("ascii")
    return _LOADER.format(name=name, digest=hashlib.sha256(code).hexdigest()[:16], packed=packed)
