"""A simulated fleet: what truly happened on two days, the exports it left, and the right answers.

The simulator knows the truth first and renders the exports from it, so the answers under
`data/fixtures/expected/` never pass through the code they are meant to check. It imports nothing of
`schemas`, `transforms` or `pipelines`; `python -m tests.fleet` writes the fixtures.
"""
