"""The stack: embedded servers, workers, beat and Flower, started together, supervised and stopped together.

`stack.py` puts the parts together; `environment.py` tells other programs how to connect. Import from these modules.
A program that embeds a stack imports no Celery.
"""
