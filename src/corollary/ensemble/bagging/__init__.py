"""The same learner on many bootstrap samples: bags and forests."""
