"""The parts of ``train_parser.py``: treebank, tokenizer (`english`), spelling quirks, teacher, silver parses, lemmas, model card."""
