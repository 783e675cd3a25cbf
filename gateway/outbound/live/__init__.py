"""Live answers: an answer that is shown while it is generated and then becomes the final answer."""
