"""The model adapters: OpenAI-compatible servers, the embedded one, the simulated one, the call log.

Import the modules by name; ``openai_chat`` loads the ``openai`` package, which takes a while.
"""
