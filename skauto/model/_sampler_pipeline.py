"""The pipeline of imbalanced-learn, which is slow to import."""

from imblearn.pipeline import Pipeline

from skauto.model._output import NamedOutput


class SamplerPipeline(NamedOutput, Pipeline):
    """A pipeline with samplers, whose output can be a dataframe."""
