"""Build the final model: ensemble selection under constraints and refits."""
