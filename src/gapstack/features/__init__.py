"""Hand-made features in blocks, over text and parses, for trees and heads."""
