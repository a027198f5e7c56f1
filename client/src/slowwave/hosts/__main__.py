"""`python -m slowwave.hosts HOST EVENT`: the hook without the command `slowwave`.

Must not know: anything.
"""

from slowwave.hosts.hook import main

main()
