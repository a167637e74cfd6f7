"""Canaries: what must never change about which memories reach a model, each a check of its own.

    python -m tests.canary trivial_task memory_budget ..

starts everything in a temporary home, without an embedding model and without a network, and runs the canaries named. A
canary is a module here with `check(call)`, which raises AssertionError. `.ci/run` names every one.
"""
