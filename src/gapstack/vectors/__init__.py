"""Static word vectors, their gender direction, null-space projection and debiasers."""
