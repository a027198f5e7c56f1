"""The backend over HTTP: a gateway (`slowwave serve`) answers the calls of `slowwave.memory`."""
