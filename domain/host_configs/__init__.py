"""Edit one entry of another program's configuration file and leave the rest of the file unchanged."""
