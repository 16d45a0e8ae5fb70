"""Complete team executions: exposure, topology, episode, group."""
