"""Pronouns of any text, resolved with any predictor.

================ =================================================================================
windows          a text of any length as snippets, each with the pronouns to resolve in it
people           the people in a window: detected names, grouped by person
coupling         a pronoun and its candidates as rows of two names, and one distribution over them, with reasons
answer           the result: spans and probabilities, for notebooks and as JSON
pronoun_resolver all of this, with any predictor
entities         people of a whole document and the pronouns linked to them
annotate         whole documents, batch by batch, and their files
page             their web page
demo             a page to type texts into, with its server
================ =================================================================================
"""
