"""Pages of the documentation that are made from the code, and what builds the site out of all pages.

It reads declarations and writes Markdown. Nothing of the product imports it.
"""
