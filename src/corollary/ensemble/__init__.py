"""Many learners as one: votes, averages, bagging, forests and boosting."""
