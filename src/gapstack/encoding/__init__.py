"""What a frozen encoder makes of a text: word pieces aligned to characters, activations and attention, cached by content."""
