"""The composition root: the only place that knows stages and adapters."""
