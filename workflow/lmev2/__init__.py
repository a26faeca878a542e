"""LongMemEval-V2 as a pipeline: memory methods, scoring and statistics behind the Snakemake stages."""

__version__ = "0.1.0"
