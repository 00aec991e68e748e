"""The parts of ``train_parser.py``: treebank, tokenizer, spelling, teacher, silver parses, lemmas, model card."""
