"""Analysis of texts without encoders: words, page titles, parses, grammar, binding, discourse, cues."""
