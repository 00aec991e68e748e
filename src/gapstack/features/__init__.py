"""Hand-made features in blocks, over text and parses, for trees and heads."""

from gapstack.registry import lazy

__all__ = ["features"]
__getattr__ = lazy(__name__, {"features": "gapstack.features.blocks:features"})
