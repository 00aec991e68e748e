"""Off-the-shelf coreference resolvers: clusters of mentions, alignment, file formats, live adapters."""
