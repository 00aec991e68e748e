"""What a text says before any model reads it: words, page titles, parses, grammar, binding, discourse, cues."""
