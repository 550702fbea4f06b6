"""A kernel with one widget, for a notebook that is not there: messages in lines of JSON, from and to it.

The first line tells the widget's state.
"""

import base64
import json
import sys
import threading

from loopscope import Cluster, Manifest

MANIFEST = open("web.yaml", encoding="utf-8").read()
turn = threading.Lock()


def tell(value):
    with turn:
        print(json.dumps(value), flush=True)


def send(content, buffers=()):
    tell({"content": content, "buffers": [base64.b64encode(buffer).decode() for buffer in buffers]})


cluster = Cluster.start() if sys.argv[1] == "follow" else None
widget = cluster.widget(height=500) if cluster else Manifest(MANIFEST, autoplay=True)
widget.picture = widget.draw()
widget.send = send
tell({name: widget.get_state(name)[name] for name in widget.keys if not name.startswith("_esm") and name not in ("layout", "tabbable", "tooltip")})
for line in sys.stdin:
    message = json.loads(line)
    if "python" in message:
        exec(message["python"])
        tell({"done": message["python"]})
    else:
        widget._handle_custom_msg(message, [])
if cluster:
    widget.close()
    cluster.stop()
