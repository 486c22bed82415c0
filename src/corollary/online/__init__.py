"""Learners that see one round at a time, with their mistake and regret bounds."""
