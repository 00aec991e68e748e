"""Pronouns of any text, resolved by the model of running text: no member, stack or run is imported.

================== ===============================================================================
windows            a text of any length as passages, or as snippets with the pronouns to resolve
any_text_resolver  the interface of resolvers, also of those elsewhere
text_resolver      the resolver with the model of running text
answer             the result: spans and probabilities, for notebooks and as JSON
entities           people of a whole document and the pronouns linked to them
annotate           whole documents, batch by batch, and their files
page               their web page
demo               a page to type texts into, with its server
spacy_component    a component of spaCy pipelines
================== ===============================================================================
"""
