"""What Flint calls what it runs on, wherever it speaks of it: “No model on this Mac yet.”"""

import sys

THIS_MACHINE = "this Mac" if sys.platform == "darwin" else "this computer"
