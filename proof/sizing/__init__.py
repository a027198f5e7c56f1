"""Sizing: a model of pools and queues, checked against measurements, that says how many workers a load needs."""
