"""Off-the-shelf coreference resolvers: clusters of mentions, their alignment to GAP's texts, file formats and live adapters."""
