"""Analysis of texts without encoders: words, page titles, parses, grammar, binding theory, discourse, cues."""
