"""The steps of a pipeline, in order: all spaces of the catalog have the same."""

STEPS = ("encoder", "imputer", "balancer", "scaler", "transformer", "selector", "classifier")
