"""Pages of the documentation that are made from the code, and what builds the site out of all pages.

Must not know: what the product does; it reads declarations and writes Markdown. Nothing of the product imports it.
"""
