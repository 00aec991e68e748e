"""The antecedents of the pronouns of any text: windows, people, pairs of them, and what couples the pairs' answers.

================ =====================================================================================
windows          a text of any length as snippets like GAP's, each with the pronouns that it answers for
people           the persons that a window names: detected names, those of one person together
questions        a pronoun and its k candidates as rows of two names, which is what predictors answer
coupling         one distribution over k candidates and nobody out of the rows' answers
answer           what comes out: spans and probabilities, for notebooks and as JSON
pronoun_resolver all of it, with any predictor
================ =====================================================================================

The room is named after what it finds: a pronoun's antecedent is the mention that it refers back to.
"""
