"""A frozen encoder's pass over texts: aligned word pieces, activations and attention, cached by content."""
