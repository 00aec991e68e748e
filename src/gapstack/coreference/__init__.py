"""Coreference of people in running text: entities of a whole document, each mention linked to one or to a new one.

======== ============================================================================================
lexicon  gender that first names, titles and nouns suggest, and which nouns denote people
mentions pronouns, names and nouns of a parsed passage
entities people read so far, and the features of a mention with each of them
ranking  a boosted conditional logit over these alternatives
reader   a document's mentions, linked in the order of the text
model    the trained model and its files
======== ============================================================================================
"""
