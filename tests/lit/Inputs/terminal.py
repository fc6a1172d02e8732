"""What gnnc says of a model on a terminal: terminal.py GNNC ARGUMENTS...  Standard error is one; it
is printed with ESC as `\\e`."""
import os
import pty
import subprocess
import sys

here, there = pty.openpty()
environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
environment.update(a.split("=", 1) for a in sys.argv[1:] if "=" in a and a.split("=")[0].isupper())
command = [a for a in sys.argv[1:] if not ("=" in a and a.split("=")[0].isupper())]
child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=there, env=environment)
os.close(there)
said = b""
try:
    while part := os.read(here, 4096):
        said += part
except OSError:  # the other end is closed
    pass
child.wait()
print(said.decode(errors="replace").replace("\r\n", "\n").replace("\033", "\\e"))
