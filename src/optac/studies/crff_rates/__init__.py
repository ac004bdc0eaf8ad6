"""The error of conditional Fourier features."""
