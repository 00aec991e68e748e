"""The papers' tables and experiments, published figures next to ours."""
