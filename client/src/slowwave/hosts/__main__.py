"""`python -m slowwave.hosts HOST EVENT`: the hook without the command `slowwave`."""

from slowwave.hosts.hook import main

main()
