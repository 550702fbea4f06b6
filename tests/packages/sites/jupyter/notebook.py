"""Runs a notebook with both widgets in a kernel, and keeps it with its outputs as notebook.ipynb."""

from pathlib import Path

import nbclient
import nbformat
from nbformat.v4 import new_code_cell, new_notebook

CELLS = [
    "from loopscope import Cluster, Manifest\nmanifest = open('web.yaml').read()\nManifest(manifest, theme='dark')",
    "cluster = Cluster.start()\ncluster.apply(manifest)\ncluster.settle()\ncluster.fault('node-down node-1')\ncluster.widget(view='nodes', lang='zh')",
    "Manifest('kind: [')",
    "cluster.stop()",
]
notebook = new_notebook(cells=[new_code_cell(cell) for cell in CELLS])
nbclient.NotebookClient(notebook, timeout=120).execute()
nbformat.write(notebook, Path("notebook.ipynb"))
