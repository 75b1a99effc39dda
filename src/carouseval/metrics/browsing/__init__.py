"""Browsing models, people who move over a page: of each, in one file, the chain, weights and forms that are fitted.

``contract.py`` says what a browsing model is; ``states.py`` builds a chain state by state, ``chain.py`` solves it, and
``forms.py`` has what a form is. A new model is a file here and its import in ``metrics/discounts.py``.
"""
