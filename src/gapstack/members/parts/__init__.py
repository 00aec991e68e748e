"""What several members share: bases over frozen and fine-tuned encoders, networks, pooling, evidence, tags."""
